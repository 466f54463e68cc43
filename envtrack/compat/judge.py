"""All rules, and what they say of a stack."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from envtrack.compat.derive import fill_stack
from envtrack.compat.interface import Nothing, Opinion, Rule
from envtrack.compat.rules import (
    c_library,
    cpu_architecture,
    cpu_build,
    cxx_library,
    driver_agreement,
    driver_gpu,
    driver_runtime,
    extension_abi,
    forward_compatibility,
    gpu_architectures,
    host_compiler,
    numpy_abi,
    python_abi,
    requirements,
    runtime_pins,
    several_runtimes,
    shadowed_libraries,
    shared_memory,
    toolkit,
    toolkit_gpu,
    visible_devices,
)
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Confidence, Tables
from envtrack.model.finding import Diagnosis, Finding, Fit, PassedOver, Purpose

# From the ground up, and what only building needs last.
RULES: Final[tuple[Rule, ...]] = (
    driver_agreement.RULE,
    driver_gpu.RULE,
    driver_runtime.RULE,
    forward_compatibility.RULE,
    gpu_architectures.RULE,
    cpu_build.RULE,
    visible_devices.RULE,
    shared_memory.RULE,
    cpu_architecture.RULE,
    c_library.RULE,
    cxx_library.RULE,
    python_abi.RULE,
    runtime_pins.RULE,
    several_runtimes.RULE,
    shadowed_libraries.RULE,
    numpy_abi.RULE,
    extension_abi.RULE,
    requirements.RULE,
    toolkit.RULE,
    toolkit_gpu.RULE,
    host_compiler.RULE,
)


def judge_stack(
    stack: Stack,
    tables: Tables,
    *,
    subject: str,
    purposes: Iterable[Purpose] = Purpose,
    notes: tuple[str, ...] = (),
) -> Diagnosis:
    """What the rules say of a stack as it was read, or planned.

    Args:
        stack: as `read_stack` and `apply_plan` give it.
        tables: what is known.
        subject: what the report calls it.
        purposes: what it has to fit for.
        notes: to be said with the result.
    """
    filled = fill_stack(stack, tables)
    wanted = frozenset(purposes)
    findings: list[Finding] = []
    passed_over: list[PassedOver] = []
    for rule in RULES:
        if rule.purpose not in wanted:
            continue
        for answer in rule.judge(filled, tables):
            match answer:
                case Nothing(reason):
                    passed_over.append(PassedOver(rule=rule.name, reason=reason))
                case Opinion():
                    findings.append(make_finding(rule, answer))
    return Diagnosis(
        subject=subject, findings=tuple(findings), passed_over=tuple(passed_over), notes=notes
    )


def make_finding(rule: Rule, opinion: Opinion) -> Finding:
    """The finding; a misfit that rests on an entry of low confidence is none."""
    fit, reason, remedy, command = opinion.fit, opinion.reason, opinion.remedy, opinion.command
    if any(cited.confidence is Confidence.LOW for cited in opinion.cited):
        if fit is Fit.MISFIT:
            fit, remedy, command = Fit.UNKNOWN, "", ""
            reason = f"it may not fit: {reason}"
        reason = f"{reason}; what the tables say of it is not certain"
    return Finding(
        rule=rule.name,
        purpose=rule.purpose,
        compared=opinion.compared,
        fit=fit,
        reason=reason,
        remedy=remedy,
        command=command,
        sources=tuple(dict.fromkeys(str(cited) for cited in opinion.cited)),
    )
