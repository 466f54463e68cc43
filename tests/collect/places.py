"""Fake roots and fake environments for the collectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envtrack.collect.interface import Collector, Machine
from envtrack.model.fact import Fact, FactState
from envtrack.model.snapshot import InstalledPackage


def machine(
    base: Path,
    *,
    root: Path | None = None,
    environ: Mapping[str, str] | None = None,
    environment: Path | None = None,
    salt: str = "",
) -> Machine:
    """A machine below `base`: its root, its home ``home/alice`` and, in that, its project."""
    home = base / "home" / "alice"
    return Machine(
        root=root or base / "root",
        environ=environ or {},
        environment=environment,
        project=home / "project",
        home=home,
        salt=salt,
    )


def write(path: Path, text: str | bytes = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def make_environment(base: Path, config: str = "home = /usr/bin\nversion = 3.11.7\n") -> Path:
    """A ``.venv`` of the project with an empty site-packages and a Python that stands beside it."""
    environment = base / "home" / "alice" / "project" / ".venv"
    site_of(environment).mkdir(parents=True)
    write(environment / "pyvenv.cfg", config)
    return environment


def site_of(environment: Path) -> Path:
    return environment / "lib" / "python3.11" / "site-packages"


def add_distribution(site: Path, name: str, version: str, **files: str) -> Path:
    """A dist-info folder; more files by their name without ``.json``."""
    folder = site / f"{name}-{version}.dist-info"
    write(folder / "METADATA", f"Metadata-Version: 2.3\nName: {name}\nVersion: {version}\n\nText")
    for file, text in files.items():
        write(folder / {"direct_url": "direct_url.json"}.get(file, file), text)
    return folder


def facts_of(collector: Collector, where: Machine) -> dict[str, FactState]:
    return {r.name: r.state for r in collector.collect(where) if isinstance(r, Fact)}


def packages_of(collector: Collector, where: Machine) -> dict[str, InstalledPackage]:
    return {r.name: r for r in collector.collect(where) if isinstance(r, InstalledPackage)}
