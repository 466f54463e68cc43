"""What a build of an extension would be made with; nothing of it is needed to run one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from envtrack.collect.errand import Errand
from envtrack.collect.host_compiler import (
    NamedCompiler,
    ask_named_compiler,
    find_named_compilers,
)
from envtrack.collect.nvcc import ask_nvcc, find_nvcc_commands, nvcc_states
from envtrack.collect.reading import Missing
from envtrack.collect.toolchain_asking import ask_version, version_states
from envtrack.collect.versions_said import ToolVersion
from envtrack.model.fact import Absent, Fact, FactState, Known
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from envtrack.collect.interface import Machine

_T = TypeVar("_T")
# The fact's name, the program, the form of its answer, and whether several makers offer one.
_TOOLS = (
    ("gcc", "gcc", "compiler", True),
    ("gxx", "g++", "compiler", True),
    ("clang", "clang", "compiler", True),
    ("ld", "ld", "ld", True),
    ("cmake", "cmake", "cmake", False),
    ("ninja", "ninja", "ninja", False),
    ("make", "make", "make", True),
    ("mpi", "mpirun", "mpirun", True),
    ("hipcc", "hipcc", "hipcc", False),
)
_NAMED = ("cc", "cxx", "cudahostcxx", "nvcc-ccbin")


class ToolchainCollector:
    """Asks the compilers and build tools on the PATH for their versions, side by side."""

    layer = Layer.TOOLCHAIN

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``toolchain.<tool>.version``, ``.build``, ``.kind``; nvcc's and the named compilers' own.

        ``toolchain.gcc.kind`` is ``clang`` where ``gcc`` is one, as on macOS. ``toolchain.cc``,
        ``cxx``, ``cudahostcxx`` and ``nvcc-ccbin`` are there only where a variable names them.

        Cost: one process a program that is there, all of them at once.
        """
        nvccs = find_nvcc_commands(machine)
        named = find_named_compilers(machine.environ)
        jobs: dict[str, Callable[[], ToolVersion | tuple[str, str] | Missing]] = {
            **{
                name: partial(ask_version, machine.ask, tool, form)
                for name, tool, form, _ in _TOOLS
            },
            **{f"nvcc {place}": partial(ask_nvcc, machine, path) for place, path in nvccs.items()},
            **{
                f"named {key}": partial(ask_named_compiler, machine, one)
                for key, one in named.items()
            },
        }
        answers = _run_side_by_side(jobs)
        states = {
            **_tool_states(answers),
            **_nvcc_states(nvccs, answers),
            **_named_states(named, answers),
        }
        for part, state in states.items():
            yield Fact(name=f"toolchain.{part}", state=state)


def _run_side_by_side(jobs: Mapping[str, Callable[[], _T]]) -> dict[str, _T]:
    # Each waits for a program most of its time; a machine on which all hang is bounded by `Asks`.
    running = {name: Errand(job) for name, job in jobs.items()}
    answers = {name: errand.wait() for name, errand in running.items()}
    return {name: answer for name, answer in answers.items() if answer is not None}


_Answers = dict[str, ToolVersion | tuple[str, str] | Missing]


def _tool_states(answers: _Answers) -> dict[str, FactState]:
    states = {}
    for name, _, _, has_kinds in _TOOLS:
        answer = answers[name]
        if not isinstance(answer, tuple):
            for part, state in version_states(answer, has_kinds=has_kinds).items():
                states[f"{name}.{part}"] = state
    return states


def _nvcc_states(nvccs: Mapping[str, str], answers: _Answers) -> dict[str, FactState]:
    found = {
        place: answer
        for place in nvccs
        if not isinstance(answer := answers[f"nvcc {place}"], ToolVersion)
    }
    return {f"nvcc.{part}": state for part, state in nvcc_states(nvccs, found).items()}


def _named_states(named: Mapping[str, NamedCompiler], answers: _Answers) -> dict[str, FactState]:
    states: dict[str, FactState] = {}
    for key in _NAMED:
        if key not in named:
            states[f"{key}.command"] = Absent()
            continue
        states[f"{key}.command"] = Known(named[key].program)
        states[f"{key}.source"] = Known(named[key].source)
        answer = answers[f"named {key}"]
        if not isinstance(answer, tuple):
            for part, state in version_states(answer, has_kinds=True).items():
                states[f"{key}.{part}"] = state
    return states
