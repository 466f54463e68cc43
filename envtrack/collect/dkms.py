"""Whether DKMS has built NVIDIA's kernel module for the kernel that runs, read from its folders.

``/var/lib/dkms/<module>/<version>/<kernel>/<architecture>`` is a build, and a link
``/var/lib/dkms/<module>/kernel-<kernel>-<architecture>`` to it says that it is installed (dkms.in).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.below_root import is_there, list_names, locate, names_in
from envtrack.collect.reading import read_text
from envtrack.collect.version_order import version_numbers
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TREE = "/var/lib/dkms"
_NOT_BUILDS = frozenset({"build", "source", "tarball", "driver_disk", "rpm", "deb"})
_OTHERS = frozenset({"nvidia-fs"})  # GPUDirect Storage, with versions of its own
_RANKS = ("broken", "added", "built", "installed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dkms:
    """What DKMS knows of one driver's module.

    Attributes:
        version: the one that is furthest for the running kernel, ``550.54.15``.
        state: of that one for the running kernel, in DKMS's words: ``installed``, ``built``,
            ``added`` (but built for other kernels at most) or ``broken`` (its source is gone).
        kernels: all for which it is installed, ``6.8.0-45-generic 6.8.0-47-generic``.
    """

    version: FactState
    state: FactState
    kernels: FactState


@dataclass(frozen=True, slots=True)
class _Build:
    version: str
    state: str
    kernels: tuple[str, ...]


def read_dkms(root: Path, module: str) -> Dkms:
    """Of the modules whose name begins so: Debian's is ``nvidia-current``, Ubuntu's ``nvidia``."""
    names = list_names(root, _TREE)
    if not isinstance(names, tuple):
        return Dkms(version=names, state=names, kernels=names)
    running = read_text(locate(root, "/proc/sys/kernel/osrelease"))
    kernel = running.strip() if isinstance(running, str) else ""
    builds = [
        one
        for name in names
        if name not in _OTHERS and (name == module or name.startswith(f"{module}-"))
        for one in _find_builds(root, f"{_TREE}/{name}", kernel)
    ]
    if not builds:
        return Dkms(version=Absent(), state=Absent(), kernels=Absent())
    best = max(builds, key=lambda one: (_RANKS.index(one.state), version_numbers(one.version)))
    state: FactState = Known(best.state) if kernel else Unknown("the running kernel is not known")
    kernels = " ".join(
        sorted({name for one in builds for name in one.kernels}, key=version_numbers)
    )
    return Dkms(
        version=Known(best.version),
        state=state,
        kernels=Known(kernels) if kernels else Absent(),
    )


def _find_builds(root: Path, module: str, kernel: str) -> Iterator[_Build]:
    names = names_in(root, module)
    links = dict(_read_links(root, module, names))
    for version in names:
        if version.startswith("kernel-") or version == "original_module":
            continue
        built = [name for name in names_in(root, f"{module}/{version}") if name not in _NOT_BUILDS]
        installed = tuple(name for name in built if links.get(name) == version)
        if not is_there(root, f"{module}/{version}/source"):
            state = "broken"
        elif kernel in installed:
            state = "installed"
        else:
            state = "built" if kernel in built else "added"
        yield _Build(version, state, installed)


def _read_links(root: Path, module: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Kernel and installed version, by a link such as ``550.54.15/6.8.0-45-generic/x86_64``."""
    folder = locate(root, module)
    for name in names:
        if name.startswith("kernel-"):
            try:
                parts = (folder / name).readlink().parts
            except OSError:
                continue
            if len(parts) >= 3:  # noqa: PLR2004 - version, kernel, architecture
                yield parts[-2], parts[-3]
