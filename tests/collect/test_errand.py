from __future__ import annotations

import threading
import time

import pytest

from envtrack.collect.errand import Errand


def test_what_came_of_it() -> None:
    assert Errand(lambda: 7).wait() == 7


def test_nothing_until_the_deadline() -> None:
    gate = threading.Event()
    errand = Errand(lambda: gate.wait(60))
    assert errand.wait(time.monotonic()) is None
    gate.set()
    assert errand.wait() is True


def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    def fail() -> int:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        Errand(fail).wait()
