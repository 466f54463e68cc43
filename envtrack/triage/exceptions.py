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
        "AssertionError", "ValueError", "FileNotFoundError", "IsADirectoryError", "FileExistsError",
        "NotADirectoryError", "UnicodeDecodeError", "JSONDecodeError", "ValidationError",
        "EOFError", "ParserError", "ArgumentError", "UndefinedVariableError", "ShapeError", "InvalidIndexError",
    }
)  # fmt: skip
_VAGUE_TYPES: Final = frozenset({"RuntimeError", "OSError", "Exception", "IOError", "ImportError"})
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
    if trace.short_type in {"KeyboardInterrupt", "SystemExit"}:
        return Opinion(UNCLASSIFIED, "ended", "The program was stopped.", Role.END)
    if trace.short_type == "KeyError" and _is_environ(trace):
        name = trace.message.strip("'\"")
        said = f"The environment variable {name} is not set, and the program needs it."
        return Opinion(Layer.SETTINGS.value, "environment-variable", said)
    frames = trace.frames
    if frames and frames[-1].is_installed and _is_between_packages(trace):
        package = frames[-2].package
        said = (
            f"{package} calls {frames[-1].package or 'a library'} in a way that it does not know: "
        )
        return Opinion(
            Layer.PACKAGES.value,
            "api-mismatch",
            f"{said}their releases do not go together.",
            collect=("`uv pip check`", f"which releases `{package}` was tested with"),
        )
    if _is_of_a_build(trace, in_build=in_build):
        said = "A package's own build script failed; its release does not go with this Python."
        return Opinion(Layer.PACKAGES.value, "build", said, collect=_BUILD)
    own = [frame for frame in frames if not frame.is_installed]
    is_known = trace.short_type in _CODE_TYPES
    is_own = bool(own) and (is_known or not frames[-1].is_installed)
    if is_own or (is_known and not frames):
        return Opinion(CODE, "exception", _say_code(trace))
    said = f"{trace.type or 'An error'} is known to no rule."
    return Opinion(UNCLASSIFIED, "unknown", said, collect=_NOT_TOLD)


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
    """Whether the last call of an installed package went wrong by the form of the call."""
    if not _API.search(trace.message) or "'NoneType'" in trace.message:
        return False
    tail = trace.frames[-2:]
    if len(tail) < 2 or not all(frame.is_installed and frame.package for frame in tail):  # noqa: PLR2004 - the caller and the called
        return False
    return tail[0].package != tail[1].package or all(frame.is_installed for frame in trace.frames)


def _say_code(trace: Trace) -> str:
    own = next((f for f in reversed(trace.frames) if not f.is_installed), None)
    where = f" at {own.path}:{own.line}" if own else ""
    return (
        f"{trace.short_type} in the program's own code{where}; nothing points to the environment."
    )
