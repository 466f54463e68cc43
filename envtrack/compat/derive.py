"""What the tables tell of a stack beyond its facts: a driver's CUDA, a model's capability, a build.

A fact always goes before a table; what was told by a table carries its source on.
"""

from __future__ import annotations

from dataclasses import replace

from envtrack.compat.readings import Reading
from envtrack.compat.stack import CudaSpan, Driver, Gpu, Stack, Torch
from envtrack.compat.tables import Cited, Tables, TorchBuild, parse_tag
from envtrack.compat.versions import Numbers

_NO_CUDA = ("cpu", "rocm", "xpu")


def fill_stack(stack: Stack, tables: Tables) -> Stack:
    """The stack with what can be told from the tables filled in."""
    return replace(
        stack,
        driver=_fill_driver(stack, tables),
        gpus=stack.gpus.map(lambda gpus: tuple(_fill_gpu(gpu, tables) for gpu in gpus)),
        torch=_fill_torch(stack, tables),
    )


def _fill_driver(stack: Stack, tables: Tables) -> Driver:
    """The newest CUDA of the driver itself, not of a forward-compatibility package in its way."""
    driver = stack.driver
    if driver.version.value is None or stack.tegra.value is not None:
        return driver
    if driver.cuda.value is not None and driver.compat.value is None:
        return driver
    found = tables.find_driver_cuda(driver.version.value)
    if found is None:
        return driver if driver.cuda.value else replace(driver, cuda=_too_old(driver))
    span = CudaSpan(least=found.least, most=found.most)
    planned = driver.version.is_planned
    return replace(driver, cuda=Reading(value=span, cited=found.cited, is_planned=planned))


def _too_old(driver: Driver) -> Reading[CudaSpan]:
    return Reading(why=f"driver {driver.version.value} is older than the tables go back")


def _fill_gpu(gpu: Gpu, tables: Tables) -> Gpu:
    model = tables.find_gpu(gpu.model.value) if gpu.model.value else None
    if model is None:
        unknown: Reading[str] = Reading(
            why=f"{gpu.model.value} is not in the tables" if gpu.model.value else gpu.model.why
        )
        capability = gpu.capability
        if capability.value is None and gpu.model.value:
            capability = Reading(why=f"{capability.why}, and {unknown.why}")
        return replace(gpu, kind=unknown, capability=capability)
    kind = Reading(value=model.kind, cited=model.cited)
    if gpu.capability.value is not None:
        return replace(gpu, kind=kind)
    planned = gpu.model.is_planned
    told = Reading(value=model.capability, cited=model.cited, is_planned=planned)
    return replace(gpu, kind=kind, capability=told)


def _fill_torch(stack: Stack, tables: Tables) -> Torch:
    torch = stack.torch
    if torch.version.value is None:
        return torch
    release = None if stack.is_condas_torch else tables.find_release(torch.release)
    if torch.tag.startswith(_NO_CUDA):
        gone: Reading[Numbers] = Reading(why=f"torch {torch.version.value}", is_absent=True)
        return replace(torch, cuda=torch.cuda if torch.cuda.value else gone)
    tag = torch.tag or (release.default if release else "")
    build = _find_build(stack, tables, tag)
    abi = release.find_abi(torch.tag) if release else None
    return replace(
        torch,
        cuda=_fill_cuda(stack, tag, build.cited if build else None),
        archs=_fill_archs(torch, build),
        cxx11_abi=torch.cxx11_abi
        if torch.cxx11_abi.value is not None or abi is None or release is None
        else Reading(value=abi, cited=release.cited),
    )


def _find_build(stack: Stack, tables: Tables, tag: str) -> TorchBuild | None:
    """Of this CPU architecture; Jetson's own builds are in no table."""
    machine = stack.architecture.value or "x86_64"
    if stack.tegra.value is not None or stack.is_condas_torch:
        return None
    builds = tables.find_builds(stack.torch.release, machine)
    return next((build for build in builds if build.tag == tag), None)


def _fill_cuda(stack: Stack, tag: str, cited: Cited | None) -> Reading[Numbers]:
    """By the local version, which names it; by the tables for the build that has none."""
    torch = stack.torch
    if torch.cuda.value is not None or torch.cuda.is_absent:
        return torch.cuda
    if not torch.tag and cited is None:
        # On aarch64 the default was a CPU build for years.
        return Reading(why=f"{torch.cuda.why}, and the tables do not know this torch")
    found = parse_tag(tag)
    if found is None:
        return Reading(why=f"{torch.cuda.why}, and `{tag}` names no CUDA")
    return Reading(value=found, cited=cited, is_planned=torch.version.is_planned)


def _fill_archs(torch: Torch, build: TorchBuild | None) -> Reading[tuple[str, ...]]:
    if torch.archs.value is not None:
        return torch.archs
    if build is None:
        return Reading(why=f"{torch.archs.why}, and the tables do not know this build of torch")
    return Reading(value=build.archs, cited=build.cited)
