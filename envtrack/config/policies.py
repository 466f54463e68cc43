"""The policies of a repository: ``.envtrack/policies/*.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from envtrack.config.reader import SIZE_LIMIT_BYTES
from envtrack.files import read_text
from envtrack.model.paths import POLICIES
from envtrack.model.policy import UpgradePolicy, parse_policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DEFAULT = "the default policy"


class Policy(NamedTuple):
    """A policy and where it stands.

    Attributes:
        where: the file; of the default one, words.
        value: what it says.
    """

    where: str
    value: UpgradePolicy


def read_policies(root: Path) -> tuple[Policy, ...]:
    """The policies of a working tree; the default one where there is none.

    Raises:
        ConfigProblem: one says what it may not say.
        UsageProblem: one can't be read.
    """
    return parse_policies(list_policy_files(root))


def list_policy_files(root: Path) -> list[tuple[str, str]]:
    """Path from the top level and content of each policy's file, by name."""
    folder = root / POLICIES
    names = sorted(path.name for path in folder.glob("*.y*ml")) if folder.is_dir() else []
    limit = 4 * SIZE_LIMIT_BYTES
    return [(f"{POLICIES}/{name}", read_text(folder / name, limit_bytes=limit)) for name in names]


def parse_policies(files: Iterable[tuple[str, str]]) -> tuple[Policy, ...]:
    """The policies that some files hold; the default one where there are none.

    Args:
        files: name and content of each.

    Raises:
        ConfigProblem: one says what it may not say.
    """
    documents = describe_policies(files)
    return tuple(Policy(where, parse_policy(document)) for where, document in documents)


def describe_policies(files: Iterable[tuple[str, str]]) -> list[tuple[str, dict[str, Any]]]:
    """The same as plain documents, as `parse_policy` reads them.

    Raises:
        ConfigProblem: one says what it may not say.
    """
    # pydantic takes a quarter of a second to import: who knows the documents already needs none.
    from envtrack.config.policy_schema import describe_default, describe_policy

    found = [(where, describe_policy(text, where)) for where, text in files]
    return found or [(DEFAULT, describe_default())]
