from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.errors import SnapshotProblem
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.oid import Oid
from envtrack.model.snapshot import (
    InstalledPackage,
    LockfileRef,
    Snapshot,
    fact_map,
    parse_snapshot,
    render_snapshot,
)

STATES: st.SearchStrategy[FactState] = st.one_of(
    st.builds(Known, st.one_of(st.text(), st.integers(), st.booleans())),
    st.builds(Absent),
    st.builds(Unknown, st.text()),
)
VERSIONS = st.one_of(st.text(), st.sampled_from(["1.0", "1 @ 2", "1 @", " @ "]))


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    packages = draw(
        st.lists(st.builds(InstalledPackage, name=st.text(), version=VERSIONS, origin=VERSIONS))
    )
    blob = st.text(alphabet="0123456789abcdef", min_size=40, max_size=40)
    lockfile = st.builds(LockfileRef, path=st.text(), blob=st.builds(Oid, blob))
    return Snapshot(
        machine=draw(st.text()),
        taken_at=draw(st.text()),
        facts=draw(st.dictionaries(st.text(), STATES)),
        installed={package.name: package for package in packages},
        lockfile=draw(st.one_of(st.none(), lockfile)),
    )


EXAMPLE = Snapshot(
    machine="lab1",
    taken_at="2026-01-02T03:04:05Z",
    facts={
        "os.distribution.name": Known("Débian"),
        "kernel.release": Known("6.8.0"),
        "packages.count": Known(2),
        "packages.duplicates": Absent(),
        "driver.nvidia.version": Unknown("timed out"),
    },
    installed={
        "torch": InstalledPackage(name="torch", version="2.5.1+cu124"),
        "lib": InstalledPackage(name="lib", version="0.1", origin="editable <project>/lib"),
    },
    lockfile=LockfileRef(path="uv.lock", blob=Oid("ab" * 20)),
)
RENDERED = """\
{
  "facts": {
    "driver.nvidia.version": {"unknown": "timed out"},
    "kernel.release": "6.8.0",
    "os.distribution.name": "Débian",
    "packages.count": 2,
    "packages.duplicates": null
  },
  "installed": {
    "lib": "0.1 @ editable <project>/lib",
    "torch": "2.5.1+cu124"
  },
  "lockfile": {
    "blob": "abababababababababababababababababababab",
    "path": "uv.lock"
  },
  "machine": "lab1",
  "schema": 1,
  "taken_at": "2026-01-02T03:04:05Z"
}
"""


@given(snapshots())
def test_parsing_what_was_rendered_gives_the_same(snapshot: Snapshot) -> None:
    text = render_snapshot(snapshot)
    assert parse_snapshot(text, where="s.json") == snapshot
    assert render_snapshot(parse_snapshot(text, where="s.json")) == text


@given(snapshots())
def test_the_text_is_json_and_one_fact_a_line(snapshot: Snapshot) -> None:
    text = render_snapshot(snapshot)
    assert json.loads(text)["schema"] == 1
    assert text.endswith("}\n")
    rows = [line for line in text.split("\n") if line.startswith("    ")]
    lockfile_rows = 0 if snapshot.lockfile is None else 2
    assert len(rows) == len(snapshot.facts) + len(snapshot.installed) + lockfile_rows


def test_the_canonical_form() -> None:
    assert render_snapshot(EXAMPLE) == RENDERED


def test_bytes_that_are_no_text_can_be_written_and_come_back() -> None:
    odd = replace(EXAMPLE, facts={"settings.X\udcfe": Known("\udcff")})
    text = render_snapshot(odd)
    text.encode("utf-8")
    assert parse_snapshot(text, where="s.json") == odd


def test_taken_at_is_kept_when_nothing_else_moved() -> None:
    later = replace(EXAMPLE, taken_at="2027-01-01T00:00:00Z")
    assert later.with_time_of(EXAMPLE) is EXAMPLE


@pytest.mark.parametrize("value", [Known(value=True), Known("1"), Unknown("1"), Absent()], ids=repr)
def test_taken_at_moves_with_any_fact(value: FactState) -> None:
    earlier = replace(EXAMPLE, facts={"a.b": Known(1)})
    later = replace(earlier, facts={"a.b": value}, taken_at="2027-01-01T00:00:00Z")
    assert later.with_time_of(earlier) is later


def test_the_last_word_on_a_fact_counts() -> None:
    facts = (Fact(name="a.b", state=Absent()), Fact(name="a.b", state=Known(1)))
    assert fact_map(facts) == {"a.b": Known(1)}


def test_keys_it_does_not_know_are_passed_over() -> None:
    document = {**json.loads(RENDERED), "later": {"a": [1]}}
    assert parse_snapshot(json.dumps(document), where="s.json") == EXAMPLE


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    assert parse_snapshot("\ufeff" + RENDERED.replace("\n", "\r\n"), where="s.json") == EXAMPLE


def test_a_newer_schema_is_refused_by_name() -> None:
    with pytest.raises(SnapshotProblem) as caught:
        parse_snapshot('{"schema": 2, "facts": 7}', where="s.json")
    assert caught.value.message == "s.json: schema 2 is newer than this envtrack reads (1)"
    assert caught.value.hint == "upgrade envtrack"


def test_broken_json_is_said_with_file_and_line() -> None:
    with pytest.raises(SnapshotProblem) as caught:
        parse_snapshot('{\n  "schema": 1,\n  "facts": {,}\n}', where="snap/s.json")
    assert caught.value.message.startswith("snap/s.json:3: not JSON: ")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_conflict_markers_are_said_as_such(ends: str) -> None:
    lines = RENDERED.split("\n")
    lines[3:4] = ["<<<<<<< HEAD", lines[3], "=======", lines[3], ">>>>>>> other"]
    with pytest.raises(SnapshotProblem) as caught:
        parse_snapshot(ends.join(lines), where="s.json")
    assert caught.value.message == "s.json:4: conflict markers of a merge"
    assert "snapshot --save" in caught.value.hint


FAULTS = {
    "a list": ("[1]", "it has no schema number"),
    "no schema": ("{}", "it has no schema number"),
    "a schema of true": ('{"schema": true}', "it has no schema number"),
    "a schema of 0": ('{"schema": 0}', "it has no schema number"),
    "no facts": ('{"schema": 1}', "'facts' is missing"),
    "facts as a list": ('{"schema": 1, "facts": []}', "facts must be an object"),
    "no machine": ('{"schema": 1, "facts": {}}', "'machine' is missing"),
    "a number as machine": ('{"schema": 1, "facts": {}, "machine": 1}', "machine must be a string"),
}
HEAD = '{"schema": 1, "machine": "m", "taken_at": "t", '
MORE_FAULTS = {
    "a fact as a float": (HEAD + '"facts": {"a.b": 1.5}}', "a.b: a fact can't be 1.5"),
    "a fact as a list": (HEAD + '"facts": {"a.b": []}}', "a.b: a fact can't be []"),
    "unknown without reason": (HEAD + '"facts": {"a.b": {}}}', "'unknown' is missing"),
    "a package as a number": (HEAD + '"facts": {}, "installed": {"a": 1}}', "a must be a string"),
    "a lockfile as text": (HEAD + '"facts": {}, "lockfile": ""}', "lockfile must be an object"),
    "a short blob": (
        HEAD + '"facts": {}, "lockfile": {"path": "uv.lock", "blob": "ab"}}',
        "not an object id: 'ab'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS | MORE_FAULTS)
def test_what_is_no_snapshot_is_said_in_words(fault: str) -> None:
    text, reason = (FAULTS | MORE_FAULTS)[fault]
    with pytest.raises(SnapshotProblem) as caught:
        parse_snapshot(text, where="s.json")
    assert caught.value.message == f"s.json: not a snapshot: {reason}"


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 10_000, ""])
def test_hostile_json_is_a_problem_and_no_crash(text: str) -> None:
    with pytest.raises(SnapshotProblem):
        parse_snapshot(text, where="s.json")
