"""The policies and the configuration of a commit: also where there is no working tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.config.policies import Policy, parse_policies
from envtrack.config.settings import Settings, parse_settings
from envtrack.git.staged import find_content
from envtrack.model.paths import CONFIG, POLICIES

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid


def read_settings_at(repository: Repository, commit: Oid) -> Settings:
    """What the configuration of a commit says; the defaults where it has none.

    Raises:
        ConfigProblem: it says what it may not say.
    """
    content = find_content(repository, f"{commit.hex}:{CONFIG}")
    if content is None:
        return Settings()
    where = f"{commit.short}:{CONFIG}"
    return parse_settings(content.decode("utf-8", "backslashreplace"), where)


def read_policies_at(repository: Repository, older: Oid | None, newer: Oid) -> tuple[Policy, ...]:
    """The policies by which a range is judged: those of its older end, if that has any.

    Raises:
        ConfigProblem: one says what it may not say.
    """
    for commit in (older, newer):
        files = [] if commit is None else _read_files(repository, commit)
        if files:
            return parse_policies(files)
    return parse_policies([])


def _read_files(repository: Repository, commit: Oid) -> list[tuple[str, str]]:
    said = repository.git(
        *("ls-tree", "-z", "--name-only", "--full-tree", commit.hex, "--", f"{POLICIES}/")
    )
    names = [path for path in said.fields if path.endswith((".yaml", ".yml"))]
    found = []
    for path in names:
        content = find_content(repository, f"{commit.hex}:{path}")
        if content is not None:
            text = content.decode("utf-8", "backslashreplace")
            found.append((f"{commit.short}:{path}", text))
    return found
