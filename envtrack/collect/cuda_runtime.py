"""CUDA inside the project's environment, and what on the system could get in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.cuda_packages import COMPONENTS, CudaPackage, read_cuda_packages
from envtrack.collect.cuda_shadows import Shadows, find_shadows
from envtrack.collect.cuda_system import read_cudnn_version, read_toolkits
from envtrack.collect.layout import Layout, read_layout
from envtrack.collect.reading import Missing, missing_state
from envtrack.collect.version_order import version_numbers
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from envtrack.collect.interface import Machine

_SUMMARY = ("majors", "sources")


class CudaRuntimeCollector:
    """Reads names of packages and of libraries; loads and starts nothing."""

    layer = Layer.CUDA_RUNTIME

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``cuda-runtime.<component>``, ``.majors``, ``.sources``, ``.shadow.…``, ``.system.…``.

        A component that is there in two versions, as after an upgrade from ``-cu12`` to ``-cu13``,
        shows both: ``12.4.127 | 13.0.96``.

        Cost: two dozen listings, the longest those of site-packages and the system's libraries.
        """
        layout = read_layout(machine.environment)
        for part, state in _read_environment(layout).items():
            yield Fact(name=f"cuda-runtime.{part}", state=state)
        for part, state in _read_shadows(machine, layout).items():
            yield Fact(name=f"cuda-runtime.{part}", state=state)
        current, installed = read_toolkits(machine.root)
        yield Fact(name="cuda-runtime.system.version", state=current)
        yield Fact(name="cuda-runtime.system.toolkits", state=installed)
        cudnn = read_cudnn_version(machine.root)
        yield Fact(name="cuda-runtime.system.cudnn.version", state=cudnn)


def _read_environment(layout: Layout | Missing) -> dict[str, FactState]:
    packages: tuple[CudaPackage, ...] | Missing
    if not isinstance(layout, Layout):
        packages = layout
    else:
        try:
            packages = tuple(read_cuda_packages(layout))
        except OSError as error:
            packages = missing_state(error)
    if not isinstance(packages, tuple):
        return dict.fromkeys((*COMPONENTS, *_SUMMARY), packages)
    return {
        **dict.fromkeys(COMPONENTS, Absent()),
        **_by_component(packages),
        "majors": _join((one.major for one in packages), " "),
        "sources": _join((one.source for one in packages), " "),
    }


def _by_component(packages: Iterable[CudaPackage]) -> dict[str, FactState]:
    versions: dict[str, list[str]] = {}
    for one in packages:
        versions.setdefault(one.component, []).append(one.version)
    return {component: _join(found, " | ") for component, found in sorted(versions.items())}


def _join(words: Iterable[str], separator: str) -> FactState:
    """Each once, in the order of their numbers."""
    different = sorted(
        {word for word in words if word}, key=lambda one: (version_numbers(one), one)
    )
    return Known(separator.join(different)) if different else Absent()


def _read_shadows(machine: Machine, layout: Layout | Missing) -> dict[str, FactState]:
    """``shadows`` counts them: unknown if a folder of the loader's path can't be looked at."""
    shadows = Shadows(found=(), unread=())
    if isinstance(layout, Layout):
        shadows = find_shadows(machine, layout)
    count: FactState = Known(len(shadows.found))
    if not isinstance(layout, Layout):
        count = layout
    elif shadows.unread:
        count = Unknown("; ".join(shadows.unread))
    facts: dict[str, FactState] = {
        f"shadow.{one.component}": Known(f"{one.file} ({one.by})") for one in shadows.found
    }
    return {**facts, "shadows": count}
