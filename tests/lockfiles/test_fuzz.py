"""The fuzzer itself, for a few hundred rounds."""

from __future__ import annotations

from tests.lockfiles.fuzz import list_files, run_rounds
from tests.lockfiles.texts import FIXTURES


def test_what_is_nearly_a_lockfile_is_read_or_refused_and_everything_goes_on() -> None:
    files = list_files([FIXTURES])
    assert len(files) > 20
    found = [one for one in run_rounds(files, 7, iter(range(200))) if one is not None]
    assert found == []
