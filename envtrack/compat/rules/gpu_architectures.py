"""The GPUs against the architectures that torch was compiled for."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.architectures import Code, Usable, find_code
from envtrack.compat.gpu_groups import GpuGroup, group_gpus
from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables, TorchBuild
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    if stack.torch.version.value is None:
        yield Nothing(stack.torch.version.why)
    elif stack.torch.cuda.is_absent:
        yield Nothing("torch was built without CUDA")
    elif not stack.gpus.value:
        yield Nothing(stack.gpus.why or "there is no NVIDIA GPU")
    else:
        for group in group_gpus(stack.gpus.value):
            yield _judge_group(stack, tables, group)


def _judge_group(stack: Stack, tables: Tables, group: GpuGroup) -> Opinion:
    torch, capability = stack.torch, group.capability
    name = f"torch {torch.version.value}"
    if capability.value is None:
        compared = f"{group} against the architectures of {name}"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=capability.why)
    compared = f"{group}, compute capability {capability.value}, against {name}"
    if torch.archs.value is None:
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=torch.archs.why)
    compared = f"{compared}: {' '.join(torch.archs.value)}"
    usable = find_code(capability.value, torch.archs.value, tegra=tables.tegra)
    cited = (*capability.sources, *torch.archs.sources)
    if usable.code is Code.BINARY:
        reason = f"{usable.arch} is code for this GPU"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=cited)
    if tables.find_capability(capability.value) is None:
        reason = f"compute capability {capability.value} is not in the tables"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    if usable.code is Code.PTX:
        return _judge_ptx(stack, compared, usable)
    return _judge_none(stack, tables, compared, capability.value)


def _judge_ptx(stack: Stack, compared: str, usable: Usable) -> Opinion:
    """The driver compiles it, if its CUDA is not older than the one that made the PTX."""
    span, made = stack.driver.cuda.value, stack.torch.cuda.value
    cited = stack.torch.archs.sources
    if stack.settings.get("CUDA_DISABLE_PTX_JIT", "0") not in {"", "0", "false", "no", "off"}:
        return Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=f"there is only {usable.arch} for it, and CUDA_DISABLE_PTX_JIT is set",
            remedy="unset it",
            command="unset CUDA_DISABLE_PTX_JIT",
            cited=cited,
        )
    if span is None or made is None:
        why = stack.driver.cuda.why or stack.torch.cuda.why
        reason = (
            f"there is only {usable.arch}, and whether the driver can compile it is open: {why}"
        )
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason, cited=cited)
    if made.series <= span.least:
        reason = f"no code for it, but {usable.arch}, which the driver compiles at the first start"
        return Opinion(compared=compared, fit=Fit.LIMITED, reason=reason, cited=cited)
    if span.most is None or made.series <= span.most:
        reason = f"there is only {usable.arch}, made by CUDA {made}; the driver's is {span}"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason, cited=cited)
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"there is only {usable.arch}, made by CUDA {made}, which a driver for CUDA {span} "
        "can't compile",
        remedy=f"a driver for CUDA {made} or newer",
        cited=cited,
    )


def _judge_none(stack: Stack, tables: Tables, compared: str, capability: Numbers) -> Opinion:
    archs = stack.torch.archs
    relatives = [arch for arch in archs.value or () if arch.startswith(f"sm_{capability.major}")]
    if capability in tables.tegra and relatives:
        reason = "a Jetson's binaries are its own, and no list names its capability"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason, cited=archs.sources)
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason="it has neither binary code nor PTX for this GPU (“no kernel image is available”)",
        remedy=_suggest(stack, tables, capability),
        cited=archs.sources,
    )


def _suggest(stack: Stack, tables: Tables, capability: Numbers) -> str:
    """A build with code for the GPU: of this torch if there is one, else the nearest."""
    machine = stack.architecture.value or "x86_64"
    fitting = [
        build
        for build in tables.builds
        if build.machine == machine
        and find_code(capability, build.archs, tegra=tables.tegra).code is Code.BINARY
    ]
    same = [build.tag for build in fitting if stack.torch.release in build.torch]
    if same:
        return f"another build of torch {stack.torch.release}: +{', +'.join(sorted(same))}"
    if not fitting:
        return "no torch in the tables has code for it: build torch from source"
    return _say_span(fitting, [release.torch for release in tables.releases])


def _say_span(builds: list[TorchBuild], releases: list[str]) -> str:
    """The first and the last release that has such a build."""
    having = [
        (release, min((b for b in builds if release in b.torch), key=lambda b: b.cuda).tag)
        for release in releases
        if any(release in build.torch for build in builds)
    ]
    (first, first_tag), (last, last_tag) = having[0], having[-1]
    return f"torch from {first}+{first_tag} to {last}+{last_tag} has code for it"


RULE = Rule(
    name="gpu-architectures",
    purpose=Purpose.RUNNING,
    compares="each GPU's compute capability against the architectures torch was compiled for",
    facts=(
        "hardware.gpu.<n>.compute-capability",
        "hardware.gpu.<n>.model",
        "framework.torch.archs",
        "framework.torch.cuda",
        "driver.nvidia.cuda.version",
        "settings.CUDA_DISABLE_PTX_JIT",
    ),
    judge=_judge,
)
