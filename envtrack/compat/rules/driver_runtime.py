"""The newest CUDA of the driver against the CUDA that a framework was built for.

The rules are NVIDIA's (docs.nvidia.com/deploy/cuda-compatibility): a driver runs every older CUDA;
within a major release also a newer one, from the family's minimum driver on and with limits; beyond
that only through the forward-compatibility package, on data-centre GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envtrack.compat.forward import find_forward
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import CudaSpan, Stack
from envtrack.compat.tables import Cited, Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose

_LIMITS = (
    "features newer than the driver are missing, and PTX newer than the driver is not compiled "
    "(“unsupported toolchain”)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One runtime on one driver."""

    stack: Stack
    tables: Tables
    name: str
    runtime: Numbers
    span: CudaSpan
    cited: tuple[Cited, ...]

    @property
    def compared(self) -> str:
        driver = self.stack.driver.version.value
        said = f"driver {driver} (CUDA {self.span})" if driver else f"driver's CUDA {self.span}"
        return f"{said} against CUDA {self.runtime} of {self.name}"

    def say(
        self, fit: Fit, reason: str, *, remedy: str = "", command: str = "", cited: Cited | None
    ) -> Opinion:
        sources = self.cited if cited is None else (*self.cited, cited)
        return Opinion(
            compared=self.compared,
            fit=fit,
            reason=reason,
            remedy=remedy,
            command=command,
            cited=sources,
        )


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    torch = stack.torch
    runtimes = {name: cuda for name, cuda in stack.frameworks.items() if cuda.value is not None}
    if torch.version.value is not None and not torch.cuda.is_absent:
        runtimes = {f"torch {torch.version.value}": torch.cuda, **runtimes}
    if not runtimes:
        yield Nothing("no framework here was built for CUDA")
    elif _has_no_gpu(stack):
        yield Nothing("there is neither an NVIDIA driver nor a GPU: it runs on the CPU")
    else:
        for name, cuda in runtimes.items():
            yield _judge_runtime(stack, tables, name, cuda.value, cuda.why, cuda.sources)


def _has_no_gpu(stack: Stack) -> bool:
    return stack.driver.version.is_absent and not stack.gpus.value and not stack.on_bus.value


def _judge_runtime(
    stack: Stack,
    tables: Tables,
    name: str,
    runtime: Numbers | None,
    why: str,
    sources: tuple[Cited, ...],
) -> Opinion:
    cuda = stack.driver.cuda
    if runtime is None:
        compared = f"the driver's CUDA against that of {name}"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=why)
    if cuda.value is None:
        compared = f"the driver's CUDA against CUDA {runtime} of {name}"
        reason = stack.driver.version.why if stack.driver.version.is_absent else cuda.why
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    case = _Case(
        stack=stack,
        tables=tables,
        name=name,
        runtime=runtime,
        span=cuda.value,
        cited=(*cuda.sources, *sources),
    )
    return _judge_case(case)


def _judge_case(case: _Case) -> Opinion:
    newest = case.tables.newest
    if case.runtime.series > newest.cuda:
        reason = f"CUDA {case.runtime} is newer than the tables know ({newest.cuda})"
        return case.say(Fit.UNKNOWN, reason, cited=newest.cited)
    if case.runtime.series <= case.span.least:
        return case.say(Fit.FITS, "a driver runs every CUDA that is not newer", cited=None)
    family = case.tables.find_family(case.runtime)
    if family is not None and _reaches(case, family.least_driver):
        reason = (
            f"minor-version compatibility: every CUDA {family.major}.x runs from driver "
            f"{family.least_driver} on, with limits: {_LIMITS}"
        )
        remedy = _say_driver(case, "takes the limits away")
        return case.say(Fit.LIMITED, reason, remedy=remedy, cited=family.cited)
    return _judge_newer(case)


def _reaches(case: _Case, least_driver: Numbers) -> bool:
    """Whether the driver is at the family's minimum; by its CUDA where its version is not known."""
    driver = case.stack.driver.version.value
    if driver is None or case.stack.tegra.value is not None:
        return case.span.least.major == case.runtime.major
    return driver >= least_driver


def _judge_newer(case: _Case) -> Opinion:
    """The runtime is of a newer family than the driver."""
    forward = find_forward(case.stack, case.tables, case.runtime)
    if forward.runs is not False:
        fit = Fit.LIMITED if forward.runs else Fit.UNKNOWN
        return case.say(fit, forward.reason, cited=forward.cited)
    if case.span.most is None or case.span.most >= case.runtime.series:
        reason = f"the tables do not know this driver: its CUDA is {case.span}"
        return case.say(Fit.UNKNOWN, reason, cited=None)
    family = case.tables.find_family(case.runtime)
    needs = f", which needs driver {family.least_driver}" if family else ""
    reason = f"the driver is too old for CUDA {case.runtime}{needs}; {forward.reason}"
    remedies = [_say_driver(case, "runs it"), _say_build(case), forward.remedy]
    return case.say(
        Fit.MISFIT,
        reason,
        remedy="; or ".join(remedy for remedy in remedies if remedy),
        command=forward.command,
        cited=family.cited if family else forward.cited,
    )


def _say_driver(case: _Case, effect: str) -> str:
    branch = case.tables.find_branch_for(case.runtime.series)
    if branch is None:
        return f"a driver for CUDA {case.runtime} {effect}"
    return f"a driver of branch {branch.number} or newer {effect}"


def _say_build(case: _Case) -> str:
    """Another build of the same torch that the driver runs."""
    if not case.name.startswith("torch "):
        return ""
    machine = case.stack.architecture.value or "x86_64"
    builds = case.tables.find_builds(case.stack.torch.release, machine)
    fitting = [b.tag for b in builds if b.cuda.major <= case.span.least.major]
    if not fitting:
        return ""
    return f"torch {case.stack.torch.release} for an older CUDA: +{', +'.join(reversed(fitting))}"


RULE = Rule(
    name="driver-runtime",
    purpose=Purpose.RUNNING,
    compares="the newest CUDA of the driver against the CUDA that each framework was built for",
    facts=(
        "driver.nvidia.version",
        "driver.nvidia.cuda.version",
        "driver.nvidia.compat.version",
        "driver.nvidia.compat.packages",
        "driver.tegra.version",
        "framework.torch.version",
        "framework.torch.cuda",
        "framework.tensorflow.cuda",
        "framework.jax.cuda",
    ),
    judge=_judge,
)
