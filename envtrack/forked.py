"""A long row of like work, done by several processors at once."""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# Each holds its own share of what was read: more would need more memory than they are worth.
_MOST: Final = 3


def map_parts(
    function: Callable[[Sequence[_Item]], list[_Result]],
    items: Sequence[_Item],
    *,
    weights: Sequence[int],
    least: int,
) -> list[_Result]:
    """The results of `function` for consecutive parts of `items`, one after the other.

    Each part has a process of its own, as far as there are processors; a part whose process ends
    early is worked on here once more, so that errors are raised here. Where processes can't be
    forked safely, all of it is done here.

    Args:
        function: called in a copy of this process: what it changes is lost, what it returns is
            pickled. It may rely on no thread that runs now.
        items: all of them.
        weights: how much work each of them is, in any unit.
        least: how much of it is worth a process.
    """
    count = min(_count_processors(), _MOST, sum(weights) // least)
    if count <= 1 or sys.platform != "linux":
        return function(items)
    done = list(accumulate(weights))
    ends = [bisect_left(done, done[-1] * part / count) + 1 for part in range(1, count)]
    first, *others = (items[at:end] for at, end in pairwise((0, *ends, len(items))))
    with _started(function, others) as running:
        results = function(first)
        for part, (_, pipe) in zip(others, running, strict=True):
            results += _receive(pipe) or function(part)
    return results


def _count_processors() -> int:
    """How many this process may use: on a shared machine fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@contextmanager
def _started(
    function: Callable[[Sequence[_Item]], list[_Result]], parts: Sequence[Sequence[_Item]]
) -> Iterator[list[tuple[ForkProcess, Connection]]]:
    from multiprocessing import get_context

    context = get_context("fork")
    running: list[tuple[ForkProcess, Connection]] = []
    try:
        for part in parts:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(function, part, theirs), daemon=True)
            process.start()
            theirs.close()
            running.append((process, ours))
        yield running
    finally:
        for process, pipe in running:
            pipe.close()
            process.terminate()
            process.join()


def _work(
    function: Callable[[Sequence[_Item]], list[_Result]], part: Sequence[_Item], pipe: Connection
) -> None:
    """What a process does; one that fails says nothing, and its part is done again."""
    try:
        pipe.send(function(part))
    except BaseException:  # noqa: BLE001 - Ctrl-C reaches the parent too
        os._exit(1)


def _receive(pipe: Connection) -> list[_Result] | None:
    try:
        results: list[_Result] = pipe.recv()
    except (EOFError, OSError):
        return None
    return results
