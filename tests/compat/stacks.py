"""Stacks written in one line, as ``docs/doctor.md`` writes them, and the tables of the program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import yaml

from envtrack.compat.facts import read_stack
from envtrack.compat.judge import judge_stack
from envtrack.compat.plan import Plan, apply_plan, parse_planned, parse_requirement
from envtrack.compat.stack import Stack
from envtrack.compat.table_reading import FILES, parse_tables
from envtrack.compat.tables import Tables
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.finding import Diagnosis, Finding, Fit
from envtrack.model.lock import Artifact, Lock, LockedPackage, Source, SourceKind
from envtrack.model.snapshot import InstalledPackage, Snapshot
from envtrack.resources import find_resource

DOCS = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
_INSTALLED = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<version>.+)")
_PLANNED = re.compile(r"--(?:with|driver|gpu|compute-capability|gcc|nvcc)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the verdicts in the documentation."""

    rule: str
    stack: str
    verdict: str
    reason: str


@cache
def read_rows() -> tuple[Row, ...]:
    text = DOCS.read_text(encoding="utf-8").partition("## Verdicts")[2].partition("### Machines")[0]
    return tuple(_parse_rows(text))


def _parse_rows(text: str) -> Iterator[Row]:
    rule = ""
    for line in text.splitlines():
        if line.startswith("### "):
            rule = line.removeprefix("### ").strip()
        elif line.startswith("| `"):
            stack, verdict, reason = (cell.strip() for cell in line.strip("| ").split(" | "))
            yield Row(rule=rule, stack=stack.strip("`"), verdict=verdict, reason=reason)


@cache
def read_names() -> dict[str, str]:
    """The fact that each short name of the documentation stands for."""
    text = DOCS.read_text(encoding="utf-8").partition("### Names")[2]
    return dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", text, re.MULTILINE))


@cache
def read_tables() -> Tables:
    documents = {
        name: yaml.safe_load(find_resource(f"compat/{name}.yaml").read_text()) for name in FILES
    }
    return parse_tables(documents)


def judge(line: str) -> Diagnosis:
    """What the rules say of a stack in one line."""
    words = shlex.split(line)
    plan = _parse_plan(words)
    return judge_stack(apply_plan(_make_stack(words), plan), read_tables(), subject="a stack")


def judge_rule(line: str, rule: str) -> Finding | str:
    """The worst finding of one rule; why there was nothing to compare where it has none."""
    diagnosis = judge(line)
    found = [finding for finding in diagnosis.findings if finding.rule == rule]
    if not found:
        return next(one.reason for one in diagnosis.passed_over if one.rule == rule)
    return min(found, key=lambda finding: list(Fit).index(finding.fit))


def make_stack(line: str) -> Stack:
    return _make_stack(shlex.split(line))


def make_snapshot(
    facts: dict[str, FactState], installed: Iterable[InstalledPackage] = ()
) -> Snapshot:
    packages = {package.name: package for package in installed}
    if packages:
        facts = {"packages.environment": Known("<project>/.venv"), **facts}
    return Snapshot(machine="box", taken_at="2026-01-02T03:04:05Z", facts=facts, installed=packages)


def _make_stack(words: list[str]) -> Stack:
    facts: dict[str, FactState] = {}
    installed, files, requires = [], [], ""
    gpus = 0
    for word in _without_plan(words):
        name, _, value = word.partition("=")
        if word.startswith("lock:requires-python="):
            requires = value
        elif word.startswith("lock:"):
            files.append(word.removeprefix("lock:"))
        elif not word.startswith("pin.") and (found := _INSTALLED.fullmatch(word)):
            installed.append(InstalledPackage(name=found["name"], version=found["version"]))
        elif name.isupper():
            facts[f"settings.{name}"] = Known(value)
        else:
            gpus += name == "gpu"
            facts[_find_fact(name, max(gpus - 1, 0))] = _parse_state(value)
    locked = tuple(_lock(files)) if files or requires else None
    lock = Lock(
        format="uv.lock", path="uv.lock", schema=1, requires_python=requires, packages=locked or ()
    )
    snapshot = make_snapshot(facts, installed)
    return read_stack(snapshot, lock=lock if locked is not None else None, locked=locked)


def _find_fact(name: str, gpu: int) -> str:
    names = read_names()
    for prefix, short in (("shadow.", "shadow.<component>"), ("pin.", "pin.<package>")):
        if name.startswith(prefix):
            return re.sub(r"<\w+>", name.removeprefix(prefix), names[short])
    return names[name].replace("<n>", str(gpu))


def _parse_state(value: str) -> FactState:
    if value == "-":
        return Absent()
    if value == "?":
        return Unknown("timed out")
    if value in {"yes", "no"}:
        return Known(value == "yes")
    return Known(int(value) if value.isdecimal() else value)


def _lock(files: Iterable[str]) -> Iterator[LockedPackage]:
    by_name: dict[tuple[str, str], list[Artifact]] = {}
    for file in files:
        name, version = file.removesuffix(".tar.gz").split("-")[:2]
        artifact = Artifact(filename=file, location=file, is_wheel=file.endswith(".whl"))
        by_name.setdefault((name, version), []).append(artifact)
    for (name, version), artifacts in by_name.items():
        yield LockedPackage(
            name=name,
            version=version,
            source=Source(kind=SourceKind.REGISTRY, location="https://index.example/simple"),
            artifacts=tuple(artifacts),
        )


def _without_plan(words: list[str]) -> Iterator[str]:
    return (
        word
        for before, word in zip(["", *words], words, strict=False)
        if not _PLANNED.fullmatch(before) and not _PLANNED.fullmatch(word)
    )


def _parse_plan(words: list[str]) -> Plan:
    said = list(pairwise(words))
    last = {option: value for option, value in said if _PLANNED.fullmatch(option)}
    numbers = {
        option: parse_planned(value, option)
        for option, value in last.items()
        if option not in {"--with", "--gpu"}
    }
    return Plan(
        packages=dict(parse_requirement(value) for option, value in said if option == "--with"),
        gpus=tuple(value for option, value in said if option == "--gpu"),
        driver=numbers.get("--driver"),
        capability=numbers.get("--compute-capability"),
        gcc=numbers.get("--gcc"),
        nvcc=numbers.get("--nvcc"),
    )
