"""Why a module could not be imported: installed elsewhere, hidden by a file, or not installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from envtrack.collect.below_root import list_folder
from envtrack.collect.interface import Machine
from envtrack.collect.layout import Layout, read_layout, site_folders
from envtrack.collect.places import describe_place
from envtrack.model.fact import Absent, Fact, FactState, Known

_PREFIX: Final = "evidence.module"
# Modules whose distribution has another name.
_DISTRIBUTIONS: Final = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "git": "gitpython",
    "google": "protobuf",
    "mpl_toolkits": "matplotlib",
    "pil": "pillow",
    "pkg_resources": "setuptools",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}


def find_module(machine: Machine, module: str, *, locked: Mapping[str, str]) -> list[Fact]:
    """What is known of a module: in the environment, in the way, locked.

    Args:
        machine: where to look.
        module: its dotted name; the first part counts.
        locked: version by normalised name of what the lockfile has; empty without one.

    Returns:
        ``evidence.module.environment``, ``.shadowed`` (a file of the project that has its name),
        ``.locked-only`` (locked, and not installed), ``.nowhere`` (true or false).

    Cost: one listing a folder.
    """
    top = module.partition(".")[0]
    layout = read_layout(machine.environment)
    sites = site_folders(layout) if isinstance(layout, Layout) else ()
    installed = next((path for site in sites if (path := _find_in(site, top))), None)
    shadow = _find_in(machine.project, top)
    distribution = _DISTRIBUTIONS.get(top.lower(), top.lower().replace("_", "-"))
    version = locked.get(distribution)
    is_locked_only = version is not None and installed is None
    states: dict[str, FactState] = {
        "environment": _say(installed, machine),
        "shadowed": _say(shadow, machine),
        "locked-only": Known(f"{distribution} {version}") if is_locked_only else Absent(),
    }
    is_nowhere = installed is None and version is None and shadow is None
    states["nowhere"] = Known("true" if is_nowhere else "false")
    return [Fact(name=f"{_PREFIX}.{key}", state=state) for key, state in states.items()]


def _find_in(folder: Path, module: str) -> Path | None:
    """The file or the package of a module in a folder; a folder without any file is none."""
    names = list_folder(folder)
    for name in names if isinstance(names, tuple) else ():
        stem, _, suffix = name.partition(".")
        path = folder / name
        if stem != module:
            continue
        if suffix == "py" or suffix.endswith(("so", "pyd")):
            return path
        if not suffix and _has_modules(path):
            return path
    return None


def _has_modules(folder: Path) -> bool:
    names = list_folder(folder)
    return isinstance(names, tuple) and any(name.endswith((".py", ".so")) for name in names)


def _say(path: Path | None, machine: Machine) -> FactState:
    if path is None:
        return Absent()
    if machine.environment is not None and path.is_relative_to(machine.environment):
        return Known(f"<environment>/{path.relative_to(machine.environment)}")
    return Known(describe_place(path, machine))
