"""Starts the frameworks and asks them: only with ``--deep``, for it may create a GPU context."""

from __future__ import annotations

import json
import re
import signal
from typing import TYPE_CHECKING

from envtrack.collect.framework_programs import JAX, LIMIT_S, MARK, TENSORFLOW, TORCH
from envtrack.collect.interface import Said
from envtrack.collect.toolchain_asking import describe_death
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.framework_sites import Sites
    from envtrack.collect.interface import Machine

_PROGRAMS = {"torch": TORCH, "jax": JAX, "tensorflow": TENSORFLOW}
# Beyond the program's own limit: what the kernel can't end either is left behind.
_GRACE_S = 10
_OK = "ok"
# The lines of torch.__config__.show() that tell what it computes with; the rest repeats version.py
# or changes nothing, such as warning flags.
_CONFIG = {
    "compiler": re.compile(r"^ *- ((?:GCC|clang|MSVC|Apple clang) [\w.]+)", re.MULTILINE),
    "mkl": re.compile(r"Math Kernel Library Version (\d+(?:\.\d+)*)"),
    "onednn": re.compile(r"(?:MKL-DNN|oneDNN) v([\w.]+)"),
    "openmp": re.compile(r"^ *- OpenMP (\d+)", re.MULTILINE),
    "cpu-capability": re.compile(r"CPU capability usage: (.+)"),
    "blas": re.compile(r"BLAS_INFO=(\w+)"),
    "build-type": re.compile(r"BUILD_TYPE=(\w+)"),
    "magma": re.compile(r"^ *- Magma ([\w.]+)", re.MULTILINE),
    "hip-runtime": re.compile(r"HIP Runtime ([\w.\-]+)"),
    "miopen": re.compile(r"MIOpen ([\w.\-]+)"),
}


def ask_frameworks(machine: Machine, sites: Sites) -> dict[str, FactState]:
    """``torch.import`` (``ok``, an error, ``died of SIGSEGV``, ``timed out``), ``torch.deep.…``.

    Of those frameworks whose files are there, one after the other: two that start at once would
    fight for one GPU's memory.

    Cost: seconds to minutes.
    """
    states: dict[str, FactState] = {}
    for name, program in _PROGRAMS.items():
        if sites.find(name) is not None:
            answers = _ask_one(machine, sites, program)
            states |= {f"{name}.{part}": state for part, state in answers.items()}
    return states


def _ask_one(machine: Machine, sites: Sites, program: str) -> dict[str, FactState]:
    interpreter = sites.layout.interpreter
    if interpreter is None:
        return {"import": Unknown("the environment has no interpreter")}
    said = machine.ask((str(interpreter), "-c", program), timeout_s=LIMIT_S + _GRACE_S)
    match said:
        case Absent():
            return {"import": Unknown("the environment's interpreter is not there")}
        case Unknown():
            return {"import": said}
        case Said():
            return read_answers(said)


def read_answers(said: Said) -> dict[str, FactState]:
    """What a program of `framework_programs` told before it ended, and how it ended."""
    stage = "start"
    states: dict[str, FactState] = {}
    for name, value in _parse_lines(said.out):
        match name, value:
            case "stage", str():
                stage = value
            case "import", str():
                states["import"] = Known(value)
            case "config", str():
                states |= {f"deep.{key}": state for key, state in _read_config(value).items()}
            case "cudnn", int():
                states["deep.cudnn"] = Known(_cudnn_text(value))
            case _:
                states[f"deep.{name}"] = _state(value)
    end = _describe_end(said)
    if "import" not in states:
        return {**states, "import": Known(end)}
    if end != _OK:
        states["deep.end"] = Known(f"{end} at {stage}")
    elif states["import"] == Known(_OK):
        states["deep.end"] = Known(_OK)
    return states


def _parse_lines(text: str) -> Iterator[tuple[str, object]]:
    for line in text.splitlines():
        if not line.startswith(MARK):
            continue
        try:
            row = json.loads(line.removeprefix(MARK))
        except (ValueError, RecursionError):  # cut off by a crash, or not ours
            continue
        match row:
            case [str() as name, value]:
                yield name, value
            case _:
                pass


def _describe_end(said: Said) -> str:
    if said.code == -signal.SIGALRM:
        return "timed out"
    if said.code < 0:
        return describe_death(-said.code)
    return _OK if said.code == 0 else f"ended with code {said.code}"


def _state(value: object) -> FactState:
    match value:
        case {"error": str() as reason}:
            return Unknown(reason)
        case bool() | int() | str():
            return Known(value)
        case None:
            return Absent()
        case _:
            return Unknown("an odd answer")


def _read_config(text: str) -> dict[str, FactState]:
    found = {key: pattern.search(text) for key, pattern in _CONFIG.items()}
    return {key: Known(match[1].strip()) for key, match in found.items() if match}


def _cudnn_text(number: int) -> str:
    """``92000`` is 9.20.0, ``8902`` is 8.9.2: cudnn_version.h counts so from 9 on, and before."""
    factor = 10_000 if number >= 90_000 else 1_000  # noqa: PLR2004 - cuDNN 9.0.0
    major, rest = divmod(number, factor)
    return f"{major}.{rest // 100}.{rest % 100}"
