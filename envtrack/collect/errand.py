"""Work in a thread of its own, which may never come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Errand(Generic[_T]):
    """Something that is done at once, beside everything else.

    A thread of `concurrent.futures` would keep the process from ending when it hangs, and its
    import takes 10 ms.
    """

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self._done: list[_T] = []
        self._failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self, deadline: float | None = None) -> _T | None:
        """What came of it; ``None``: nothing until the deadline (`time.monotonic`).

        Raises:
            BaseException: what the work raised.
        """
        self._thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        if self._failed:
            raise self._failed[0]
        return self._done[0] if self._done else None

    def _run(self) -> None:
        try:
            self._done.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self._failed.append(error)
