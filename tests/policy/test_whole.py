from __future__ import annotations

from datetime import timedelta

import pytest

from envtrack.policy.whole import carries_secret
from tests.lockfiles.texts import pinned, project
from tests.policy.steps import TODAY, found, judge, make_step, policy

FAMILY = (
    project("torch", "torchvision", "x"),
    pinned("torch", "2.5"),
    pinned("torchvision", "0.20"),
    pinned("x", "1"),
)


def test_a_family_moves_together() -> None:
    alone = (FAMILY[0], pinned("torch", "2.6"), *FAMILY[2:])
    (breach,) = judge(policy(), make_step(FAMILY, alone))
    assert (breach.rule, breach.level.value) == ("families", "warn")
    assert breach.found == "torch moved without torchvision"
    assert breach.ways_out == ("`uv lock --upgrade-package torch --upgrade-package torchvision`",)
    both = (FAMILY[0], pinned("torch", "2.6"), pinned("torchvision", "0.21"), FAMILY[3])
    assert found(policy(), make_step(FAMILY, both)) == []
    # One that comes in has moved from nowhere.
    new = (
        project("torch", "torchvision", "x", "torchaudio"),
        *FAMILY[1:],
        pinned("torchaudio", "2"),
    )
    assert found(policy(), make_step(FAMILY, new)) == []


def test_wheels_of_two_cudas_are_said_when_they_come_together() -> None:
    one = (project("a"), pinned("a", "1"), pinned("nvidia-cudnn-cu12", "9"))
    two = (*one, pinned("nvidia-nccl-cu13", "2"))
    rules = policy("one-layer: {level: off}")
    assert found(rules, make_step(one, two)) == [
        ("families", "wheels of several CUDAs: cu12, cu13")
    ]
    assert found(rules, make_step(two, (*two, pinned("b", "1")))) == []


@pytest.mark.parametrize(("age", "is_young"), [(6, True), (7, False), (8, False)])
def test_a_release_has_to_be_some_days_old(age: int, *, is_young: bool) -> None:
    released = (TODAY - timedelta(days=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = TODAY.strftime("%Y-%m-%dT%H:%M:%SZ")
    text = pinned("x", "2").replace("size = 10", f'size = 10, upload-time = "{released}"')
    text = text.replace(
        "wheels = [",
        f'sdist = {{ url = "https://files.example/x-2.tar.gz", hash = "sha256:1", size = 1, upload-time = "{later}" }}\nwheels = [',
    )
    step = make_step(FAMILY, (*FAMILY[:3], text))
    told = found(policy("soak: {days: 7}"), step)
    assert [rule for rule, _ in told] == ["soak"] * is_young
    assert found(policy("soak: {days: 7, except: ['x*']}"), step) == []
    # Without upload times nothing is claimed.
    assert found(policy("soak: {}"), make_step(FAMILY, (*FAMILY[:3], pinned("x", "2")))) == []


def test_a_lockfile_that_loses_most_of_what_it_held() -> None:
    names = [f"p{number:02}" for number in range(12)]
    whole = (project(*names), *(pinned(name, "1") for name in names))
    few = (project(*names[:5]), *(pinned(name, "1") for name in names[:5]))
    (breach,) = judge(policy(), make_step(whole, few))
    assert breach.found == "7 of 13 packages are gone: p05, p06, p07, p08, p09 and 2 more"
    assert breach.ways_out == ("`git restore --source HEAD --staged --worktree uv.lock`",)
    assert found(policy("losses: {percent: 60}"), make_step(whole, few)) == []
    bare = tuple(
        line.replace(f', hash = "{line.split(chr(34) + "sha256:")[1].split(chr(34))[0]}"', "")
        if '"sha256:' in line
        else line
        for line in whole
    )
    stripped = tuple(_without_hash(text) for text in bare)
    told = [text for rule, text in found(policy(), make_step(whole, stripped)) if rule == "losses"]
    assert told == ["all 12 packages with hashes lost theirs"]


def _without_hash(text: str) -> str:
    before, mark, after = text.partition(', hash = "')
    return before + after.partition('"')[2] if mark else text


@pytest.mark.parametrize(
    "address",
    [
        "https://user:pass@registry.example/simple",
        "https://token@registry.example/simple",
        "https://files.example/a.whl?token=abcdef",
        "https://files.example/a.whl?X-Amz-Signature=abc&x=1",
        "https://files.example/a.whl?sig=abc",
        "https://files.example/a.whl?api_key=abc",
        "git+https://user:pass@git.example/x@main",
        "x @ https://user:pass@files.example/x.whl ; os_name == 'nt'",
        "https://git.example/x?access_token=ghp_" + "a" * 36,
    ],
)
def test_an_address_with_a_secret(address: str) -> None:
    assert carries_secret(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://registry.example/simple",
        "https://files.example/token-bucket-1.0.whl",
        "https://files.example/authlib-1.0.tar.gz#sha256=" + "ab" * 32,
        "https://git.example/x?subdirectory=lib&rev=main#" + "0" * 40,
        "git+ssh://git@git.example/x.git",
        "https://${USER}:${TOKEN}@registry.example/simple",
        "https://$TOKEN@registry.example/simple",
        "numpy>=2 ; extra == 'key'",
        "../sibling",
    ],
)
def test_an_address_without_one(address: str) -> None:
    assert not carries_secret(address)


def test_a_secret_that_comes_in_is_told_without_itself() -> None:
    secret = "hunter2hunter2"
    text = pinned("x", "2", host=f"https://bob:{secret}@files.example")
    breaches = judge(policy(), make_step(FAMILY, (*FAMILY[:3], text)))
    (breach,) = [one for one in breaches if one.rule == "credentials"]
    assert breach.level.value == "error"
    assert "https://***@files.example/x-2-py3-none-any.whl carries a password" in breach.found
    assert secret not in repr(breaches)
    assert "bob" not in repr(breaches)
    # What was there before is not told again.
    again = make_step((*FAMILY[:3], text), (*FAMILY[:2], pinned("torchvision", "0.21"), text))
    assert [one.rule for one in judge(policy(), again)] == ["families"]
