from __future__ import annotations

from envtrack.compare.records import Part, Record, compare_records, list_misfits
from envtrack.model.fact import Known
from envtrack.model.layer import Layer
from envtrack.model.lock import Lock, LockedPackage, Source, SourceKind
from envtrack.model.snapshot import InstalledPackage, Snapshot

INDEX = Source(kind=SourceKind.REGISTRY, location="https://index.example.org/simple")


def lock(**versions: str | None) -> Lock:
    packages = tuple(
        LockedPackage(name=name.replace("_", "-"), version=version, source=INDEX)
        for name, version in versions.items()
    )
    return Lock(format="uv.lock", path="uv.lock", schema=1, packages=packages)


def snapshot(release: str = "6.8", **installed: str) -> Snapshot:
    return Snapshot(
        machine="box",
        taken_at="2026-01-02T03:04:05Z",
        facts={"kernel.release": Known(release), "packages.environment": Known("<project>/.venv")},
        installed={
            name.replace("_", "-"): InstalledPackage(name=name.replace("_", "-"), version=version)
            for name, version in installed.items()
        },
    )


def test_a_record_does_not_differ_from_itself() -> None:
    record = Record(name="a", lock=lock(wick="1.0"), snapshot=snapshot(wick="1.0"))
    found = compare_records(record, record)
    assert (found.changes, found.notes) == ((), ())


def test_locks_speak_for_packages_where_both_have_one() -> None:
    before = Record(name="a", lock=lock(wick="1.0"), snapshot=snapshot(wick="0.9"))
    after = Record(name="b", lock=lock(wick="1.1"), snapshot=snapshot("6.9", wick="0.8"))
    changes = compare_records(before, after).changes
    assert [(c.name, c.before, c.after) for c in changes] == [
        ("kernel.release", "6.8", "6.9"),
        ("wick", "1.0", "1.1"),
    ]


def test_what_is_installed_speaks_where_one_has_no_lock() -> None:
    before = Record(name="a", snapshot=snapshot(wick="1.0"))
    after = Record(name="b", lock=lock(wick="9"), snapshot=snapshot(wick="1.1"))
    (change,) = compare_records(before, after).changes
    assert (change.name, change.before, change.after) == ("wick", "1.0", "1.1")


def test_a_missing_lockfile_counts_as_empty_and_is_said() -> None:
    before = Record(name="a", lock=Part.MISSING, snapshot=snapshot())
    after = Record(name="b", lock=lock(wick="1.0"), snapshot=snapshot())
    found = compare_records(before, after)
    assert [c.name for c in found.changes] == ["wick"]
    assert found.notes == ("a: there is no lockfile; it is compared as empty",)


def test_two_lockfiles_have_no_facts_to_miss() -> None:
    found = compare_records(Record(name="a", lock=lock(wick="1")), Record(name="b", lock=lock()))
    assert found.notes == ()


def test_a_missing_snapshot_is_said_once() -> None:
    same = lock(wick="1")
    before = Record(name="a", lock=same, snapshot=Part.MISSING, notes=("a: not recorded here",))
    after = Record(name="b", lock=same, snapshot=snapshot("6.9"))
    found = compare_records(before, after)
    assert found.changes == ()
    assert found.notes == (
        "a: not recorded here",
        "only packages are compared: facts need a snapshot on both sides",
    )


def test_a_layer_can_be_asked_for_alone() -> None:
    before = Record(name="a", lock=lock(wick="1.0"), snapshot=snapshot())
    after = Record(name="b", lock=lock(wick="1.1"), snapshot=snapshot("6.9"))
    found = compare_records(before, after, layer=Layer.KERNEL)
    assert [c.name for c in found.changes] == ["kernel.release"]


def test_misfits_are_other_versions_and_what_is_not_locked() -> None:
    record = Record(
        name="a",
        lock=lock(wick="1.0", flint="2024.1.1", lab=None, torch="2.4.0+cu124", gone="1"),
        snapshot=snapshot(
            wick="1.1", flint="2024.01.01", lab="0.3", torch="2.4.0", stray="1", pip="24.0"
        ),
    )
    assert list_misfits(record) == (
        "stray 1 (not locked)",
        "torch 2.4.0 (locked: 2.4.0+cu124)",
        "wick 1.1 (locked: 1.0)",
    )


def test_many_misfits_are_counted() -> None:
    names = {f"p{n}": "2" for n in range(9)}
    record = Record(name="a", lock=lock(**dict.fromkeys(names, "1")), snapshot=snapshot(**names))
    (note,) = compare_records(record, record).notes
    assert note.endswith("p3 2 (locked: 1) and 5 more")


def test_no_installed_packages_are_no_misfit() -> None:
    record = Record(name="a", lock=lock(wick="1"), snapshot=snapshot())
    assert list_misfits(record) == ()
    assert list_misfits(Record(name="b")) == ()
