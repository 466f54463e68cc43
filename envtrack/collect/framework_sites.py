"""Where the frameworks of the project's environment are installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.distributions import Distribution, find_info_folders, read_distribution
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.collect.reading import Missing
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.collect.interface import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Sites:
    """The folders from which an environment imports, in its order.

    Attributes:
        layout: the environment's.
        folders: its site-packages, then those of the Python below it if it sees them.
        infos: the ``.dist-info`` folders by normalised name; the first of a name counts.
    """

    layout: Layout
    folders: tuple[Path, ...] = ()
    infos: Mapping[str, Path] = field(default_factory=dict)

    def find(self, module: str) -> Path | None:
        """The folder of a package that can be imported."""
        paths = (folder / module for folder in self.folders)
        return next((path for path in paths if path.is_dir()), None)

    def read(self, name: str) -> Distribution | None:
        """An installed distribution by its normalised name."""
        info = self.infos.get(name)
        return read_distribution(info) if info else None

    def version(self, name: str) -> FactState:
        """Its version by its metadata."""
        found = self.read(name)
        if found is None:
            return Absent()
        return Known(found.version) if found.version else found.fault


def read_sites(machine: Machine) -> Sites | Missing:
    """The folders of the project's environment.

    Raises:
        OSError: one can't be listed.

    Cost: one listing a folder.
    """
    layout = read_layout(machine.environment)
    if not isinstance(layout, Layout):
        return layout
    folders = [*site_folders(layout)]
    folders += [folder for folder in _base_folders(machine, layout) if folder not in folders]
    infos: dict[str, Path] = {}
    for folder in reversed(folders):
        infos.update(find_info_folders(folder))
    return Sites(layout=layout, folders=tuple(folders), infos=infos)


def _base_folders(machine: Machine, layout: Layout) -> Iterator[Path]:
    """Those of the Python that a venv stands on, if it was made with ``--system-site-packages``.

    In images that bring a framework of their own, such as NVIDIA's, that is how projects use it.
    """
    home = layout.config.get("home", "")
    sees_base = layout.config.get("include-system-site-packages", "").lower() == "true"
    if not (sees_base and home.startswith("/")):
        return
    prefix = machine.root / PurePosixPath(home).parent.relative_to("/")
    series = {library.folder.name for library in layout.libraries} | {"python3"}
    # Debian's Python looks below /usr/local before /usr.
    bases = [prefix / "local", prefix] if prefix.name == "usr" else [prefix]
    for base in bases:
        below = read_layout(base)
        if isinstance(below, Layout):
            yield from (f for f in site_folders(below) if f.parent.name in series)
