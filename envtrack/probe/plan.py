"""What a bisect session was asked to do, and where its files stand."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from envtrack.config.settings import Stale
from envtrack.errors import UsageProblem
from envtrack.files import read_text, write_whole
from envtrack.model.condition import Condition
from envtrack.model.layer import Layer, LayerRules
from envtrack.model.selection import Selection
from envtrack.model.verdict import Verdict

SCHEMA = 1


class Hold(StrEnum):
    """Which half of every commit is held as it is at the bad end."""

    CODE = "code"
    """Environments alone are searched."""
    ENV = "env"
    """Code alone is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a session needs to know; written once, never changed.

    Attributes:
        id: the session's name.
        created_at: UTC, ISO 8601.
        root: the repository's top level.
        common_dir: its shared git folder.
        lockfile: from the top level, with forward slashes.
        paths: the lockfile and the files that belong to it: what git bisect looks at.
        neighbours: names of folders and files beside the repository that its lockfiles use: no
            commit holds them, so they are as they are now at every commit.
        good: full name of the good end.
        bad: full name of the bad end.
        smoke: the smoke test, for ``sh -c``.
        smoke_files: files of the smoke test, from the top level, kept in the session folder and
            put into every probe's tree.
        smoke_timeout_s: seconds.
        sync_timeout_s: seconds for one ``uv sync``.
        timeout_is: the verdict of a smoke test that passes its limit.
        stale: what to do with stale lockfiles.
        selection: what of the lockfile is installed.
        python: the interpreter to hold (``uv sync --python``); empty: what each commit asks for.
        uv: uv's executable.
        retries: how often a network fault is tried again within one probe.
        trust_ends: whether the ends are believed without a probe.
        keep: whether the worktree stays.
        machine: the name of the machine that probes.
        layers: the project's own word on which packages belong to which layer.
        match: a regular expression that the output of the hunted failure has; empty: it is known by
            its fingerprint at the bad end.
        any_failure: every failure is the hunted one.
        commit_only: the search ends with the commit, and does not go on to the package.
        package_only: it ends with the package, and does not go on to its release.
        shares_with: the id of a session whose verdicts count as well; empty: none.
        suspects: names of packages that are tried first, where lockfiles are composed.
        hold: the half of every commit that is as at the bad end; ``None``: no half.
        repeat: how often the smoke test is run for one verdict, at most.
        quorum: how many of these runs must fail for it to be bad.
        condition: how a finished smoke test is judged.
        is_composed: its probes are not of commits: each puts a composed lockfile into the tree of
            the bad end and installs it as it stands.
    """

    id: str
    created_at: str
    root: str
    common_dir: str
    lockfile: str
    paths: tuple[str, ...]
    good: str
    bad: str
    smoke: str
    smoke_files: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()
    smoke_timeout_s: float = 600.0
    sync_timeout_s: float = 1800.0
    timeout_is: Verdict = Verdict.BAD
    stale: Stale = Stale.SKIP
    selection: Selection = field(default_factory=Selection)
    python: str = ""
    uv: str = "uv"
    retries: int = 3
    trust_ends: bool = False
    keep: bool = False
    machine: str = ""
    layers: LayerRules = ()
    match: str = ""
    any_failure: bool = False
    commit_only: bool = False
    package_only: bool = False
    shares_with: str = ""
    suspects: tuple[str, ...] = ()
    hold: Hold | None = None
    repeat: int = 1
    quorum: int = 1
    condition: Condition = field(default_factory=Condition)
    is_composed: bool = False

    @classmethod
    def of(cls, **settings: Any) -> Self:  # noqa: ANN401 - the fields below `smoke`, by name
        """A plan of which only the settings are known; the session fills in what it is about."""
        about = {
            "id": "",
            "created_at": "",
            "root": "",
            "common_dir": "",
            "lockfile": "",
            "paths": (),
            "good": "",
            "bad": "",
            "smoke": "",
        }
        return cls(**{**about, **settings})

    @property
    def project(self) -> str:
        """The folder of the lockfile, from the top level; empty: the top level itself."""
        return self.lockfile.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class SessionFiles:
    """The files of one session, under ``<git common dir>/envtrack/sessions/<id>/``."""

    folder: Path

    @property
    def plan(self) -> Path:
        """The plan, JSON."""
        return self.folder / "plan.json"

    @property
    def script(self) -> Path:
        """What ``git bisect run`` runs."""
        return self.folder / "probe.sh"

    @property
    def smoke(self) -> Path:
        """The smoke test's command as it was written."""
        return self.folder / "smoke"

    @property
    def smoke_files(self) -> Path:
        """A folder with the files that the smoke test consists of."""
        return self.folder / "smoke-files"

    @property
    def logs(self) -> Path:
        """A folder a probe."""
        return self.folder / "logs"

    @property
    def git_log(self) -> Path:
        """What git bisect printed."""
        return self.folder / "git.log"

    @property
    def bisect_log(self) -> Path:
        """The bisect log as git wrote it, replayable."""
        return self.folder / "bisect.log"

    @property
    def lock(self) -> Path:
        """Held while the session runs, by every process that takes part."""
        return self.folder / "run.lock"

    @property
    def driver_lock(self) -> Path:
        """Held while the session runs, by the process that drives it and by no other."""
        return self.folder / "driver.lock"

    @property
    def worktree(self) -> Path:
        """Where the worktree of the current run stands, JSON; gone when it has been removed."""
        return self.folder / "worktree.json"

    @property
    def answer(self) -> Path:
        """The answer, JSON, once there is one; `answer_text` and `answer_markdown` beside it."""
        return self.folder / "answer.json"

    @property
    def answer_text(self) -> Path:
        """The same for people."""
        return self.folder / "answer.txt"

    @property
    def answer_markdown(self) -> Path:
        """The same for an issue."""
        return self.folder / "answer.md"

    @property
    def composed(self) -> Path:
        """The lockfile of the probe that runs, or ran last, where lockfiles are composed."""
        return self.folder / "composed.lock"

    @property
    def crossings(self) -> Path:
        """The crossings of two commits that were tried, JSON."""
        return self.folder / "crossings.json"

    @property
    def hunted(self) -> Path:
        """The fingerprint of the failure at the bad end, JSON, once it was seen."""
        return self.folder / "hunted.json"

    @property
    def measured(self) -> Path:
        """What a metric was at the two ends, JSON, once they were measured."""
        return self.folder / "measured.json"

    @property
    def tolerated(self) -> Path:
        """Broken requirements that the ends have as well, JSON; `isolate` tolerates them."""
        return self.folder / "tolerated.json"

    @property
    def store(self) -> Path:
        """The verdicts of all sessions of this repository."""
        return self.folder.parent.parent / "verdicts.sqlite"

    @property
    def interpreters(self) -> Path:
        """What is known of the interpreters that were asked for, JSON."""
        return self.folder / "interpreters.json"


def write_plan(files: SessionFiles, plan: Plan) -> None:
    """Writes the plan whole."""
    document = {"schema": SCHEMA, "kind": "bisect-plan", **asdict(plan)}
    write_whole(files.plan, json.dumps(document, indent=2, sort_keys=True) + "\n")


def read_plan(files: SessionFiles) -> Plan:
    """The plan of a session.

    Raises:
        UsageProblem: it is missing, broken, or of a newer schema.
    """
    text = read_text(files.plan)
    try:
        document: dict[str, Any] = json.loads(text)
        if document.pop("schema") > SCHEMA:
            raise UsageProblem(
                f"{files.plan}: written by a newer envtrack", hint="upgrade envtrack"
            )
        document.pop("kind")
        selection: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in document.pop("selection").items()
        }
        return Plan(
            **{
                **document,
                "paths": tuple(document["paths"]),
                "smoke_files": tuple(document["smoke_files"]),
                "neighbours": tuple(document["neighbours"]),
                "suspects": tuple(document.get("suspects", ())),
                "condition": Condition(**document.get("condition", {})),
                "timeout_is": Verdict(document["timeout_is"]),
                "stale": Stale(document["stale"]),
                "hold": Hold(document["hold"]) if document.get("hold") else None,
                "selection": Selection(**selection),
                "layers": tuple(
                    (Layer(name), tuple(globs)) for name, globs in document.get("layers", ())
                ),
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageProblem(f"{files.plan}: not a session's plan: {error}") from error
