"""What uv is given to lock from: a uv.lock composed out of two, which it has to resolve anew."""

from __future__ import annotations

from typing import Any

from envtrack.lockfiles.compose import Composer
from envtrack.lockfiles.tables import load_toml


def compose_preferences(old: str, new: str, taken: frozenset[str]) -> str:
    """A uv.lock that prefers the newer state of some packages, and the older of all others.

    uv keeps what an existing lockfile says of a package (version, fork, git commit) wherever that
    fits the requirements. A lockfile that satisfies them all it leaves as it stands, in whatever
    form; so what the projects asked for is left out: that makes it resolve, and write (seen with
    uv 0.13.9).

    Args:
        old: the text of the older uv.lock.
        new: of the newer one.
        taken: normalised names.

    Raises:
        LockfileProblem: one of them is no uv.lock.
    """
    import tomli_w

    composer = Composer(old, new)
    document = load_toml(composer.compose(taken & set(composer.movable)), path="uv.lock")
    packages: list[dict[str, Any]] = document.get("package", [])
    for entry in packages:
        entry.pop("metadata", None)
    manifest: dict[str, Any] = document.get("manifest", {})
    for key in ("requirements", "dependency-groups"):
        manifest.pop(key, None)
    return tomli_w.dumps(document)
