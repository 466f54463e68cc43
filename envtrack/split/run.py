"""From a change of several layers to its series of commits."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from envtrack.bisect.ends import find_neighbours
from envtrack.collect.machine_name import find_machine_name
from envtrack.config.policies import read_policies
from envtrack.errors import EnvtrackError, UsageProblem
from envtrack.files import write_whole
from envtrack.git.plumbing import create_ref, delete_ref, move_head
from envtrack.git.staged import Entry, find_content, read_entries, stage_blobs
from envtrack.model.breach import Level
from envtrack.model.paths import snapshot_path
from envtrack.model.split import Split, SplitOutcome, SplitStep
from envtrack.model.verdict import Verdict
from envtrack.record.beside import find_record, has_edit, take_record
from envtrack.record.memory import HookMemory
from envtrack.split.commits import Made, Record, make_commits, say_subject
from envtrack.split.prove import Proof, Proving, prove_steps
from envtrack.split.scratch import Bench, open_scratch
from envtrack.split.search import find_pieces
from envtrack.split.source import Source, find_source
from envtrack.split.state import Case, Piece, State
from envtrack.split.units import Judging

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.config.settings import Settings
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid
    from envtrack.model.policy import Options

KEPT = "refs/envtrack/split"


class Wanted(NamedTuple):
    """What is asked for.

    Attributes:
        revision: the commit that is split; ``None``: what is staged.
        is_each: whether every root change is a step of its own.
        is_dry: whether nothing is changed.
        uv: uv's executable.
        proving: how each step is proven; ``None``: it is locked, and not tried.
    """

    revision: str | None
    is_each: bool
    is_dry: bool
    uv: str
    proving: Proving | None


def split_change(
    repository: Repository, lockfile: str, settings: Settings, wanted: Wanted
) -> Split:
    """Makes the series, or says what it would be.

    Nothing of the user's changes before every commit is made and proven; then the branch moves at
    once.

    Raises:
        UsageProblem: it can't be split as it is.
        RigFailed: the network, the disk or a tool failed; nothing was changed.
    """
    source = find_source(repository, lockfile, wanted.revision)
    bench = Bench(uv=wanted.uv, python=settings.python, lockfile=lockfile)
    pieces = _find_pieces(repository, source, bench, settings, is_each=wanted.is_each)
    plan = Split(
        lockfile=lockfile,
        source=source.name,
        base=source.base,
        outcome=SplitOutcome.PLANNED,
        steps=tuple(
            SplitStep(piece.changes, piece.groups, piece.joined, say_subject(piece))
            for piece in pieces
        ),
        paths=tuple(sorted(source.entries)),
    )
    if len(pieces) < 2:  # noqa: PLR2004 - one step is no series
        return plan._replace(outcome=SplitOutcome.NOTHING)
    if wanted.is_dry:
        return plan
    return _carry_out(repository, source, pieces, plan, settings, wanted)


def _find_pieces(
    repository: Repository, source: Source, bench: Bench, settings: Settings, *, is_each: bool
) -> tuple[Piece, ...]:
    before, after = _read_states(repository, source)
    judging = Judging(settings.layers, _read_options(repository, source.lockfile))
    case = Case(before, after, judging, is_each=is_each, lockfile=source.lockfile)
    neighbours = find_neighbours(repository, source.lockfile, source.base, source.target)
    with open_scratch(repository, source.target, bench, neighbours=neighbours) as scratch:
        fault = scratch.find_fault(source.target)
        if fault:
            raise UsageProblem(
                f"{source.lockfile}: uv does not take it as it is: {fault}",
                hint="`uv lock` brings it in line with its pyproject.toml; `git add` both",
            )
        scratch.start_from(source.base)
        return find_pieces(case, scratch)


def _read_options(repository: Repository, lockfile: str) -> Options:
    """What the policies call one layer: the first that asks for one layer at a time."""
    rules = [
        policy.value.find_rules(lockfile)["one-layer"] for policy in read_policies(repository.root)
    ]
    return next((rule for rule in rules if rule.level is not Level.OFF), rules[0])


def _read_states(repository: Repository, source: Source) -> tuple[State, State]:
    """Both ends; of the project's files those that are there on both sides."""
    found = []
    shared = [
        path
        for path, entry in source.entries.items()
        if path != source.lockfile
        and entry is not None
        and repository.find_blob(source.base, path) is not None
    ]
    for commit in (source.base, source.target):
        texts = {path: _read_text(repository, commit, path) for path in (source.lockfile, *shared)}
        text = texts.pop(source.lockfile)
        found.append(State(text, texts))
    return found[0], found[1]


def _read_text(repository: Repository, commit: Oid, path: str) -> str:
    try:
        return (repository.read_file(commit, path) or b"").decode()
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{commit.short}:{path}: not UTF-8") from error


def _carry_out(
    repository: Repository,
    source: Source,
    pieces: Sequence[Piece],
    plan: Split,
    settings: Settings,
    wanted: Wanted,
) -> Split:
    record, notes = _find_record(repository, source, settings)
    made = make_commits(repository, source, pieces, record)
    proofs: tuple[Proof, ...] = ()
    good = len(made)
    if wanted.proving is not None:
        commits = [one.commit for one in made]
        proofs = prove_steps(repository, source.base, commits, source.lockfile, wanted.proving)
        good = sum(proof.judgement.verdict is Verdict.GOOD for proof in proofs)
    kept = ""
    if good:
        kept = _publish(repository, source, made[:good], record)
    steps = []
    for at, step in enumerate(plan.steps):
        told = step._replace(commit=made[at].commit if at < good else None)
        if at < len(proofs):
            told = told._replace(judgement=proofs[at].judgement, log=proofs[at].log)
        steps.append(told)
    outcome = SplitOutcome.DONE if good == len(made) else SplitOutcome.STOPPED
    return plan._replace(outcome=outcome, steps=tuple(steps), kept_as=kept, notes=notes)


def _find_record(
    repository: Repository, source: Source, settings: Settings
) -> tuple[Record | None, tuple[str, ...]]:
    """This machine's record: the one that is there already, or else one that is taken now."""
    try:
        name = find_machine_name(
            repository.environ, configured=settings.machine, salt=settings.salt
        )
        path = snapshot_path(name, source.lockfile)
        blob = repository.find_blob(source.target, path)
        there = None if blob is None else find_record(repository.read_blob(blob), path)
        ref = None if there is None else there.lockfile
        if blob and there and ref and ref.blob == source.end.blob:
            last = Entry(mode="100644", blob=blob)
            return Record(path, source.lockfile, there, last), ()
        path, taken = take_record(
            repository,
            source.lockfile,
            source.end.blob,
            environ=repository.environ,
            settings=settings,
        )
    except (EnvtrackError, OSError) as error:
        return None, (f"no record of this machine was taken: {error}",)
    return Record(path, source.lockfile, taken), ()


def _publish(
    repository: Repository, source: Source, made: Sequence[Made], record: Record | None
) -> str:
    """Moves the branch, and says under which ref the original state is kept.

    The record is staged before: whoever is killed in between finds staged what a commit by hand
    would have staged. What fails is undone.
    """
    last = made[-1]
    kept = f"{KEPT}/{datetime.now(UTC):%Y%m%dT%H%M%S}-{source.target.hex[:6]}"
    count = "1 commit" if len(made) == 1 else f"{len(made)} commits"
    is_new = record is not None and record.last is None
    with contextlib.ExitStack() as undoing:
        create_ref(repository, kept, source.target, reason="envtrack split: the original state")
        undoing.callback(delete_ref, repository, kept, source.target)
        if record is not None and last.record is not None and is_new:
            _put_record(repository, record.path, last.record, undoing)
        reason = f"envtrack split: {source.name} as {count}"
        move_head(repository, old=source.head, new=last.commit, reason=reason)
        undoing.pop_all()
    return kept


def _put_record(
    repository: Repository, path: str, entry: Entry, undoing: contextlib.ExitStack
) -> None:
    """The record in the index and, unless the user has changed it there, in the working tree."""
    file = repository.root / path
    if not has_edit(repository, path):
        before = file.read_bytes() if file.is_file() and not file.is_symlink() else None
        new = [folder for folder in file.parents if not folder.exists()]
        undoing.callback(_put_back, file, before, new)
        write_whole(file, find_content(repository, entry.blob.hex) or b"")
    HookMemory(repository.git_dir).add_written({path: entry.blob})
    there = read_entries(repository, f":(top,literal){path}").get(path)
    if there != entry:
        stage_blobs(repository, {path: entry.blob})
        undoing.callback(stage_blobs, repository, {path: there.blob if there else None})


def _put_back(file: Path, content: bytes | None, new: Sequence[Path]) -> None:
    if content is not None:
        write_whole(file, content)
        return
    file.unlink(missing_ok=True)
    for folder in new:
        with contextlib.suppress(OSError):
            folder.rmdir()
