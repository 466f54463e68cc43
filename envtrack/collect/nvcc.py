"""The CUDA compilers of a machine: which there are, and which one a build would take.

None of them is needed to run anything: frameworks bring their own CUDA.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.host_compiler import first_program
from envtrack.collect.reading import Missing
from envtrack.collect.toolchain_asking import ask_for
from envtrack.collect.versions_said import parse_nvcc_version
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.collect.interface import Machine

# The order of torch.utils.cpp_extension: CUDA_HOME, CUDA_PATH, the PATH, /usr/local/cuda. CMake
# has another one (CUDACXX, the PATH, CUDA_PATH, /usr/local/cuda): hence each place has its fact.
_VARIABLES = {"cuda-home": "CUDA_HOME", "cuda-path": "CUDA_PATH"}
_SOURCES = {
    "cuda-home": "CUDA_HOME",
    "cuda-path": "CUDA_PATH",
    "path": "PATH",
    "usr-local": "/usr/local/cuda",
    "cudacxx": "CUDACXX",
    "environment": "environment",
}


def find_nvcc_commands(machine: Machine) -> dict[str, str]:
    """By where each is found; a variable that is not set finds none."""
    commands = {
        place: f"{machine.environ[name].rstrip('/')}/bin/nvcc"
        for place, name in _VARIABLES.items()
        if machine.environ.get(name)
    }
    commands["path"] = "nvcc"
    commands["usr-local"] = "/usr/local/cuda/bin/nvcc"
    if compiler := first_program(machine.environ.get("CUDACXX", "")):
        commands["cudacxx"] = compiler
    if machine.environment is not None:  # conda's cuda-nvcc
        commands["environment"] = str(machine.environment / "bin/nvcc")
    return commands


def ask_nvcc(machine: Machine, command: str) -> tuple[str, str] | Missing:
    """Release and build."""
    return ask_for(machine.ask, (command, "--version"), parse_nvcc_version)


def nvcc_states(
    commands: Mapping[str, str], answers: Mapping[str, tuple[str, str] | Missing]
) -> dict[str, FactState]:
    """``release``, ``build``, ``path-source`` of the one that PyTorch would take; ``by-…`` of each.

    ``by-cuda-home`` is a release; absent: the variable is not set; unknown: it is, but no nvcc is
    there. ``path`` is the chosen one's, as it was asked for.
    """
    states: dict[str, FactState] = {}
    chosen: str | None = None
    fault: Missing = Absent()
    for place, source in _SOURCES.items():
        answer = answers.get(place, Absent())
        if isinstance(answer, tuple):
            chosen = chosen or place
        elif isinstance(answer, Unknown) and isinstance(fault, Absent):
            fault = answer
        states[f"by-{place}"] = _place_state(answer, source, is_named=place in commands)
    if chosen is None:
        return {"release": fault, "build": fault, "path-source": fault, "path": fault, **states}
    answer = answers[chosen]
    release, build = answer if isinstance(answer, tuple) else ("", "")
    return {
        "release": Known(release),
        "build": Known(build),
        "path-source": Known(_SOURCES[chosen]),
        "path": Known(commands[chosen]),
        **states,
    }


def _place_state(answer: tuple[str, str] | Missing, source: str, *, is_named: bool) -> FactState:
    if isinstance(answer, tuple):
        return Known(answer[0])
    if isinstance(answer, Absent) and is_named and source in {"CUDA_HOME", "CUDA_PATH", "CUDACXX"}:
        return Unknown(f"{source} is set, but there is no nvcc")
    return answer
