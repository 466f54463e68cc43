from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.compare.records import Part, Record, compare_records
from envtrack.compare.suspects import find_suspects
from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin
from envtrack.model.fact import Absent, FactState, Known
from envtrack.model.layer import Layer
from envtrack.model.lock import Artifact, Lock, LockedPackage, Source, SourceKind
from envtrack.model.snapshot import Snapshot
from envtrack.model.suspect import Suspicion
from envtrack.model.verdict import Verdict
from envtrack.report.look import Look, render_blocks
from envtrack.report.suspects import describe_suspicion, suspicion_blocks, suspicion_markdown

WIDE = Look(width=100)
DOCUMENT = Path(__file__).parents[2] / "docs" / "suspects.md"
INDEX = Source(kind=SourceKind.REGISTRY, location="https://registry.example/simple")


def package(
    name: str, version: str, wheel: str = "cp311-cp311-manylinux_2_17_x86_64"
) -> LockedPackage:
    filename = f"{name}-{version}-{wheel}.whl"
    return LockedPackage(
        name=name,
        version=version,
        source=INDEX,
        artifacts=(Artifact(filename=filename, location=filename, hash="sha256:aa"),),
    )


def record(name: str, verdict: Verdict | None, kernel: str, numpy: str) -> Record:
    root = LockedPackage(
        name="lab",
        version="0.1",
        source=Source(kind=SourceKind.VIRTUAL, location="."),
        requirements=("numpy", "torch"),
    )
    lock = Lock(
        format="uv.lock",
        path="uv.lock",
        schema=1,
        packages=(root, package("numpy", numpy), package("torch", "2.5.1")),
    )
    facts: dict[str, FactState] = {
        "kernel.release": Known(kernel),
        "driver.nvidia.version": Known("550.54.15"),
        "os.libc.version": Known("2.35"),
        "container.runtime": Absent(),
    }
    snapshot = Snapshot(
        machine="lab", taken_at="2026-01-01T00:00:00Z", facts=facts, installed={}, lockfile=None
    )
    return Record(name=name, lock=lock, snapshot=snapshot, verdict=verdict)


def worked(before: Verdict | None = Verdict.GOOD, after: Verdict | None = Verdict.BAD) -> Suspicion:
    older = record("HEAD~1", before, "6.8.0-45-generic", "2.1.3")
    newer = record("HEAD", after, "6.8.0-48-generic", "2.2.0")
    found = find_suspects(older, newer, compare_records(older, newer))
    assert found is not None
    return found


def test_the_worked_example_is_as_documented() -> None:
    told = render_blocks(list(suspicion_blocks(worked(), WIDE)), WIDE)
    block = DOCUMENT.read_text(encoding="utf-8").split("```")[1].strip("\n")
    lines = [line for line in told.strip("\n").splitlines() if "same on both sides: " not in line]
    assert lines == block.splitlines()


def test_two_suspects_and_numpy_alone_goes_back() -> None:
    found = worked()
    assert [suspect.change.name for suspect in found.suspects] == ["numpy", "kernel.release"]
    assert found.command == (
        "uv lock --upgrade-package numpy==2.1.3 && uv sync --locked && envtrack smoke"
    )
    assert found.cleared == (
        "the driver is the same on both sides, so the kernel did not break it through the driver",
        "the same on both sides: os",
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (Verdict.GOOD, Verdict.GOOD, "nothing to suspect"),
        (Verdict.BAD, Verdict.BAD, "nothing to suspect"),
        (Verdict.GOOD, Verdict.UNTESTABLE, "nothing to suspect"),
        (Verdict.BAD, Verdict.GOOD, "one of these changes healed it"),
        (None, Verdict.BAD, "of HEAD~1 there is no verdict"),
        (Verdict.GOOD, None, "of HEAD there is no verdict"),
    ],
)
def test_what_the_verdicts_say(before: Verdict | None, after: Verdict | None, said: str) -> None:
    assert said in worked(before, after).situation


def test_without_verdicts_nothing_is_said() -> None:
    older = record("a", None, "6", "1")
    assert find_suspects(older, older, compare_records(older, older)) is None


def change(name: str, before: str, after: str, **more: object) -> Change:
    values = {"layer": Layer.PACKAGES, "kind": ChangeKind.UPGRADED, "origin": Origin.ROOT, **more}
    return Change(name=name, before=before, after=after, **values)  # type: ignore[arg-type]


def suspect(*changes: Change, failed: Layer | None = None, form: str = "uv.lock") -> Suspicion:
    good = Record(name="a", lock=Part.NOT_MEANT, verdict=Verdict.GOOD)
    lock = Lock(format=form, path=form, schema=1)
    bad = Record(name="b", lock=lock, verdict=Verdict.BAD)
    comparison = Comparison(before="a", after="b", changes=changes)
    found = find_suspects(good, bad, comparison, failed_layer=failed)
    assert found is not None
    return found


def names(found: Suspicion) -> list[str]:
    return [one.change.name for one in found.suspects]


def test_major_before_minor_before_patch_and_asked_for_before_what_follows() -> None:
    found = suspect(
        change("patch", "1.0.0", "1.0.1"),
        change("follower", "1.0", "2.0", origin=Origin.FORCED),
        change("minor", "1.0", "1.1"),
        change("major", "1.9", "2.0"),
        change("pre", "2.0rc1", "2.0rc2", origin=Origin.FORCED),
        change("rebuilt", "1.0", "1.0", kind=ChangeKind.REBUILD),
    )
    assert names(found) == ["major", "rebuilt", "minor", "follower", "patch", "pre"]


def test_the_layer_that_the_error_names_and_those_below_come_first() -> None:
    kernel = change("kernel.release", "1", "2", layer=Layer.KERNEL, origin=Origin.NOT_KNOWN)
    minor = change("minor", "1.0", "1.1", origin=Origin.NOT_KNOWN)
    assert names(suspect(kernel, minor)) == ["minor", "kernel.release"]
    assert names(suspect(kernel, minor, failed=Layer.DRIVER)) == ["kernel.release", "minor"]


def test_of_many_about_half_goes_back() -> None:
    found = suspect(*(change(f"p{number}", "1.0", "1.1") for number in range(6)))
    assert found.next_step.startswith("put only p0, p1 and p2 back")
    assert "--upgrade-package p2==1.0" in found.command
    assert "p3" not in found.command


def test_no_command_of_uvs_is_given_for_another_tools_lockfile() -> None:
    found = suspect(change("numpy", "1.0", "2.0"), form="poetry.lock")
    assert found.next_step.startswith("put only numpy back")
    assert found.command == ""


@pytest.mark.parametrize("name", ["a; rm -rf x", "a\nb", "$(x)", "--index-url=x", "a```b"])
def test_what_is_no_plain_name_never_stands_in_a_command(name: str) -> None:
    found = suspect(change(name, "1.0", "2.0"), change("plain", "1.0", "1.1"))
    assert found.command == (
        "uv lock --upgrade-package plain==1.0 && uv sync --locked && envtrack smoke"
    )
    assert suspect(change("plain", "1.0 x", "2.0")).command == ""


def test_a_kernel_alone_needs_a_person() -> None:
    found = suspect(change("kernel.release", "6.8.0-45", "6.8.0-48", layer=Layer.KERNEL))
    assert found.command == ""
    assert found.next_step == (
        "boot the kernel from before (kernel.release 6.8.0-45), and run the smoke test"
    )


def test_nothing_differs_and_it_fails_all_the_same() -> None:
    assert "flaky" in suspect().next_step


def test_markdown_and_json_say_the_same() -> None:
    told = "\n".join(suspicion_markdown(worked()))
    assert "1. numpy: 2.1.3 → 2.2.0" in told
    assert "```sh\nuv lock" in told
    document = describe_suspicion(worked())
    assert document["suspects"][0]["because"] == ["minor release", "asked for", "compiled"]
