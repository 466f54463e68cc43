"""The commits that git bisect chooses from, with how they hang together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.model.oid import Commit, Oid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from envtrack.git.repository import Repository

_FIELDS = 5


def list_candidates(
    repository: Repository, good: Oid, bad: Oid, paths: Sequence[str]
) -> tuple[Commit, ...]:
    """The commits that `bad` has and `good` has not and that touch the paths, oldest first.

    Their parents are those among them: what lies between is left out.

    Raises:
        CommandFailed: the commits are no longer there.
    """
    said = repository.git(
        *("log", "--reverse", "--topo-order", "--parents", "--no-show-signature", "--no-color"),
        "--format=%x00%H%x00%P%x00%an%x00%cI%x00%s",
        *(bad.hex, f"^{good.hex}", "--"),
        *(f":(top,literal){path}" for path in paths),
    )
    _, *fields = said.text.split("\0")
    return tuple(
        _make_commit(*(field.removesuffix("\n") for field in fields[at : at + _FIELDS]))
        for at in range(0, len(fields), _FIELDS)
    )


def _make_commit(oid: str, parents: str, author: str, date: str, subject: str) -> Commit:
    return Commit(
        oid=Oid(oid),
        parents=tuple(map(Oid, parents.split())),
        subject=subject,
        author=author,
        authored_at=date,
    )
