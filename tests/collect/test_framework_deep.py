from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from envtrack.collect.ask import Programs
from envtrack.collect.framework import FrameworkCollector
from envtrack.collect.framework_deep import read_answers
from envtrack.collect.framework_programs import LIMIT_S, MARK, TORCH
from envtrack.collect.interface import Asks, Said
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import facts_of, machine, make_environment, site_of, write

# torch.__config__.show() of the wheels of 2.13.0 (cut) and of a build for ROCm (the two lines that
# collect_env looks for).
CONFIG = (
    "PyTorch built with:\n  - GCC 13.3\n  - C++ Version: 202002\n"
    "  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64\n"
    "  - Intel(R) MKL-DNN v3.12.0 (Git Hash 80afa71049cd69a3df32adcccb623b12cd7baa22)\n"
    "  - OpenMP 201511 (a.k.a. OpenMP 4.5)\n  - CPU capability usage: AVX2\n"
    "  - HIP Runtime 6.4.43482\n  - MIOpen 3.4.0\n"
    "  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, CXX_FLAGS= -Wall\n"
)
TINY = """\
__version__ = "1.0"
class version:
    cuda = None
"""


def ask_python(answer: Said | Absent | Unknown) -> Asks:
    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said | Absent | Unknown:
        return answer

    return ask


def lines(*rows: str) -> str:
    return "".join(f"\n{MARK}{row}\n" for row in rows)


def read_deep(tmp_path: Path, ask: Asks, torch: str = "") -> dict[str, FactState]:
    environment = make_environment(tmp_path)
    write(site_of(environment) / "torch/__init__.py", torch)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(sys.executable)
    where = replace(machine(tmp_path, environment=environment), ask=ask, deep=True)
    facts = facts_of(FrameworkCollector(), where)
    return {name.removeprefix("framework."): state for name, state in facts.items()}


def run_real(tmp_path: Path, torch: str) -> dict[str, FactState]:
    """The program in a real interpreter, with a module that stands in for torch."""
    site = site_of(tmp_path / "home/alice/project/.venv")
    environ = {**os.environ, "PYTHONPATH": str(site)}
    return read_deep(tmp_path, Programs(environ, folder=tmp_path, limit_s=60), torch)


def test_nothing_is_asked_without_deep(tmp_path: Path) -> None:
    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Said:
        raise AssertionError(command)

    environment = make_environment(tmp_path)
    write(site_of(environment) / "torch/version.py", "__version__ = '2.0'\n")
    where = replace(machine(tmp_path, environment=environment), ask=ask)
    assert facts_of(FrameworkCollector(), where)["framework.torch.version"] == Known("2.0")


def test_only_frameworks_that_are_there_are_started(tmp_path: Path) -> None:
    asked = []

    def ask(command: Sequence[str], *, timeout_s: float = 3.0) -> Unknown:
        asked.append((command, timeout_s))
        return Unknown("`python` timed out")

    facts = read_deep(tmp_path, ask)
    python = str(tmp_path / "home/alice/project/.venv/bin/python")
    assert [command for command, _ in asked] == [(python, "-c", TORCH)]
    assert asked[0][1] > LIMIT_S
    assert facts["torch.import"] == Unknown("`python` timed out")
    assert "jax.import" not in facts


def test_an_interpreter_that_is_gone_is_said(tmp_path: Path) -> None:
    facts = read_deep(tmp_path, ask_python(Absent()))
    assert facts["torch.import"] == Unknown("the environment's interpreter is not there")


def test_answers_become_facts_of_their_own() -> None:
    out = "warning of a library\n" + lines(
        '["import", "ok"]',
        '["version", "2.13.0+cu130"]',
        '["cxx11-abi", true]',
        '["device-count", 2]',
        '["hip", null]',
        '["cudnn", 92000]',
        '["xnnpack", {"error": "AttributeError: no xnnpack"}]',
        '["stage", "end"]',
    )
    assert read_answers(Said(code=0, out=out, err="")) == {
        "import": Known("ok"),
        "deep.version": Known("2.13.0+cu130"),
        "deep.cxx11-abi": Known(value=True),
        "deep.device-count": Known(2),
        "deep.hip": Absent(),
        "deep.cudnn": Known("9.20.0"),
        "deep.xnnpack": Unknown("AttributeError: no xnnpack"),
        "deep.end": Known("ok"),
    }


@pytest.mark.parametrize(
    ("number", "text"), [(92000, "9.20.0"), (90100, "9.1.0"), (8902, "8.9.2"), (7605, "7.6.5")]
)
def test_cudnn_counts_its_versions_in_two_ways(number: int, text: str) -> None:
    out = lines('["import", "ok"]', f'["cudnn", {number}]')
    assert read_answers(Said(code=0, out=out, err=""))["deep.cudnn"] == Known(text)


def test_of_torchs_configuration_only_what_it_computes_with_is_kept() -> None:
    import json

    out = lines('["import", "ok"]', json.dumps(["config", CONFIG]))
    facts = read_answers(Said(code=0, out=out, err=""))
    assert facts == {
        "import": Known("ok"),
        "deep.compiler": Known("GCC 13.3"),
        "deep.mkl": Known("2024.2"),
        "deep.onednn": Known("3.12.0"),
        "deep.openmp": Known("201511"),
        "deep.cpu-capability": Known("AVX2"),
        "deep.blas": Known("mkl"),
        "deep.build-type": Known("Release"),
        "deep.hip-runtime": Known("6.4.43482"),
        "deep.miopen": Known("3.4.0"),
        "deep.end": Known("ok"),
    }


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (-signal.SIGSEGV, "died of SIGSEGV"),
        (-signal.SIGILL, "died of SIGILL"),
        (-signal.SIGALRM, "timed out"),
        (1, "ended with code 1"),
    ],
)
def test_a_death_while_importing_is_a_fact(code: int, state: str) -> None:
    said = Said(code=code, out=lines('["stage", "import"]'), err="Segmentation fault")
    assert read_answers(said) == {"import": Known(state)}


def test_what_was_said_before_a_death_still_counts() -> None:
    out = lines('["import", "ok"]', '["version", "2.0"]', '["stage", "cuda-available"]')
    facts = read_answers(Said(code=-signal.SIGSEGV, out=out + f'\n{MARK}["cu', err=""))
    assert facts == {
        "import": Known("ok"),
        "deep.version": Known("2.0"),
        "deep.end": Known("died of SIGSEGV at cuda-available"),
    }


@pytest.mark.parametrize("row", ["", "{", "[1, 2]", '["a"]', '["x", [1]]', "[" * 1000])
def test_odd_lines_are_no_crash(row: str) -> None:
    facts = read_answers(Said(code=0, out=lines(row, '["import", "ok"]'), err=""))
    assert facts["import"] == Known("ok")


def test_an_old_torch_lacks_attributes_and_is_no_fault(tmp_path: Path) -> None:
    facts = run_real(tmp_path, TINY)
    assert facts["torch.import"] == Known("ok")
    assert facts["torch.deep.version"] == Known("1.0")
    assert facts["torch.deep.cuda"] == Absent()
    assert facts["torch.deep.archs"] == Unknown(
        "AttributeError: module 'torch' has no attribute '_C'"
    )
    assert facts["torch.deep.end"] == Known("ok")


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("import nothing_like_it\n", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        (
            "raise ImportError('libcudart.so.12: cannot open\\nmore')\n",
            "ImportError: libcudart.so.12: cannot open",
        ),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "died of SIGSEGV"),
        ("import os\nos._exit(9)\n", "ended with code 9"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGALRM)\n", "timed out"),
    ],
)
def test_an_import_that_fails_in_a_real_interpreter_is_told(
    tmp_path: Path, text: str, state: str
) -> None:
    assert run_real(tmp_path, text)["torch.import"] == Known(state)


def test_a_hang_in_a_library_is_ended_by_the_programs_own_timer(tmp_path: Path) -> None:
    # What the alarm does to a module that blocks every signal's handler: the default action ends it.
    text = "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0.2)\ntime.sleep(60)\n"
    assert run_real(tmp_path, text)["torch.import"] == Known("timed out")


def test_the_current_folder_does_not_shadow_the_framework(tmp_path: Path) -> None:
    write(tmp_path / "torch.py", "raise ImportError('the wrong one')\n")
    assert run_real(tmp_path, TINY)["torch.import"] == Known("ok")


def test_a_crash_while_python_is_taken_down_is_no_finding(tmp_path: Path) -> None:
    text = f"{TINY}\nimport atexit, os\natexit.register(os.abort)\n"
    assert run_real(tmp_path, text)["torch.deep.end"] == Known("ok")
