from __future__ import annotations

from dataclasses import replace

import pytest

from envtrack.compat.interface import Opinion
from envtrack.compat.judge import RULES, judge_stack, make_finding
from envtrack.compat.tables import Cited, Confidence
from envtrack.model.finding import Fit, Purpose
from tests.compat.stacks import judge, make_stack, read_rows, read_tables

RULE = RULES[0]
SURE = Cited(where="a page", as_of="2026-12-01")


def opinion(fit: Fit, *confidences: Confidence) -> Opinion:
    cited = tuple(replace(SURE, confidence=confidence) for confidence in confidences)
    return Opinion(
        compared="a against b", fit=fit, reason="because", remedy="do it", command="x", cited=cited
    )


def test_an_uncertain_entry_makes_no_misfit() -> None:
    found = make_finding(RULE, opinion(Fit.MISFIT, Confidence.HIGH, Confidence.LOW))
    assert found.fit is Fit.UNKNOWN
    assert found.reason.startswith("it may not fit: because")
    assert (found.remedy, found.command) == ("", "")


@pytest.mark.parametrize("confidence", [Confidence.HIGH, Confidence.MEDIUM])
def test_other_entries_do(confidence: Confidence) -> None:
    found = make_finding(RULE, opinion(Fit.MISFIT, confidence))
    assert (found.fit, found.reason, found.remedy) == (Fit.MISFIT, "because", "do it")


@pytest.mark.parametrize("fit", [Fit.FITS, Fit.LIMITED, Fit.UNKNOWN])
def test_an_uncertain_entry_is_said_in_every_verdict(fit: Fit) -> None:
    found = make_finding(RULE, opinion(fit, Confidence.LOW))
    assert found.fit is fit
    assert found.reason == "because; what the tables say of it is not certain"


def test_a_source_is_named_once() -> None:
    found = make_finding(RULE, opinion(Fit.FITS, Confidence.HIGH, Confidence.HIGH))
    assert found.sources == ("a page (as of 2026-12-01)",)


def test_the_rules_have_different_names() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_only_what_is_asked_for_is_judged() -> None:
    stack = make_stack("nvcc=11.8 gcc=14.2.0 torch=2.6.0+cu124 driver=550.54.15 cuda=12.4")
    running = judge_stack(stack, read_tables(), subject="", purposes=(Purpose.RUNNING,))
    building = judge_stack(stack, read_tables(), subject="", purposes=(Purpose.BUILDING,))
    assert not running.has_misfit
    assert building.has_misfit
    assert {finding.purpose for finding in running.findings} == {Purpose.RUNNING}
    assert {finding.purpose for finding in building.findings} == {Purpose.BUILDING}


def test_a_misfit_always_has_a_remedy() -> None:
    for row in read_rows():
        for finding in judge(row.stack).findings:
            if finding.fit is Fit.MISFIT:
                assert finding.remedy, (row.stack, finding)


def test_what_fits_has_none() -> None:
    for row in read_rows():
        for finding in judge(row.stack).findings:
            if finding.fit is Fit.FITS:
                assert finding.remedy == "", (row.stack, finding)


def test_eight_equal_gpus_are_one_finding() -> None:
    line = " ".join(['gpu="NVIDIA A100-SXM4-80GB"'] * 8) + " torch=2.6.0+cu124"
    found = [f for f in judge(line).findings if f.rule == "gpu-architectures"]
    assert len(found) == 1
    assert found[0].compared.startswith("GPUs 0-7 (NVIDIA A100-SXM4-80GB), compute capability 8.0")


def test_different_gpus_are_several() -> None:
    line = 'gpu="NVIDIA L4" gpu="Tesla V100-PCIE-16GB" gpu="NVIDIA L4" torch=2.11.0+cu128'
    found = [f for f in judge(line).findings if f.rule == "gpu-architectures"]
    assert [(f.fit, f.compared.partition(",")[0]) for f in found] == [
        (Fit.FITS, "GPUs 0"),
        (Fit.MISFIT, "GPU 1 (Tesla V100-PCIE-16GB)"),
    ]


def test_an_extension_in_the_lockfile_is_judged_by_its_file_s_name() -> None:
    line = (
        "torch=2.6.0+cu124 "
        "lock:flash_attn-2.7.4+cu12torch2.6cxx11abiTRUE-cp311-cp311-linux_x86_64.whl"
    )
    found = [f for f in judge(line).findings if f.rule == "extension-abi"]
    assert [finding.fit for finding in found] == [Fit.MISFIT]
