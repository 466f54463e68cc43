"""Files that come with envtrack: the hook shims, the example, templates."""

from __future__ import annotations

from pathlib import Path

from envtrack.errors import RigFailed

_PACKAGE = Path(__file__).resolve().parent
# In a checkout these stand at the top level; the wheel carries them inside the package.
_IN_CHECKOUT = {"hooks": "hooks", "example": "examples/lockfile-repo"}


def find_resource(name: str) -> Path:
    """The folder or file of this name: ``hooks``, ``example``, or something in ``envtrack/data``.

    Raises:
        RigFailed: the installation is incomplete.
    """
    carried = _PACKAGE / "data" / name
    if carried.exists():
        return carried
    beside = _PACKAGE.parent / _IN_CHECKOUT.get(name, name)
    if name in _IN_CHECKOUT and beside.exists():
        return beside
    raise RigFailed(
        f"envtrack's own `{name}` is missing from {_PACKAGE}", hint="reinstall envtrack"
    )
