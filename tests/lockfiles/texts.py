"""Real lockfiles, shortened, and small ones made by hand."""

from __future__ import annotations

from pathlib import Path

from envtrack.lockfiles.interface import parse_lock
from envtrack.model.lock import Lock, LockedPackage

FIXTURES = Path(__file__).parent / "fixtures"

LINUX = {
    "implementation_name": "cpython",
    "implementation_version": "3.12.4",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6.1.0",
    "platform_system": "Linux",
    "platform_version": "#1 SMP",
    "python_full_version": "3.12.4",
    "python_version": "3.12",
    "sys_platform": "linux",
}
MAC = LINUX | {
    "platform_machine": "arm64",
    "platform_system": "Darwin",
    "sys_platform": "darwin",
}

HEAD = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'


def read_fixture(name: str) -> str:
    """The text of a shortened real lockfile."""
    return (FIXTURES / name).read_text(encoding="utf-8")


def lock_of(name: str) -> Lock:
    """The same, parsed."""
    return parse_lock(read_fixture(name), path="uv.lock")


def lock_from(*packages: str, head: str = HEAD) -> Lock:
    """A lock of these `[[package]]` texts."""
    return parse_lock("\n".join([head, *packages]), path="uv.lock")


def project(
    *needs: str,
    name: str = "lab",
    version: str | None = "1.0",
    at: str = ".",
    kind: str = "editable",
    requires: tuple[str, ...] | None = None,
    more: str = "",
) -> str:
    """A project's own package that depends on `needs` (edges as TOML, or names).

    Args:
        needs: its edges.
        name: its name.
        version: its version; `None`: dynamic.
        at: its path.
        kind: of its source.
        requires: names that it asked for; without it those of the plain `needs`.
        more: further lines of its table.
    """
    asked = [need for need in needs if "{" not in need] if requires is None else requires
    wanted = ", ".join(f'{{ name = "{need}" }}' for need in asked)
    return (
        f'[[package]]\nname = "{name}"\n'
        + (f'version = "{version}"\n' if version else "")
        + f'source = {{ {kind} = "{at}" }}\ndependencies = [{_edges(needs)}]\n{more}\n'
        + f"[package.metadata]\nrequires-dist = [{wanted}]\n"
    )


def _edges(needs: tuple[str, ...]) -> str:
    return ", ".join(need if need.startswith("{") else f'{{ name = "{need}" }}' for need in needs)


def pinned(
    name: str,
    version: str,
    *needs: str,
    digest: str = "",
    index: str = "https://registry.example/simple",
    more: str = "",
    host: str = "https://files.example",
) -> str:
    """A package of an index with one wheel."""
    filename = f"{name.replace('-', '_')}-{version.replace('+', '%2B')}-py3-none-any.whl"
    digest = digest or f"{name}{version}"
    return (
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        f'source = {{ registry = "{index}" }}\ndependencies = [{_edges(needs)}]\n'
        f'wheels = [{{ url = "{host}/{filename}", hash = "sha256:{digest}", size = 10 }}]\n{more}\n'
    )


def by_name(lock: Lock, name: str) -> LockedPackage:
    """The only package of this name."""
    (found,) = [package for package in lock.packages if package.name == name]
    return found


def names(packages: tuple[LockedPackage, ...]) -> list[str]:
    """Names and versions, in order."""
    return [f"{package.name} {package.version}" for package in packages]
