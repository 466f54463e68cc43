"""A stack as it would be: with other packages, another driver, GPU or compiler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from envtrack.compat.readings import Reading
from envtrack.compat.stack import Driver, Gpu, HostCompiler, Stack, Torch
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.errors import UsageProblem
from envtrack.model.layer import Layer, find_package_layer
from envtrack.model.snapshot import InstalledPackage

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*(?P<version>[\w.+!-]+)")
_PLANNED = "it is planned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is assumed; empty: as it is.

    Attributes:
        packages: versions by normalised name.
        driver: of the NVIDIA driver.
        gpus: models, in their order.
        capability: of all GPUs.
        gcc: of the host compiler.
        nvcc: the toolkit's release.
    """

    packages: Mapping[str, str]
    driver: Numbers | None = None
    gpus: tuple[str, ...] = ()
    capability: Numbers | None = None
    gcc: Numbers | None = None
    nvcc: Numbers | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """What is assumed, a line each."""
        rows = [f"{name} {version}" for name, version in self.packages.items()]
        rows += [f"driver {self.driver}"] * (self.driver is not None)
        rows += [f"GPU {name}" for name in self.gpus]
        rows += [f"compute capability {self.capability}"] * (self.capability is not None)
        rows += [f"gcc {self.gcc}"] * (self.gcc is not None)
        rows += [f"nvcc {self.nvcc}"] * (self.nvcc is not None)
        return tuple(rows)


def parse_requirement(text: str) -> tuple[str, str]:
    """Name and version of ``torch==2.6.0+cu126``.

    Raises:
        UsageProblem: it is of another form: a range names no build that could be judged.
    """
    found = _REQUIREMENT.fullmatch(text.strip())
    if found is None:
        raise UsageProblem(
            f"--with {text}: name and version are wanted", hint="`--with torch==2.6.0+cu126`"
        )
    return re.sub(r"[-_.]+", "-", found["name"]).lower(), found["version"]


def parse_planned(text: str, option: str) -> Numbers:
    """The version that an option gives.

    Raises:
        UsageProblem: it is none.
    """
    found = parse_numbers(text)
    if found is None or found.text != text.strip():
        raise UsageProblem(f"{option} {text}: a version is wanted", hint=f"`{option} 12.4`")
    return found


def apply_plan(stack: Stack, plan: Plan) -> Stack:
    """The stack as planned; facts of what is replaced no longer count."""
    if plan.packages:
        stack = _replace_packages(stack, plan.packages)
    if plan.driver is not None:
        stack = replace(stack, driver=_plan_driver(plan.driver))
    if plan.gpus or plan.capability is not None:
        stack = replace(stack, gpus=Reading(value=_plan_gpus(stack, plan), is_planned=True))
    toolchain = stack.toolchain
    if plan.nvcc is not None:
        toolchain = replace(toolchain, nvcc=Reading(value=plan.nvcc, is_planned=True))
    if plan.gcc is not None:
        version = Reading(value=plan.gcc, is_planned=True)
        host = HostCompiler(chosen_by="PATH", command="gcc", kind="gcc", version=version)
        toolchain = replace(toolchain, hosts=(host,))
    return replace(stack, toolchain=toolchain)


def _replace_packages(stack: Stack, planned: Mapping[str, str]) -> Stack:
    packages = {**stack.packages}
    if "torch" in planned:
        # What it pins comes with it, and what the old one pinned goes.
        packages = {
            name: package
            for name, package in packages.items()
            if not (name.startswith("nvidia-") and _is_runtime(name))
        }
        stack = replace(stack, torch=_plan_torch(planned["torch"]), shadows=Reading(why=_PLANNED))
    for name, version in planned.items():
        packages[name] = InstalledPackage(name=name, version=version)
    locked = stack.locked
    if locked is not None:
        locked = tuple(package for package in locked if package.name not in planned)
    return replace(stack, packages=packages, locked=locked, are_installed=False)


def _is_runtime(name: str) -> bool:
    return find_package_layer(name) is Layer.CUDA_RUNTIME


def _plan_torch(version: str) -> Torch:
    return Torch(
        version=Reading(value=version, is_planned=True),
        cuda=Reading(why=_PLANNED),
        hip=Reading(why=_PLANNED),
        archs=Reading(why=_PLANNED),
        cxx11_abi=Reading(why=_PLANNED),
    )


def _plan_driver(version: Numbers) -> Driver:
    told = Reading(value=version, is_planned=True)
    return Driver(
        version=told,
        library=told,
        agrees=Reading(value="yes", is_planned=True),
        answers=Reading(value="yes", is_planned=True),
        cuda=Reading(why=_PLANNED),
        compat=Reading(why=_PLANNED, is_absent=True),
        compat_packages=Reading(why=_PLANNED, is_absent=True),
    )


def _plan_gpus(stack: Stack, plan: Plan) -> tuple[Gpu, ...]:
    gpus = stack.gpus.value or ()
    if plan.gpus:
        gpus = tuple(
            Gpu(
                index=index,
                model=Reading(value=name, is_planned=True),
                capability=Reading(why=_PLANNED),
            )
            for index, name in enumerate(plan.gpus)
        )
    if plan.capability is None:
        return gpus
    told = Reading(value=plan.capability, is_planned=True)
    if not gpus:
        return (Gpu(index=0, model=Reading(why="no model is planned"), capability=told),)
    return tuple(replace(gpu, capability=told) for gpu in gpus)
