"""What the policy says of a history."""

from __future__ import annotations

from typing import NamedTuple

from envtrack.model.breach import Judged
from envtrack.model.oid import Oid


class Override(NamedTuple):
    """One ``Env-Override`` trailer.

    Attributes:
        commit: in whose message it stands.
        said: what it says: a rule and a reason.
    """

    commit: Oid
    said: str


class JudgedHistory(NamedTuple):
    """What the policy says of a history.

    Attributes:
        judged: of the commits that were judged.
        commits: which these were, newest first.
        overrides: all trailers of the history, newest first.
    """

    judged: Judged
    commits: tuple[Oid, ...]
    overrides: tuple[Override, ...]
