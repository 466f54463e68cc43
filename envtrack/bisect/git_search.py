"""``git bisect`` in the session's worktree, and what the session adds to it.

git searches by itself as long as commits can be judged. Where one can't be, the session says so to
git, of that commit and of all that have the same environment; after the third in a row it chooses
the next commits itself, since git would choose at random, and tells git what they said. So git's
log holds the whole search, and ``git bisect replay`` repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from envtrack.bisect.alike import record_alike
from envtrack.bisect.rig import Rig
from envtrack.culprit.blocks import choose_next
from envtrack.git.environ import PLAIN
from envtrack.model.oid import Oid
from envtrack.model.verdict import Observation, Verdict
from envtrack.probe.script import SKIP

_MOST_IN_A_ROW: Final = 3
# git takes all from 128 to 255 for "stop"; the script's own is 128, a shell's for signals follow.
_HANDED_OVER: Final = "200"
_AT_ONCE: Final = 500
_WORDS: Final = {Verdict.GOOD: "good", Verdict.BAD: "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GitEnd:
    """How ``git bisect`` ended, by its own log.

    Attributes:
        first_bad: the first bad commit, if it found one. If not, then either some commits had to
            be skipped, or all that it was to look at were good.
        earliest_bad: the earliest commit that is known to be bad.
        has_skipped: some commits could not be judged.
    """

    first_bad: Oid | None
    earliest_bad: Oid
    has_skipped: bool


def search_with_git(rig: Rig, bad: Oid, goods: tuple[Oid, ...], paths: tuple[str, ...]) -> GitEnd:
    """Searches with ``git bisect``; commits that are known already are not tried again.

    Args:
        rig: where.
        bad: a bad commit.
        goods: good ones below it.
        paths: only commits that change one of these count; empty: all.

    Raises:
        RigFailed: the rig failed.
    """
    rig.tree.git("bisect", "reset", check=False)
    rig.tree.git("checkout", "--quiet", "--force", "--detach", bad.hex)
    ends = (bad.hex, *(good.hex for good in goods))
    pathspecs = ("--", *map(_pathspec, paths)) if paths else ()
    rig.tree.git("--no-literal-pathspecs", "bisect", "start", *ends, *pathspecs)
    return _Search(rig, paths).run()


def count_steps_left(rig: Rig) -> int | None:
    """How many steps are left by git's own estimate; ``None`` outside a search."""
    # Without paths git looks at all commits: then it is the code that is searched.
    paths = rig.plan.paths if _read_state(rig, "BISECT_NAMES").strip() else ()
    done = rig.tree.git(
        "rev-list", "--bisect-vars", "refs/bisect/bad", *_goods(rig), "--", *paths, check=False
    )
    found = re.search(r"^bisect_steps=(\d+)", done.text, re.MULTILINE)
    return int(found[1]) if found else None


class _Search:
    """One run of ``git bisect``."""

    def __init__(self, rig: Rig, paths: tuple[str, ...]) -> None:
        self._rig = rig
        self._paths = paths
        self._in_a_row = 0
        self._judged = 0
        self._is_given_up = False

    def run(self) -> GitEnd:
        """How it ended."""
        known = {Oid(hex_) for hex_ in self._list_left()}
        self._skip(seen.commit for seen in self._list_unjudged() if seen.commit in known)
        for seen in self._list_unjudged():
            if seen.same_as is None:
                self._skip_alike(seen)
        while not self._is_over() and not self._is_given_up:
            if self._in_a_row < _MOST_IN_A_ROW:
                self._let_git_go_on()
            else:
                self._choose()
        ended = self._read_end()
        if ended.first_bad is None and not ended.has_skipped and self._list_left():
            raise self._rig.failure()
        return ended

    def _let_git_go_on(self) -> None:
        """Until git is through, or comes upon a commit that can't be judged."""
        rig = self._rig
        script = str(rig.files.script)
        code = rig.run("git", *PLAIN, "bisect", "run", script, more={SKIP: _HANDED_OVER})
        if code == 0 or self._is_over():
            return
        seen = rig.store.find_known(rig.plan.id, rig.tree.read_head())
        if seen is None or not _is_unjudged(seen) or self._is_skipped(seen.commit):
            # git may also be through with nothing found: all that it was to look at were good.
            if self._list_left():
                raise rig.failure()
            self._is_given_up = True
            return
        judged = len(re.findall(r"^git bisect (?:good|bad) ", self._log(), re.MULTILINE))
        self._in_a_row = 1 if judged != self._judged else self._in_a_row + 1
        self._judged = judged
        self._skip((seen.commit,))
        self._skip_alike(seen)

    def _choose(self) -> None:
        """Tries the commit that is worth most, unless git can go on by itself or nothing is."""
        left = self._list_left()
        places = {oid: place for place, oid in enumerate(left)}
        skipped = self._list_skipped()
        unjudged = {places[oid] for oid in skipped if oid in places}
        if not unjudged:
            self._in_a_row = 0
            return
        place = choose_next([len(below) for below in left.values()], unjudged)
        if place is None:
            self._is_given_up = True
            return
        commit = Oid(list(left)[place])
        seen = self._rig.probe(commit)
        if _is_unjudged(seen):
            self._skip((commit,))
            self._skip_alike(seen)
        else:
            self._tell(_WORDS[_verdict(seen)], commit)

    def _tell(self, word: str, *commits: Oid) -> None:
        """Tells git, which ends in an error of its own where that is the end of the search."""
        names = (one.hex for one in commits)
        # It reads the paths again that it was started with.
        done = self._rig.tree.git("--no-literal-pathspecs", "bisect", word, *names, check=False)
        with self._rig.files.git_log.open("a", encoding="utf-8") as log:
            log.write(f"$ git bisect {word} {' '.join(one.short for one in commits)}\n{done.text}")
            log.write(done.error_text)
        if f"git bisect {word} {commits[-1].hex}" not in self._log():
            raise self._rig.failure()

    def _skip(self, commits: Iterable[Oid]) -> None:
        new = sorted(set(commits) - {Oid(hex_) for hex_ in self._list_skipped()})
        for start in range(0, len(new), _AT_ONCE):
            self._tell("skip", *new[start : start + _AT_ONCE])

    def _skip_alike(self, seen: Observation) -> None:
        """What is said of an environment that can't be installed holds for all its commits."""
        # Those too that leave the paths alone: they may be looked at later.
        done = self._rig.tree.git("rev-list", "refs/bisect/bad", *_goods(self._rig))
        alike = record_alike(self._rig, seen, [Oid(hex_) for hex_ in done.text.split()])
        left = self._list_left()
        self._skip(commit for commit in alike if commit.hex in left)

    def _list_unjudged(self) -> list[Observation]:
        return [seen for seen in self._rig.list_seen() if _is_unjudged(seen)]

    def _list_left(self) -> dict[str, set[str]]:
        """The commits of which one is the first bad one, parents first, each with all below it.

        The last one is known to be bad, and may be none of those that change the paths.
        """
        git = self._rig.tree.git
        bad = git("rev-parse", "--verify", "refs/bisect/bad").line
        done = git(
            "rev-list", "--parents", "--topo-order", "--reverse", bad, *_goods(self._rig),
            "--", *self._paths,
        )  # fmt: skip
        below: dict[str, set[str]] = {}
        for line in done.text.splitlines():
            oid, *parents = line.split()
            below[oid] = {oid}.union(*(below.get(parent, ()) for parent in parents))
        if below and bad not in below:
            below[bad] = {bad, *below}
        return below

    def _list_skipped(self) -> list[str]:
        done = self._rig.tree.git("for-each-ref", "--format=%(objectname)", "refs/bisect/skip-*")
        return done.text.split()

    def _is_skipped(self, commit: Oid) -> bool:
        return commit.hex in self._list_skipped()

    def _log(self) -> str:
        text = _read_state(self._rig, "BISECT_LOG")
        if text:
            self._rig.files.bisect_log.write_text(text, "utf-8")
        return text

    def _is_over(self) -> bool:
        return (
            re.search(r"^# (?:possible )?first bad commit: ", self._log(), re.MULTILINE) is not None
        )

    def _read_end(self) -> GitEnd:
        text = self._log()
        first = re.findall(r"^# first bad commit: \[(\w+)\]", text, re.MULTILINE)
        left = self._list_left()
        return GitEnd(
            first_bad=Oid(first[-1]) if first else None,
            earliest_bad=Oid(self._rig.tree.git("rev-parse", "--verify", "refs/bisect/bad").line),
            has_skipped=not first and any(oid in left for oid in self._list_skipped()),
        )


def _goods(rig: Rig) -> tuple[str, ...]:
    done = rig.tree.git("for-each-ref", "--format=^%(objectname)", "refs/bisect/good-*")
    return tuple(done.text.split())


def _read_state(rig: Rig, name: str) -> str:
    """One of the files in which git bisect keeps its state; empty where it has none."""
    path = Path(rig.tree.git("rev-parse", "--path-format=absolute", "--git-path", name).line)
    return path.read_text("utf-8", "backslashreplace") if path.exists() else ""


def _verdict(seen: Observation) -> Verdict:
    assert seen.judgement is not None  # noqa: S101 - only finished probes come here
    return seen.judgement.verdict


def _is_unjudged(seen: Observation) -> bool:
    return _verdict(seen) in (Verdict.UNTESTABLE, Verdict.DIFFERENT)


def _pathspec(path: str) -> str:
    """A path for `git bisect start`, which keeps its paths in a file of one line."""
    if "\n" not in path:
        return f":(top,literal){path}"
    return ":(top,glob)" + re.sub(r"([*?\[\]\\])", r"\\\1", path).replace("\n", "?")
