"""Submodules in the probe's tree, from what the user's own repository has of them.

Not by ``git submodule``: in a linked worktree that writes into the configuration that all working
trees share. Nothing is fetched: what is not on this machine stays an empty folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import CommandFailed
from envtrack.files import read_text, remove_tree
from envtrack.model.oid import Oid
from envtrack.probe.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the submodules of one repository can be had.

    Attributes:
        modules: the folder in which git keeps their repositories.
        tree: the user's working tree: in older repositories, and in linked worktrees, they stand
            or point elsewhere from there.
    """

    modules: Path
    tree: Path


def bring_submodules(tree: Tree, origin: Origin) -> list[str]:
    """Checks out the submodules that are on this machine; gives notes on the others.

    Args:
        tree: where.
        origin: the same repository as the user has it.
    """
    notes: list[str] = []
    if not (tree.top / ".gitmodules").is_file():
        return notes
    names = _read_names(tree)
    for oid, path in tree.list_gitlinks():
        notes += _bring_one(tree, oid, path, list(_sources(origin, names.get(path, path), path)))
    return notes


def _sources(origin: Origin, name: str, path: str) -> Iterator[Origin]:
    for folder in (origin.modules / name, _git_folder(origin.tree / path)):
        if (folder / "HEAD").is_file():
            yield Origin(modules=folder, tree=origin.tree / path)


def _git_folder(tree: Path) -> Path:
    """The git folder of a working tree, by the ``.git`` in it."""
    pointer = tree / ".git"
    if not pointer.is_file():
        return pointer
    return tree / read_text(pointer).strip().removeprefix("gitdir: ")


def _bring_one(tree: Tree, oid: Oid, path: str, sources: list[Origin]) -> list[str]:
    said = "not on this machine, left empty"
    target = tree.top / path
    for source in sources:
        remove_tree(target)
        try:
            Tree(top=tree.top, environ=tree.environ).git(
                "clone", "--quiet", "--shared", "--no-checkout", str(source.modules), str(target)
            )
            inner = Tree(top=target, environ=tree.environ)
            inner.git("checkout", "--quiet", "--detach", oid.hex)
        except CommandFailed as error:
            said = error.message
            continue
        return bring_submodules(inner, Origin(modules=source.modules / "modules", tree=source.tree))
    remove_tree(target)
    target.mkdir(parents=True)
    return [f"submodule {path}: {said}"]


def _read_names(tree: Tree) -> dict[str, str]:
    """Submodule names by path, from ``.gitmodules``."""
    rows = tree.git(
        "config", "--file", ".gitmodules", "--null", "--get-regexp", r"^submodule\..*\.path$",
        check=False,
    ).fields  # fmt: skip
    pairs = (row.partition("\n") for row in rows)
    return {
        path: key.removeprefix("submodule.").removesuffix(".path") for key, _, path in pairs if path
    }
