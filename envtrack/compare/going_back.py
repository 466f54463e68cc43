"""The command that puts single packages of a uv.lock back."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Final

from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.layer import Layer

PACKAGE_LAYERS: Final = frozenset({Layer.PACKAGES, Layer.FRAMEWORK, Layer.CUDA_RUNTIME})
GOING_BACK: Final = "uv lock"
_KINDS: Final = frozenset({ChangeKind.UPGRADED, ChangeKind.DOWNGRADED, ChangeKind.VARIANT})
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]*", re.ASCII)


def can_go_back(change: Change) -> bool:
    """Whether uv can be asked for the version from before, by a command that may be pasted."""
    is_package = change.layer in PACKAGE_LAYERS and "." not in change.name
    # A lockfile is other people's text.
    is_plain = all(_PLAIN.fullmatch(text) for text in (change.name, change.before or ""))
    return is_package and is_plain and change.kind in _KINDS and change.before != "dynamic"


def say_going_back(changes: Iterable[Change]) -> str:
    """``uv lock --upgrade-package numpy==2.1.3``: these versions again, the others as they are.

    Whatever a package needs in another version moves with it (uv's documentation of ``uv lock``).
    """
    pins = (("--upgrade-package", f"{change.name}=={change.before}") for change in changes)
    return f"{GOING_BACK} {shlex.join(word for pin in pins for word in pin)}"
