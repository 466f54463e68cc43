"""What this machine says for and against the hypotheses of a finding: only read, with deadlines."""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.cli.context import Place
from envtrack.model.fact import Absent, Fact, FactState, Known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envtrack.cli.doctor_inputs import Subject
    from envtrack.collect.interface import Machine
    from envtrack.model.finding import Fit
    from envtrack.triage.findings import Triage, TriageFinding
    from envtrack.triage.hypotheses import Grounds

# Looking through the folders of an environment on a network file system may take for ever.
_LIMIT_S = 10.0
_IN_LOG = re.compile(r'"?(?P<prefix>/[^\s":]{1,300}?)/lib(?:64)?/python3\.\d+/')
_NEW_ABI, _OLD_ABI = "__cxx11", re.compile(r"(?:E|S)Ss|SsSs|KSs")


def add_evidence(found: "Triage", place: Place) -> "Triage":
    """The same findings with the hypotheses of the root judged."""
    from envtrack.cli.doctor_inputs import read_subject
    from envtrack.cli.triage_changes import tell_changes
    from envtrack.errors import EnvtrackError
    from envtrack.triage.hypotheses import judge_finding

    root, *rest = found.findings
    notes = list(found.notes)
    if root.judged:
        try:
            subject = read_subject("now", place)
        except EnvtrackError as error:
            notes.append(f"no evidence was gathered: {error.message}")
        else:
            grounds, said = read_grounds(subject, root, place)
            root = judge_finding(root, grounds)
            notes += said
    changes = tell_changes(root, place)
    return replace(found, findings=(root, *rest), changes=changes, notes=tuple(notes))


def read_grounds(
    subject: "Subject", root: "TriageFinding", place: Place
) -> "tuple[Grounds, tuple[str, ...]]":
    """The facts that bear on a finding, what the doctor's rules say, and what was not looked at."""
    from envtrack.triage.hypotheses import Grounds

    facts = dict(subject.snapshot.facts)
    facts |= {fact.name: fact.state for fact in _derive(facts, root)}
    looked = _search(subject, root, place)
    notes = () if looked is not None else ("the search of folders took too long",)
    facts |= {fact.name: fact.state for fact in looked or ()}
    return Grounds(facts=facts, fits=_ask_doctor(subject)), notes


def _ask_doctor(subject: "Subject") -> "dict[str, tuple[Fit, ...]]":
    from envtrack.cli.doctor_inputs import read_tables
    from envtrack.compat.facts import read_stack
    from envtrack.compat.judge import judge_stack
    from envtrack.model.finding import Purpose

    stack = read_stack(subject.snapshot, lock=subject.lock, locked=subject.locked)
    diagnosis = judge_stack(
        stack, read_tables(), subject=subject.name, purposes=tuple(Purpose), notes=()
    )
    fits: dict[str, tuple[Fit, ...]] = {}
    for one in diagnosis.findings:
        fits[one.rule] = (*fits.get(one.rule, ()), one.fit)
    return fits


def _derive(facts: "Mapping[str, FactState]", root: "TriageFinding") -> Iterator[Fact]:
    """What follows from the facts of a snapshot alone."""
    buses = [facts.get("hardware.pci.nvidia"), facts.get("hardware.gpu.count")]
    counts = [state.value for state in buses if isinstance(state, Known)]
    if counts:
        yield _fact("gpu-on-bus", is_true=any(count not in {0, "0"} for count in counts))
    module = facts.get("driver.nvidia.version")
    library = facts.get("driver.nvidia.library.version")
    if isinstance(facts.get("container.runtime"), Known) and isinstance(module, Known):
        # A container sees the host's kernel module in /proc; the library has to be given to it.
        yield _fact("container-without-gpu", is_true=isinstance(library, Absent))
    visible = facts.get("settings.CUDA_VISIBLE_DEVICES")
    if visible is not None:
        hidden = isinstance(visible, Known) and str(visible.value).strip() in {"", "-1", "none"}
        yield _fact("hidden-by-setting", is_true=hidden)
    elif not any(name == "settings.collector" for name in facts):
        yield _fact("hidden-by-setting", is_true=False)
    cuda, torch = facts.get("framework.torch.cuda"), facts.get("framework.torch.version")
    if isinstance(torch, Known) and isinstance(cuda, (Known, Absent)):
        yield _fact("cpu-build", is_true=isinstance(cuda, Absent))
    yield from _compare_abi(facts, root.values.get("symbol", ""))


def _compare_abi(facts: "Mapping[str, FactState]", symbol: str) -> Iterator[Fact]:
    """Whether a symbol is of the other C++ ABI than torch.

    ``std::string`` is mangled as ``Ss`` in the old one (Itanium C++ ABI, 5.1.4.3), and lies in
    ``std::__cxx11`` in the new one.
    """
    abi = facts.get("framework.torch.cxx11-abi")
    if not symbol or not isinstance(abi, Known):
        return
    is_new, is_old = _NEW_ABI in symbol, bool(_OLD_ABI.search(symbol))
    if is_new != is_old:
        yield _fact("symbol.abi-differs", is_true=is_new != (str(abi.value).lower() == "true"))


def _fact(name: str, *, is_true: bool) -> Fact:
    return Fact(name=f"evidence.{name}", state=Known("true" if is_true else "false"))


def _search(subject: "Subject", root: "TriageFinding", place: Place) -> list[Fact] | None:
    """What a search of folders shows; ``None`` where it did not end in time."""
    from envtrack.collect.errand import Errand
    from envtrack.collect.this_machine import this_machine
    from envtrack.git.environ import without_git

    folder = _find_project(place)
    machine = this_machine(without_git(dict(os.environ)), folder)
    errand = Errand(lambda: list(_look_around(machine, subject, root)))
    return errand.wait(time.monotonic() + _LIMIT_S)


def _find_project(place: Place) -> Path:
    from envtrack.cli.context import open_context
    from envtrack.errors import UsageProblem

    try:
        return open_context(place).bench.lockfile_folder
    except UsageProblem:
        return place.folder


def _look_around(machine: "Machine", subject: "Subject", root: "TriageFinding") -> Iterator[Fact]:
    from envtrack.collect.library_search import find_library
    from envtrack.collect.module_search import find_module

    if library := root.values.get("library"):
        yield from find_library(machine, library)
    if module := root.values.get("module"):
        locked = {p.name: p.version or "" for p in subject.lock.packages} if subject.lock else {}
        yield from find_module(machine, module, locked=locked)
    yield Fact(name="evidence.other-python", state=_find_other_python(machine, root))
    yield Fact(name="evidence.not-synced", state=_find_unsynced(subject))


def _find_other_python(machine: "Machine", root: "TriageFinding") -> FactState:
    """The environment that the log's own paths show, if it is another than the project's."""
    prefixes = {m["prefix"] for line in root.excerpt for m in _IN_LOG.finditer(line)}
    own = machine.environment
    others = sorted(p for p in prefixes if own is None or os.path.realpath(p) != str(own.resolve()))
    return Known(others[0]) if others and own is not None else Absent()


def _find_unsynced(subject: "Subject") -> FactState:
    from envtrack.compare.records import Record, list_misfits

    if subject.lock is None:
        return Absent()
    record = Record(name="now", lock=subject.lock, snapshot=subject.snapshot)
    misfits = list_misfits(record)
    return Known(", ".join(misfits[:4])) if misfits else Absent()
