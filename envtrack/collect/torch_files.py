"""PyTorch as its installed files describe it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.framework_pins import read_pins
from envtrack.collect.reading import read_text
from envtrack.collect.torch_binaries import (
    find_bundled_cudnn,
    read_architectures,
    read_cxx11_abi,
)
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.collect.framework_sites import Sites

# __version__ = '2.13.0+cu130', cuda: Optional[str] = None, debug = False: what torch's setup.py
# generates, with and without annotations, in single quotes; torchvision's and torchaudio's alike.
_ASSIGNMENT = re.compile(
    r"^(?P<key>__version__|cuda|hip|rocm|xpu|git_version|debug)\s*(?::[^=\n]+)?="
    r"\s*(?:(?P<quote>['\"])(?P<text>[^'\"\n]*)(?P=quote)|(?P<word>None|True|False))",
    re.MULTILINE,
)
# conda calls it pytorch.
_NAMES = ("torch", "pytorch")
_MISSING = Unknown("a folder torch without version.py")


def read_torch(sites: Sites) -> dict[str, FactState]:
    """``torch.version`` and what it was built for, by the facts' names.

    ``local``, ``distribution``, ``cuda``, ``hip``, ``rocm``, ``xpu``, ``git``, ``debug``,
    ``cudnn``, ``cxx11-abi``, ``archs``, ``location`` and ``pins.<package>``. The version is the
    one that ``torch.__version__`` would give; the metadata's can be shorter (``2.13.0`` for
    ``2.13.0+cu130``), and another one altogether after a broken installation.
    """
    package = sites.find("torch")
    registered = next((n for n in _NAMES if n in sites.infos), "torch")
    distribution = sites.version(registered)
    if package is None:
        lost = Unknown("its metadata is there, but no folder torch")
        return {"torch.version": Absent() if isinstance(distribution, Absent) else lost}
    states: dict[str, FactState] = {
        **_read_version_file(package),
        "distribution": distribution,
        "location": _tell_location(sites, package),
    }
    pins = read_pins(sites, registered)
    states |= _read_builds(package, states, pins)
    states |= {f"pins.{name}": state for name, state in pins.items()}
    return {f"torch.{part}": state for part, state in states.items()}


def read_companion(sites: Sites, name: str) -> dict[str, FactState]:
    """``torchvision.version`` and ``local``: built for one CUDA, like torch itself."""
    package = sites.find(name)
    values = _parse_version_file(package) if package else {}
    version = values.get("__version__", "")
    state = Known(version) if version else sites.version(name)
    local = _local(state) if isinstance(state, Known) else {}
    return {f"{name}.version": state, **{f"{name}.{part}": s for part, s in local.items()}}


def _read_version_file(package: Path) -> dict[str, FactState]:
    values = _parse_version_file(package)
    version = values.get("__version__", "")
    state: FactState = Known(version) if version else _MISSING
    unsaid = Unknown("version.py does not say")
    return {
        "version": state,
        **_local(state),
        "cuda": _maybe(values.get("cuda"), unsaid),
        # Older releases have no such lines, and no such builds.
        **{key: _maybe(values.get(key), Absent()) for key in ("hip", "rocm", "xpu")},
        "git": _maybe(values.get("git_version"), unsaid),
        "debug": Known(values["debug"] == "True") if "debug" in values else unsaid,
    }


def _parse_version_file(package: Path) -> dict[str, str]:
    """The assignments; what is None is empty."""
    text = read_text(package / "version.py")
    rows = _ASSIGNMENT.finditer(text) if isinstance(text, str) else ()
    return {
        found["key"]: found["text"] or (found["word"] or "").replace("None", "") for found in rows
    }


def _local(version: FactState) -> dict[str, FactState]:
    """``cu124``, ``cpu``, ``rocm6.2``: the build that the index of PyTorch offers by that name."""
    text = str(version.value) if isinstance(version, Known) else ""
    local = text.partition("+")[2]
    if not text:
        return {"local": version}
    return {"local": Known(local) if local else Absent()}


def _maybe(text: str | None, unsaid: FactState) -> FactState:
    if text is None:
        return unsaid
    return Known(text) if text else Absent()


def _tell_location(sites: Sites, package: Path) -> FactState:
    is_own = package.is_relative_to(sites.layout.folder)
    return Known("environment" if is_own else "system")


def _read_builds(
    package: Path, states: dict[str, FactState], pins: dict[str, FactState]
) -> dict[str, FactState]:
    """What only the libraries tell; a build without a GPU has no architectures and no cuDNN."""
    has_cuda = isinstance(states["cuda"], Known)
    has_gpu = has_cuda or any(isinstance(states[key], Known) for key in ("hip", "rocm"))
    return {
        "archs": read_architectures(package) if has_gpu else Absent(),
        "cudnn": _find_cudnn(package, pins) if has_cuda else Absent(),
        "cxx11-abi": read_cxx11_abi(package),
    }


def _find_cudnn(package: Path, pins: dict[str, FactState]) -> FactState:
    """``9.1.0.70`` by the pin of its wheel, or ``8`` by the library that torch brings itself."""
    for name, pin in pins.items():
        text = str(pin.value) if isinstance(pin, Known) else ""
        if name.startswith("nvidia-cudnn") and text.startswith("=="):
            return Known(text.removeprefix("==").removesuffix(".*"))
    found = find_bundled_cudnn(package)
    return Unknown("not in its files: only --deep can tell") if found == Absent() else found
