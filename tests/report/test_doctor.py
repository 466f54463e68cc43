from __future__ import annotations

import json

from envtrack.model.finding import Diagnosis, Finding, Fit, PassedOver, Purpose
from envtrack.report.doctor import (
    render_diagnosis_json,
    render_diagnosis_markdown,
    render_diagnosis_text,
    say_verdict,
)
from envtrack.report.look import Look

FITS = Finding(
    rule="driver-runtime",
    purpose=Purpose.RUNNING,
    compared="driver 550.54.15 (CUDA 12.4) against CUDA 12.4 of torch 2.5.1",
    fit=Fit.FITS,
    reason="a driver runs every CUDA that is not newer",
    sources=("a page (as of 2026-12-01)",),
)
MISFIT = Finding(
    rule="host-compiler",
    purpose=Purpose.BUILDING,
    compared="gcc 14.2 against what nvcc 12.4 accepts",
    fit=Fit.MISFIT,
    reason="it accepts gcc up to 13",
    remedy="build with gcc 13",
    command="export CC=gcc-13 CXX=g++-13",
    sources=("a header (as of 2026-12-01)",),
)
UNKNOWN = Finding(
    rule="c-library",
    purpose=Purpose.RUNNING,
    compared="3 wheels against the C library",
    fit=Fit.UNKNOWN,
    reason="os.libc.name is unknown: timed out",
)
DIAGNOSIS = Diagnosis(
    subject="now: box at 2026-01-02T03:04:05Z",
    findings=(FITS, UNKNOWN, MISFIT),
    passed_over=(PassedOver(rule="numpy-abi", reason="there is no NumPy"),),
    notes=("no lockfile was read",),
)


def test_text_begins_with_what_is_worst() -> None:
    assert (
        render_diagnosis_text(DIAGNOSIS, Look(width=100))
        == """\
now: box at 2026-01-02T03:04:05Z

does not fit  1
  host-compiler (for building): gcc 14.2 against what nvcc 12.4 accepts
      it accepts gcc up to 13
      → build with gcc 13
      $ export CC=gcc-13 CXX=g++-13

can't tell  1
  c-library: 3 wheels against the C library
      os.libc.name is unknown: timed out

fits  1
  driver-runtime: driver 550.54.15 (CUDA 12.4) against CUDA 12.4 of torch 2.5.1

nothing to compare for numpy-abi: --full says why

1 does not fit, 1 can't be told, 1 fits
note: no lockfile was read
"""
    )


def test_full_text_has_reasons_and_sources_of_everything() -> None:
    text = render_diagnosis_text(DIAGNOSIS, Look(width=100, is_full=True))
    assert "      a driver runs every CUDA that is not newer\n" in text
    assert "      by a page (as of 2026-12-01)\n" in text
    assert "nothing to compare\n  numpy-abi: there is no NumPy\n" in text


def test_text_is_coloured_only_where_it_is_wanted() -> None:
    assert "\x1b[" in render_diagnosis_text(DIAGNOSIS, Look(is_coloured=True))
    assert "\x1b[" not in render_diagnosis_text(DIAGNOSIS, Look())


def test_the_sum_counts_in_words() -> None:
    twice = Diagnosis(subject="", findings=(FITS, FITS, MISFIT, MISFIT, UNKNOWN, UNKNOWN))
    assert say_verdict(twice) == "2 do not fit, 2 can't be told, 2 fit"
    assert say_verdict(Diagnosis(subject="", findings=())) == "there was nothing to compare"


def test_json_has_the_documented_form() -> None:
    document = json.loads(render_diagnosis_json(DIAGNOSIS))
    assert (document["schema"], document["kind"], document["fits"]) == (1, "diagnosis", False)
    assert document["counts"] == {
        "does not fit": 1,
        "fits with limits": 0,
        "can't tell": 1,
        "fits": 1,
    }
    assert document["findings"][2] == {
        "rule": "host-compiler",
        "purpose": "building",
        "verdict": "does not fit",
        "compared": "gcc 14.2 against what nvcc 12.4 accepts",
        "reason": "it accepts gcc up to 13",
        "remedy": "build with gcc 13",
        "command": "export CC=gcc-13 CXX=g++-13",
        "sources": ["a header (as of 2026-12-01)"],
    }
    assert (document["findings"][0]["remedy"], document["findings"][0]["command"]) == (None, None)
    assert document["passed_over"] == [{"rule": "numpy-abi", "reason": "there is no NumPy"}]
    assert document["notes"] == ["no lockfile was read"]


def test_markdown_is_a_table_and_the_remedies() -> None:
    text = render_diagnosis_markdown(DIAGNOSIS)
    lines = text.splitlines()
    assert lines[0] == "## now: box at 2026-01-02T03:04:05Z"
    assert lines[6] == (
        "| does not fit | host-compiler (for building) | gcc 14.2 against what nvcc 12.4 accepts "
        "| it accepts gcc up to 13 |"
    )
    assert "- host-compiler (for building): build with gcc 13" in lines
    assert "      export CC=gcc-13 CXX=g++-13" in lines


def test_escape_sequences_of_a_snapshot_stay_out_of_every_form() -> None:
    evil = Finding(
        rule="numpy-abi",
        purpose=Purpose.RUNNING,
        compared="NumPy 2\x1b[2J\x9b31m against a|b",
        fit=Fit.MISFIT,
        reason="x\u202ey",
        remedy="z\x1b]0;t\x07",
        command="rm\x1b[A",
    )
    diagnosis = Diagnosis(subject="\x1b[2J", findings=(evil,), notes=("\x1b[2J",))
    for text in (
        render_diagnosis_text(diagnosis, Look()),
        render_diagnosis_json(diagnosis),
        render_diagnosis_markdown(diagnosis),
    ):
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(text)


def test_a_bar_in_a_value_does_not_break_the_table() -> None:
    finding = Finding(rule="a", purpose=Purpose.RUNNING, compared="a|b", fit=Fit.FITS, reason="c|d")
    text = render_diagnosis_markdown(Diagnosis(subject="s", findings=(finding,)))
    assert "| fits | a | a\\|b | c\\|d |" in text
