"""Exceptions of which no rule knows the message: judged by their type and by where they arose."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from envtrack.model.layer import Layer
from envtrack.triage.rules import CODE, UNCLASSIFIED, Role
from envtrack.triage.traces import Trace

_CODE_TYPES: Final = frozenset(
    {
        "KeyError", "IndexError", "TypeError", "AttributeError", "NameError", "UnboundLocalError",
        "ZeroDivisionError", "NotImplementedError", "SyntaxError", "IndentationError", "TabError",
        "StopIteration", "OverflowError", "LookupError", "FloatingPointError", "RecursionError",
        "AssertionError", "ValueError", "FileNotFoundError", "IsADirectoryError",
        "FileExistsError", "NotADirectoryError", "UnicodeDecodeError", "JSONDecodeError",
        "ValidationError", "EOFError", "ParserError", "ArgumentError",
    }
)  # fmt: skip
"""Types by which Python itself tells of a program's mistakes."""
_PLAIN_TYPES: Final = _CODE_TYPES - {
    "AttributeError", "AssertionError", "ValueError", "ValidationError", "NotImplementedError",
    "EOFError",
}  # fmt: skip
"""Those that say so without a traceback too."""
_DATA_PACKAGES: Final = frozenset(
    {
        "", "matplotlib", "numpy", "pandas", "PIL", "polars", "scipy", "sklearn", "torch",
        "torchvision", "yaml",
    }
)  # fmt: skip
"""Packages (and Python's own library) that raise such errors at what a program hands them."""
_DISPATCH: Final = frozenset({"_call_impl", "_wrapped_call_impl", "__call__", "wrapper", "inner"})
_API: Final = re.compile(
    r"unexpected keyword argument|has no attribute|positional arguments? but|missing \d+ required"
    r"|cannot import name|got multiple values for"
)
_BUILD_FOLDERS: Final = ("pip-install-", "pip-build-", "pip-req-build", "builds-v0", "build-env-")
_BUILD: Final = ("which release is built, and whether another one has a wheel for this Python",)
_NOT_TOLD: Final = ("the whole log from its first line", "`envtrack snapshot`", "`envtrack doctor`")


class Opinion(NamedTuple):
    """What type and place of an exception say."""

    layer: str
    kind: str
    means: str
    role: Role = Role.CAUSE
    collect: tuple[str, ...] = ()


def judge_exception(trace: Trace, *, in_build: bool = False) -> Opinion:
    """The layer of an exception that no rule knows; `unclassified` where nothing can be said.

    Args:
        trace: the exception.
        in_build: whether packages were being built when it arose.
    """
    opinion = _judge_by_name(trace)
    if opinion is not None:
        return opinion
    if _is_between_packages(trace):
        said = f"{_find_caller(trace)} is called, or calls, in a way that the other does not know: "
        return Opinion(
            Layer.PACKAGES.value,
            "api-mismatch",
            f"{said}their releases do not go together.",
            collect=("`uv pip check`", "which releases the two were tested with"),
        )
    if _is_of_a_build(trace, in_build=in_build):
        said = "A package's own build script failed; its release does not go with this Python."
        return Opinion(Layer.PACKAGES.value, "build", said, collect=_BUILD)
    if _is_own_mistake(trace):
        return Opinion(CODE, "exception", _say_code(trace))
    said = f"{trace.type or 'An error'} is known to no rule."
    return Opinion(UNCLASSIFIED, "unknown", said, collect=_NOT_TOLD)


def _judge_by_name(trace: Trace) -> Opinion | None:
    if trace.short_type in {"KeyboardInterrupt", "SystemExit"}:
        return Opinion(UNCLASSIFIED, "ended", "The program was stopped.", Role.END)
    if trace.short_type.endswith("ExceptionGroup"):
        said = "Several exceptions were raised together; each stands below it."
        return Opinion(UNCLASSIFIED, "exception-group", said, Role.END)
    if trace.short_type == "KeyError" and _is_environ(trace):
        name = trace.message.strip("'\"")
        said = f"The environment variable {name} is not set, and the program needs it."
        return Opinion(Layer.SETTINGS.value, "environment-variable", said)
    return None


def _is_own_mistake(trace: Trace) -> bool:
    """Whether a program's own code made a mistake, as far as type and place tell."""
    is_known = trace.short_type in _CODE_TYPES
    if not trace.frames:
        is_call = bool(_API.search(trace.message)) and "'NoneType'" not in trace.message
        is_none = trace.short_type == "AttributeError" and "'NoneType'" in trace.message
        return (trace.short_type in _PLAIN_TYPES and not is_call) or is_none
    last = trace.frames[-1]
    if not last.is_installed:
        # What native code raises shows the program's own line too, which is no mistake of it.
        return is_known or last.source.startswith(("raise ", "assert "))
    if not is_known or all(frame.is_installed for frame in trace.frames):
        return False
    return last.package in _DATA_PACKAGES and not _API.search(trace.message)


def _is_of_a_build(trace: Trace, *, in_build: bool) -> bool:
    own = [frame.path for frame in trace.frames if not frame.is_installed and "<" not in frame.path]
    if own:
        return any(part in path for path in own for part in _BUILD_FOLDERS)
    return in_build and trace.short_type in _CODE_TYPES


def _is_environ(trace: Trace) -> bool:
    last = trace.frames[-1] if trace.frames else None
    return (
        last is not None
        and last.path.endswith(("/os.py", "<frozen os>"))
        and "__getitem__" in last.name
    )


def _is_between_packages(trace: Trace) -> bool:
    """Whether an installed package called something in a form that this does not know."""
    if not _API.search(trace.message) or "'NoneType'" in trace.message or not trace.frames:
        return False
    return trace.frames[-1].is_installed and bool(_find_caller(trace))


def _find_caller(trace: Trace) -> str:
    """The installed package whose call it was; empty if it was the program's own."""
    frames = [frame for frame in trace.frames if frame.name.partition("(")[0] not in _DISPATCH]
    return frames[-1].package if frames and frames[-1].is_installed else ""


def _say_code(trace: Trace) -> str:
    own = next((f for f in reversed(trace.frames) if not f.is_installed), None)
    where = f" at {own.path}:{own.line}" if own else ""
    return (
        f"{trace.short_type} in the program's own code{where}; nothing points to the environment."
    )
