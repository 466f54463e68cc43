"""The policies of a repository: ``.envtrack/policies/*.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from envtrack.config.policy_schema import PolicyModel, read_policy_model
from envtrack.config.reader import SIZE_LIMIT_BYTES
from envtrack.files import read_text
from envtrack.model.paths import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DEFAULT = "the default policy"


class Policy(NamedTuple):
    """A policy and where it stands.

    Attributes:
        where: the file; of the default one, words.
        model: what it says.
    """

    where: str
    model: PolicyModel


def read_policies(root: Path) -> tuple[Policy, ...]:
    """The policies of a working tree; the default one where there is none.

    Raises:
        ConfigProblem: one says what it may not say.
        UsageProblem: one can't be read.
    """
    folder = root / POLICIES
    names = sorted(path.name for path in folder.glob("*.y*ml")) if folder.is_dir() else []
    limit = 4 * SIZE_LIMIT_BYTES
    return parse_policies(
        (f"{POLICIES}/{name}", read_text(folder / name, limit_bytes=limit)) for name in names
    )


def parse_policies(files: Iterable[tuple[str, str]]) -> tuple[Policy, ...]:
    """The policies that some files hold; the default one where there are none.

    Args:
        files: name and content of each.

    Raises:
        ConfigProblem: one says what it may not say.
    """
    found = tuple(Policy(where, read_policy_model(text, where)) for where, text in files)
    return found or (Policy(DEFAULT, PolicyModel(kind="UpgradePolicy")),)
