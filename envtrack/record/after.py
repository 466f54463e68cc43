"""What the hooks do after something has happened: post-commit, -merge, -checkout, -rewrite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from envtrack.errors import CommandFailed
from envtrack.record.beside import TakesSnapshots
from envtrack.record.memory import HookMemory
from envtrack.record.square import square_index

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.git.staged import StagedPath
    from envtrack.record.arrived import Arrivals


class Afterwards(NamedTuple):
    """One of these hooks at work.

    Attributes:
        repository: where.
        environ: the environment in which we were called.
        take: looks at the machine.
        say: tells the user a line.
    """

    repository: Repository
    environ: Mapping[str, str]
    take: TakesSnapshots
    say: Callable[[str], None]

    def run(
        self, name: str, given: Sequence[str], *, read_input: Callable[[], str]
    ) -> tuple[str, ...]:
        """Does what a hook does.

        Args:
            name: git's name of it.
            given: what git passed on to it.
            read_input: reads what git sent it.

        Returns:
            What could not be done, a line each.

        Raises:
            EnvtrackError: nothing could be done.
        """
        if self.repository.is_bare:
            return ()
        match name:
            case "post-commit":
                return self._follow_commit()
            case "post-merge" if tuple(given[:1]) == ("1",):
                return self._follow("--cached", is_committed=False)
            case "post-merge":
                return self._follow("ORIG_HEAD", "HEAD")
            case "post-checkout":
                return self._follow(*given[:2], is_committed=False)
            case _:
                return self._follow_rewriting(read_input())

    def _follow_commit(self) -> tuple[str, ...]:
        square_index(self.repository)
        memory = HookMemory(self.repository.git_dir)
        came = self._list("HEAD^", "HEAD")
        waiting = memory.read_waiting()
        if waiting:
            from envtrack.git.staged import list_tracked

            known = {each.path for each in came}
            came += tuple(
                each for each in list_tracked(self.repository, waiting) if each.path not in known
            )
            memory.wait_for({}, instead_of=waiting)
        return self._open().record(came) if came else ()

    def _follow_rewriting(self, said: str) -> tuple[str, ...]:
        from envtrack.record.rewritten import copy_notes, parse_rewritten

        pairs = parse_rewritten(said)
        copy_notes(self.repository, pairs)
        # A rebase notes where it began; an amended commit is one pair.
        older = pairs[0][0].hex if len(pairs) == 1 else "ORIG_HEAD"
        return self._follow(older, "HEAD")

    def _follow(self, *span: str, is_committed: bool = True) -> tuple[str, ...]:
        """Says how the environment stands to the lockfiles that came, and records them."""
        came = self._list(*span)
        if not came:
            return ()
        arrivals = self._open()
        for line in arrivals.report(came):
            self.say(line)
        return arrivals.record(came) if is_committed else ()

    def _list(self, *span: str) -> tuple[StagedPath, ...]:
        from envtrack.git.staged import find_tree
        from envtrack.record.arrived import list_arrived

        settings = HookMemory(self.repository.git_dir).read_settings(self.repository.root)
        try:
            return list_arrived(self.repository, settings, *span)
        except CommandFailed:
            # A first commit has no parent, and what ORIG_HEAD named may be gone.
            older = find_tree(self.repository, span[0])
            return list_arrived(self.repository, settings, older, *span[1:])

    def _open(self) -> Arrivals:
        from envtrack.record.arrived import Arrivals

        memory = HookMemory(self.repository.git_dir)
        settings = memory.read_settings(self.repository.root)
        return Arrivals(self.repository, memory, settings, self.environ, self.take)
