from __future__ import annotations

import pytest

from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.layer import Layer
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import found, judge, kernel, make_step, policy

BEFORE = (
    project("torch", "numpy", "scipy"),
    pinned("torch", "2.5.1", "triton", "nvidia-cudnn-cu12"),
    pinned("triton", "3.1.0"),
    pinned("nvidia-cudnn-cu12", "9.1.0"),
    pinned("numpy", "2.1.3"),
    pinned("scipy", "1.14.0"),
)


def move(**versions: str) -> tuple[str, ...]:
    told = list(BEFORE)
    for name, version in versions.items():
        at = next(n for n, text in enumerate(told) if f'name = "{name}"\nversion' in text)
        needs = ("triton", "nvidia-cudnn-cu12") if name == "torch" else ()
        told[at] = pinned(name, version, *needs)
    return tuple(told)


def test_one_layer_passes_with_all_that_follows_from_it() -> None:
    after = move(torch="2.6.0", triton="3.2.0", **{"nvidia-cudnn-cu12": "9.5.0"})
    assert found(policy(), make_step(BEFORE, after)) == []


def test_two_layers_are_told_with_the_way_to_part_them() -> None:
    (breach,) = judge(policy(), make_step(BEFORE, move(torch="2.6.0", numpy="2.2.0")))
    assert breach.rule == "one-layer"
    assert breach.found == (
        "2 layers move, 1 may: framework with cuda-runtime (torch 2.5.1 → 2.6.0); "
        "packages (numpy 2.1.3 → 2.2.0)"
    )
    assert breach.ways_out == (
        "let each layer have a commit of its own, lowest first: `envtrack split`",
        (
            "put the upper ones back, commit, and move them in a commit of their own: "
            "`uv lock --upgrade-package numpy==2.1.3`"
        ),
    )
    assert breach.names == ("torch", "numpy")


def test_the_way_to_part_a_commit_is_to_replace_it_if_it_is_the_last() -> None:
    step = make_step(BEFORE, move(torch="2.6.0", numpy="2.2.0"))
    (breach,) = judge(policy(), step._replace(is_committed=True, lockfile="my lab/uv.lock"))
    assert breach.ways_out[0] == (
        "if it is the last commit and not published, let each layer have a commit of its own: "
        "`envtrack split HEAD --lockfile 'my lab/uv.lock'`"
    )


def test_a_layer_of_the_machine_counts_and_is_to_be_recorded_first() -> None:
    step = make_step(BEFORE, move(numpy="2.2.0"), facts=(kernel(),), machine="box")
    (breach,) = judge(policy(), step)
    assert breach.found == (
        "2 layers move, 1 may: kernel (kernel.release 6.8.0-45 → 6.8.0-48); "
        "packages (numpy 2.1.3 → 2.2.0)"
    )
    assert breach.ways_out == (
        (
            "record and smoke-test the kernel before the lockfile moves: "
            "`git stash && envtrack snapshot --commit -m 'kernel of box' && envtrack smoke; "
            "git stash pop`"
        ),
    )


def test_what_moved_on_the_machine_alone_is_no_step_of_the_lockfile() -> None:
    assert found(policy(), make_step(BEFORE, BEFORE, facts=(kernel(),))) == []


@pytest.mark.parametrize(
    ("layer", "name", "counts"),
    [
        (Layer.DRIVER, "driver.nvidia.version", True),
        (Layer.TOOLCHAIN, "toolchain.gcc.version", True),
        (Layer.PYTHON, "python.version", True),
        (Layer.PYTHON, "python.tool.uv", False),
        (Layer.PYTHON, "python.environment.kind", False),
        (Layer.FRAMEWORK, "framework.torch.version", False),
        (Layer.CUDA_RUNTIME, "cuda-runtime.cudnn", False),
        (Layer.PACKAGES, "packages.environment", False),
    ],
)
def test_what_follows_a_lockfile_late_is_no_layer_of_the_machine(
    layer: Layer, name: str, *, counts: bool
) -> None:
    fact = Change(layer=layer, name=name, kind=ChangeKind.CHANGED, before="1", after="2")
    told = found(policy(), make_step(BEFORE, move(numpy="2.2.0"), facts=(fact,)))
    assert [rule for rule, _ in told] == ["one-layer"] * counts


@pytest.mark.parametrize(
    ("layer", "name", "before", "after", "counts"),
    [
        (Layer.DRIVER, "driver.nvidia.version", None, "550", True),
        (Layer.DRIVER, "driver.nvidia.version", "550", None, True),
        (Layer.DRIVER, "driver.nvidia.version", "550", "unknown (timed out)", False),
        (Layer.PYTHON, "python.version", None, "3.12.1", False),
        (Layer.PYTHON, "python.version", "3.12.1", None, False),
        (Layer.PYTHON, "python.version", "3.12.1", "3.12.2", True),
    ],
)
def test_what_cant_be_seen_did_not_move(
    layer: Layer, name: str, before: str | None, after: str | None, *, counts: bool
) -> None:
    fact = Change(layer=layer, name=name, kind=ChangeKind.CHANGED, before=before, after=after)
    told = found(policy(), make_step(BEFORE, move(numpy="2.2.0"), facts=(fact,)))
    assert [rule for rule, _ in told] == ["one-layer"] * counts


def test_settings_do_not_count_unless_asked_for() -> None:
    setting = Change(
        layer=Layer.SETTINGS,
        name="settings.OMP_NUM_THREADS",
        kind=ChangeKind.CHANGED,
        before="1",
        after="8",
    )
    step = make_step(BEFORE, move(numpy="2.2.0"), facts=(setting,))
    assert found(policy(), step) == []
    assert [rule for rule, _ in found(policy("one-layer: {ignore: []}"), step)] == ["one-layer"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("one-layer: {layers: 2}", ""),
        ("one-layer: {level: off}", ""),
        ("one-layer: {together: [[framework, packages]]}", ""),
        (
            "one-layer: {together: [], layers: 2, count-forced: true}",
            (
                "3 layers move, 2 may: cuda-runtime (nvidia-cudnn-cu12 9.1.0 → 9.5.0); "
                "framework (torch 2.5.1 → 2.6.0); packages (numpy 2.1.3 → 2.2.0)"
            ),
        ),
        (
            "one-layer: {layers: 2, own-layer: [NumPy, 'sci*']}",
            (
                "3 layers move, 2 may: framework with cuda-runtime (torch 2.5.1 → 2.6.0); "
                "package numpy (numpy 2.1.3 → 2.2.0); package scipy (scipy 1.14.0 → 1.15.0)"
            ),
        ),
        (
            "one-layer: {layers: 2, root-packages: 2}",
            "3 packages were asked for at once, 2 may: numpy, scipy, torch",
        ),
    ],
)
def test_what_counts_as_a_layer_is_the_projects_to_say(rules: str, said: str) -> None:
    moved = {"torch": "2.6.0", "nvidia-cudnn-cu12": "9.5.0", "numpy": "2.2.0"}
    if "sci" in rules or "root" in rules:
        moved["scipy"] = "1.15.0"
    told = [text for _, text in found(policy(rules), make_step(BEFORE, move(**moved)))]
    assert told == ([said] if said else [])


def test_a_lockfile_that_comes_goes_or_held_nothing_moves_nothing() -> None:
    after = move(torch="2.6.0", numpy="2.2.0")
    for before, new in ((None, after), (BEFORE, None), ((), after)):
        assert found(policy("record: {level: off}"), make_step(before, new)) == []


def test_a_marker_and_the_projects_own_version_are_no_moves() -> None:
    after = tuple(text.replace('version = "0.1"', 'version = "0.2"') for text in BEFORE)
    other = tuple(
        text.replace('{ name = "scipy" }', '{ name = "scipy", marker = "os_name == \'nt\'" }')
        for text in move(torch="2.6.0")
    )
    assert found(policy(), make_step(BEFORE, after)) == []
    assert found(policy(), make_step(BEFORE, other)) == []


def test_the_pythons_that_a_lock_is_for_are_a_layer() -> None:
    step = make_step(BEFORE, move(numpy="2.2.0"))
    moved = Change(
        layer=Layer.PYTHON,
        name="requires-python",
        kind=ChangeKind.CHANGED,
        before=">=3.11",
        after=">=3.12",
    )
    (breach,) = judge(policy(), step._replace(changes=(*step.changes, moved)))
    assert "python (requires-python >=3.11 → >=3.12)" in breach.found
