"""CUDA libraries of the system that ``LD_LIBRARY_PATH`` puts before the environment's own.

ld.so(8): ``LD_LIBRARY_PATH`` is searched before a library's RUNPATH, by which the wheels find each
other. What it looks like: pytorch/pytorch issues 111469 and 134929 (``undefined symbol:
__nvJitLinkComplete_12_4``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from envtrack.compat.cuda_wheels import find_cuda_wheels
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.readings import read_text
from envtrack.compat.stack import Shadow, Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.model.finding import Fit, Purpose

_VARIABLE = "LD_LIBRARY_PATH"
_TOOLKIT = re.compile(r"/cuda-(\d+\.\d+)/")
# So many libraries are named; what follows is counted.
_NAMED = 4
_REMEDY = "start programs without it: the environment brings its own"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    shadows = stack.shadows.value
    if shadows is None:
        if _VARIABLE in stack.settings:
            compared = f"{_VARIABLE} against the environment's own CUDA libraries"
            yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.shadows.why)
        else:
            yield Nothing(stack.shadows.why)
        return
    before = [shadow for shadow in shadows if shadow.by == _VARIABLE]
    if not shadows and not list(find_cuda_wheels(stack.packages)):
        yield Nothing("the environment has no CUDA libraries of its own")
        return
    if not before:
        compared = "system libraries on the loader's path against the environment's CUDA libraries"
        reason = f"{_VARIABLE} leads to none of the same name: the environment's come first"
        yield Opinion(compared=compared, fit=Fit.FITS, reason=reason)
        return
    folders = dict.fromkeys(shadow.file.rpartition("/")[0] for shadow in before)
    for folder in folders:
        here = [shadow for shadow in before if shadow.file.rpartition("/")[0] == folder]
        yield _judge_folder(stack, folder, here)


def _judge_folder(stack: Stack, folder: str, shadows: list[Shadow]) -> Opinion:
    own = stack.torch.cuda.value
    theirs = _find_toolkit(stack, folder)
    compared = (
        f"{_say_files(shadows)} in {folder} (by {_VARIABLE}"
        f"{f', CUDA {theirs}' if theirs else ''}) against the environment's"
        f"{f' CUDA {own}' if own else ' own'}"
    )
    if own is None or theirs is None:
        fit = Fit.UNKNOWN
        reason = "they are loaded instead of the environment's, and their version is not known"
    elif theirs.series == own.series:
        fit, reason = Fit.LIMITED, "they are loaded instead, and are of the same CUDA release"
    elif theirs < own:
        fit = Fit.MISFIT
        reason = "older libraries are loaded instead: symbols are missing (“undefined symbol”)"
    else:
        fit = Fit.LIMITED
        reason = "newer libraries are loaded instead, which nobody tested with these wheels"
    return Opinion(
        compared=compared, fit=fit, reason=reason, remedy=_REMEDY, command=f"unset {_VARIABLE}"
    )


def _find_toolkit(stack: Stack, folder: str) -> Numbers | None:
    """By the folder's name; for the bare ``/usr/local/cuda`` by the toolkit's own word."""
    if found := _TOOLKIT.search(f"{folder}/"):
        return parse_numbers(found[1])
    if "/cuda/" in f"{folder}/":
        return parse_numbers(read_text(stack.facts, "cuda-runtime.system.version").value or "")
    return None


def _say_files(shadows: list[Shadow]) -> str:
    names = [shadow.file.rpartition("/")[2] for shadow in shadows]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


RULE = Rule(
    name="shadowed-libraries",
    purpose=Purpose.RUNNING,
    compares="system CUDA libraries on LD_LIBRARY_PATH against the environment's own",
    facts=(
        "cuda-runtime.shadow.<component>",
        "cuda-runtime.shadows",
        "cuda-runtime.system.version",
        "settings.LD_LIBRARY_PATH",
        "framework.torch.cuda",
    ),
    judge=_judge,
)
