"""git's nouns, without git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, order=True)
class Oid:
    """The full hexadecimal name of one git object (SHA-1 or SHA-256); never a branch or a tag."""

    hex: str

    def __post_init__(self) -> None:
        if not _HEX.fullmatch(self.hex):
            raise ValueError(f"not an object id: {self.hex!r}")

    @classmethod
    def for_blob(cls, content: bytes) -> Self:
        r"""The SHA-1 name of a blob: of ``blob <size>\0`` and its content (Pro Git, 10.2)."""
        import hashlib  # it loads OpenSSL

        head = b"blob %d\0" % len(content)
        return cls(hashlib.sha1(head + content, usedforsecurity=False).hexdigest())

    @property
    def short(self) -> str:
        """The first ten digits, for people."""
        return self.hex[:10]

    def __str__(self) -> str:
        return self.hex


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What is said of one commit.

    Attributes:
        oid: its name.
        parents: its parents' names, first parent first.
        subject: the first line of its message.
        author: the author's name.
        authored_at: the author's date, ISO 8601 with offset.
    """

    oid: Oid
    parents: tuple[Oid, ...]
    subject: str
    author: str
    authored_at: str
