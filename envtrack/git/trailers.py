"""The trailers of a whole history by one git process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from envtrack.git.repository import Repository

_LONG_S = 300.0


def list_trailers(repository: Repository, head: Oid, key: str) -> dict[Oid, tuple[str, ...]]:
    """The values of a trailer in every message up to a commit; commits without one are left out.

    Args:
        repository: where.
        head: the newest commit.
        key: the trailer's; git compares it without regard to case.
    """
    # %x00 ends each value; no message can hold one.
    form = f"--format=%H%x00%(trailers:key={key},valueonly,unfold,separator=%x01)%x00"
    said = repository.git(
        *("log", "--no-show-signature", "--no-color", form, head.hex, "--"), timeout_s=_LONG_S
    )
    fields = said.text.split("\0")
    found = {}
    for oid, values in zip(fields[::2], fields[1::2], strict=False):
        parts = tuple(part.strip() for part in values.split("\x01") if part.strip())
        if parts:
            found[Oid(oid.strip())] = parts
    return found
