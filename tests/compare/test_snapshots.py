from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.compare.installed import find_version_change
from envtrack.compare.snapshots import compare_notes, compare_snapshots, leave_out_repeats
from envtrack.model.comparison import Change, ChangeKind, Origin, sort_changes
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.layer import Layer
from envtrack.model.snapshot import InstalledPackage, Snapshot

NAMES = ("kernel.release", "driver.nvidia.version", "os.libc.name", "settings.CUDA_HOME", "new.x")


def snapshot(
    facts: Mapping[str, FactState] | None = None, **installed: str | tuple[str, str]
) -> Snapshot:
    packages = {}
    for key, value in installed.items():
        version, origin = (value, "") if isinstance(value, str) else value
        name = key.replace("_", "-")
        packages[name] = InstalledPackage(name=name, version=version, origin=origin)
    return Snapshot(machine="lab", taken_at="t", facts=facts or {}, installed=packages)


def only(before: Snapshot, after: Snapshot) -> Change:
    (change,) = compare_snapshots(before, after)
    return change


KNOWN = st.builds(Known, st.one_of(st.sampled_from(["1", "1.2", "2"]), st.booleans(), st.just(1)))
STATES: st.SearchStrategy[FactState] = st.one_of(
    KNOWN, st.builds(Absent), st.builds(Unknown, st.sampled_from(["timed out", "not recorded"]))
)
VERSIONS = st.sampled_from(["1.0", "1.0+cu124", "1.0+cpu", "2.0", "2.0rc1", "odd!"])


@st.composite
def snapshots(draw: st.DrawFn, states: st.SearchStrategy[FactState] = STATES) -> Snapshot:
    names = draw(st.sets(st.sampled_from(["torch", "numpy", "nvidia-cublas"])))
    return Snapshot(
        machine="lab",
        taken_at=draw(st.sampled_from(["a", "b"])),
        facts=draw(st.dictionaries(st.sampled_from(NAMES), states)),
        installed={
            name: InstalledPackage(
                name=name,
                version=draw(VERSIONS),
                origin=draw(st.sampled_from(["", "conda h_0", "conda h_1", "editable <project>"])),
            )
            for name in names
        },
    )


@given(snapshots())
def test_a_snapshot_does_not_differ_from_itself(one: Snapshot) -> None:
    assert compare_snapshots(one, one) == ()


@given(snapshots(), snapshots())
def test_changes_are_sorted_and_each_thing_is_named_once(one: Snapshot, two: Snapshot) -> None:
    changes = compare_snapshots(one, two)
    assert changes == sort_changes(changes)
    assert len({change.name for change in changes}) == len(changes)
    assert all(change.origin is Origin.NOT_KNOWN for change in changes)
    assert all(change.before is not None or change.after is not None for change in changes)


@given(snapshots(KNOWN), snapshots(KNOWN))
def test_the_way_back_is_the_reverse(one: Snapshot, two: Snapshot) -> None:
    reverse = {
        ChangeKind.ADDED: ChangeKind.REMOVED,
        ChangeKind.REMOVED: ChangeKind.ADDED,
        ChangeKind.UPGRADED: ChangeKind.DOWNGRADED,
        ChangeKind.DOWNGRADED: ChangeKind.UPGRADED,
    }
    there = {
        (c.name, reverse.get(c.kind, c.kind), c.after, c.before)
        for c in compare_snapshots(one, two)
    }
    back = {(c.name, c.kind, c.before, c.after) for c in compare_snapshots(two, one)}
    assert there == back


@pytest.mark.parametrize(
    ("name", "before", "after", "kind"),
    [
        ("kernel.release", "6.8.0-45-generic", "6.8.0-47-generic", ChangeKind.UPGRADED),
        ("driver.nvidia.version", "560.35.03", "535.183.01", ChangeKind.DOWNGRADED),
        ("python.uv", "0.9.2", "0.13.9", ChangeKind.UPGRADED),
        ("os.libc.version", "1.2.5-r0", "1.2.5-r10", ChangeKind.UPGRADED),
        ("kernel.release", "6.8.0-generic", "6.8.0-lowlatency", ChangeKind.CHANGED),
        ("os.distribution.version", "sid", "12", ChangeKind.CHANGED),
        ("kernel.build", "#1 SMP", "#2 SMP", ChangeKind.CHANGED),
        ("kernel.newest-installed", "5.14.0-503.el9", "5.14.0-503.8.1.el9", ChangeKind.UPGRADED),
        ("os.libstdcxx.glibcxx", "3.4.9", "3.4.30", ChangeKind.UPGRADED),
        ("os.libstdcxx.cxxabi", "1.3.13", "1.3.9", ChangeKind.DOWNGRADED),
        ("framework.torch.version", "2.6.0", "2.6.0rc1", ChangeKind.DOWNGRADED),
        ("framework.torch.version", "2.6.0+cu124", "2.6.0+cpu", ChangeKind.VARIANT),
        ("cuda-runtime.cublas", "12.4.5.8", "12.10.1.0", ChangeKind.UPGRADED),
        ("cuda-runtime.cublas", "12.4.5.8", "12.4.5.8 | 13.0.96", ChangeKind.CHANGED),
        ("cuda-runtime.majors", "12", "13", ChangeKind.CHANGED),
        ("cuda-runtime.shadows", "1", "2", ChangeKind.CHANGED),
        ("settings.UV_FROZEN", "1", "true", ChangeKind.CHANGED),
    ],
)
def test_facts_with_an_order_go_up_or_down(
    name: str, before: str, after: str, kind: ChangeKind
) -> None:
    change = only(snapshot({name: Known(before)}), snapshot({name: Known(after)}))
    assert (change.kind, change.before, change.after) == (kind, before, after)
    assert change.layer is Layer(name.partition(".")[0])


KNOWN_TO_BE_RECORDED = {"driver.kind": Known("nvidia")}
FACT = "driver.nvidia.library"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (Known("1"), Absent(), ChangeKind.REMOVED),
        (Absent(), Known("1"), ChangeKind.ADDED),
        (Known("1"), None, ChangeKind.REMOVED),
        (None, Known("1"), ChangeKind.ADDED),
        (Known(1), Known(value=True), ChangeKind.CHANGED),
        (Known("1"), Unknown("timed out"), ChangeKind.CHANGED),
        (Unknown("timed out"), Known("1"), None),
        (Unknown("timed out"), Unknown("not permitted"), None),
        (Unknown("timed out"), Absent(), None),
        (Unknown("timed out"), None, None),
        (Absent(), Unknown("timed out"), None),
        (None, Unknown("timed out"), None),
        (None, Absent(), None),
    ],
)
def test_known_absent_and_unknown_are_never_confused(
    before: FactState | None, after: FactState | None, kind: ChangeKind | None
) -> None:
    one = snapshot({**KNOWN_TO_BE_RECORDED, **({FACT: before} if before else {})})
    two = snapshot({**KNOWN_TO_BE_RECORDED, **({FACT: after} if after else {})})
    assert [change.kind for change in compare_snapshots(one, two)] == ([kind] if kind else [])


def test_what_can_no_longer_be_seen_says_why() -> None:
    change = only(
        snapshot({FACT: Known("1")}),
        snapshot({FACT: Unknown("timed out")}),
    )
    assert change.after == "unknown (timed out)"


def test_a_layer_that_nobody_looked_at_is_no_change_but_a_note() -> None:
    old = snapshot({"kernel.release": Known("6")})
    new = snapshot({"kernel.release": Known("6"), "driver.kind": Known("nvidia")})
    assert compare_snapshots(old, new) == compare_snapshots(new, old) == ()
    assert compare_notes(old, new) == ("driver: not recorded in the older snapshot",)
    assert compare_notes(new, old) == ("driver: not recorded in the newer snapshot",)


def test_unknown_facts_are_noted_on_their_side() -> None:
    odd = snapshot({FACT: Unknown("timed out")})
    fine = snapshot({FACT: Known("1")})
    assert compare_notes(odd, fine) == (f"{FACT}: unknown in the older snapshot (timed out)",)
    assert compare_notes(fine, odd) == (f"{FACT}: unknown in the newer snapshot (timed out)",)


@pytest.mark.parametrize(
    ("reasons", "line"),
    [
        ({"a": ("no", "no")}, "1 fact is unknown on both sides"),
        ({"a": ("no", "no"), "b": ("no", "timed out")}, "2 facts are unknown on both sides"),
    ],
)
def test_what_is_unknown_on_both_sides_is_one_line(
    reasons: Mapping[str, tuple[str, str]], line: str
) -> None:
    one, two = (
        snapshot({f"driver.{name}": Unknown(pair[side]) for name, pair in reasons.items()})
        for side in (0, 1)
    )
    assert compare_notes(one, two) == (line,)


def cublas_moved(before: str = "12.4.5.8", after: str = "12.6.4.1") -> list[Change]:
    fact = "cuda-runtime.cublas"
    return [*compare_snapshots(snapshot({fact: Known(before)}), snapshot({fact: Known(after)}))]


def test_a_component_that_moved_with_its_wheel_is_said_once() -> None:
    wheel = only(snapshot(nvidia_cublas_cu12="12.4.5.8"), snapshot(nvidia_cublas_cu12="12.6.4.1"))
    assert leave_out_repeats([*cublas_moved(), wheel]) == (wheel,)


def test_the_wheel_of_another_component_or_to_another_version_repeats_nothing() -> None:
    other = only(snapshot(nvidia_cufft_cu12="12.4.5.8"), snapshot(nvidia_cufft_cu12="12.6.4.1"))
    further = only(snapshot(nvidia_cublas_cu12="12.4.5.8"), snapshot(nvidia_cublas_cu12="13"))
    for one in (other, further):
        assert len(leave_out_repeats([*cublas_moved(), one])) == 2


def test_a_component_that_goes_from_one_wheel_to_another_is_said_beside_both() -> None:
    wheels = compare_snapshots(
        snapshot(nvidia_cublas_cu12="12.4.5.8"), snapshot(nvidia_cublas="13.0.0.19")
    )
    changes = (*cublas_moved(after="13.0.0.19"), *wheels)
    assert leave_out_repeats(changes) == changes


def test_a_component_of_no_package_is_said() -> None:
    assert leave_out_repeats(cublas_moved()) == tuple(cublas_moved())


def test_a_setting_without_a_line_is_not_set() -> None:
    change = only(snapshot(), snapshot({"settings.CUDA_HOME": Known("/opt/cuda")}))
    assert (change.kind, change.layer) == (ChangeKind.ADDED, Layer.SETTINGS)


def test_a_collector_that_fails_is_one_change_and_not_one_a_fact() -> None:
    one = snapshot({"kernel.release": Known("6"), "kernel.build": Known("#1")})
    two = snapshot({"kernel.collector": Unknown("not permitted")})
    change = only(one, two)
    assert (change.name, change.before, change.after) == (
        "kernel.collector",
        "recorded",
        "unknown (not permitted)",
    )
    assert compare_snapshots(two, one) == ()


def test_a_layer_of_a_newer_envtrack_stands_on_top() -> None:
    change = only(snapshot({"orbit.height": Known(1)}), snapshot({"orbit.height": Known(2)}))
    assert change.layer is Layer.SETTINGS


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("2.5.1", "2.6.0", ChangeKind.UPGRADED),
        ("2.6.0", "2.6.0rc1", ChangeKind.DOWNGRADED),
        ("2.5.1+cu124", "2.5.1+cpu", ChangeKind.VARIANT),
        ("2.5.1+cpu", "2.5.1", ChangeKind.VARIANT),
        ("2.5.1+cu124", "2.4.0+cu999", ChangeKind.DOWNGRADED),
        ("1!1.0", "2.0", ChangeKind.DOWNGRADED),
        ("1.0", "1.0.0", ChangeKind.CHANGED),
        ("1.0", "odd!", ChangeKind.CHANGED),
    ],
)
def test_versions_differ_in_ways(before: str, after: str, kind: ChangeKind) -> None:
    assert find_version_change(before, after) is kind


def test_packages_go_to_their_layers_from_the_ground_up() -> None:
    one = snapshot(numpy="1.0", torch="2.5.1", nvidia_cublas_cu12="12.4")
    two = snapshot(numpy="2.0", torch="2.6.0", nvidia_cublas_cu12="12.6")
    assert [(c.layer, c.name) for c in compare_snapshots(one, two)] == [
        (Layer.CUDA_RUNTIME, "nvidia-cublas-cu12"),
        (Layer.FRAMEWORK, "torch"),
        (Layer.PACKAGES, "numpy"),
    ]


def test_packages_come_and_go() -> None:
    changes = compare_snapshots(snapshot(old="1"), snapshot(new=("2", "editable <project>")))
    assert [(c.kind, c.name, c.before, c.after, c.detail) for c in changes] == [
        (ChangeKind.ADDED, "new", None, "2", "editable <project>"),
        (ChangeKind.REMOVED, "old", "1", None, ""),
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("", "editable <project>/lib", ChangeKind.SOURCE),
        ("git+https://git.example/a@1", "git+https://git.example/a@2", ChangeKind.SOURCE),
        ("conda h_0", "conda h_1", ChangeKind.REBUILD),
        ("conda h_0", "", ChangeKind.SOURCE),
    ],
)
def test_one_version_from_elsewhere_is_a_source_or_a_rebuild(
    before: str, after: str, kind: ChangeKind
) -> None:
    change = only(snapshot(a=("1", before)), snapshot(a=("1", after)))
    assert (change.kind, change.before, change.after, change.detail) == (
        kind,
        before or "index",
        after or "index",
        "1",
    )


def test_a_new_version_from_elsewhere_says_both() -> None:
    change = only(snapshot(a="1"), snapshot(a=("2", "editable <project>")))
    assert (change.kind, change.before, change.after) == (ChangeKind.UPGRADED, "1", "2")
    assert change.detail == "source: index → editable <project>"
    change = only(snapshot(a=("1", "conda h_0")), snapshot(a=("2", "conda h_1")))
    assert change.detail == ""


def test_a_package_that_can_not_be_read_any_more_is_not_removed() -> None:
    broken = snapshot({"packages.installed.torch": Unknown("METADATA is missing")})
    change = only(snapshot(torch="2.5.1"), broken)
    assert (change.kind, change.layer) == (ChangeKind.CHANGED, Layer.FRAMEWORK)
    assert change.after == "unknown (METADATA is missing)"


@pytest.mark.parametrize("state", [Absent(), Unknown("not permitted")])
def test_an_environment_that_is_gone_is_one_change(state: FactState) -> None:
    there = {"packages.environment": Known("<project>/.venv"), "packages.count": Known(2)}
    one = snapshot(there, torch="2.5.1", numpy="1.0")
    two = snapshot({"packages.environment": state})
    change = only(one, two)
    assert change.name == "packages.environment"
    assert change.detail == "2 packages before, 0 after"


def test_half_a_listing_is_not_compared() -> None:
    there: dict[str, FactState] = {"packages.environment": Known("<project>/.venv")}
    half = snapshot({"packages.collector": Unknown("input/output error")})
    assert only(snapshot(there, torch="2.5.1"), half).name == "packages.collector"


def test_the_count_follows_from_the_packages() -> None:
    one = snapshot({"packages.count": Known(1)}, a="1")
    two = snapshot({"packages.count": Known(2)}, a="1", b="1")
    assert only(one, two).name == "b"
