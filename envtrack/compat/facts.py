"""Makes a `Stack` of a snapshot and a lock: the only module that knows the names of facts.

A snapshot may come from an older envtrack: what it does not tell is "not recorded", which is
neither absent nor unknown, and leads to "can't tell" like them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from envtrack.compat.readings import Reading, read_fact, read_number, read_text
from envtrack.compat.stack import (
    CudaSpan,
    Driver,
    Gpu,
    HostCompiler,
    Shadow,
    Stack,
    Toolchain,
    Torch,
)
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.model.fact import FactState, Known
from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.snapshot import InstalledPackage, Snapshot

_GPU = re.compile(r"hardware\.gpu\.(\d{1,4})\.")
_SHADOW = "cuda-runtime.shadow."
_SETTING = "settings."
# How the settings collector marks a value of which it hid a part.
_REDACTED = re.compile(r" \(redacted[^()]*\)$")
_VERSIONED_NAME = re.compile(r"(?:.*-)?(?P<name>gcc|g\+\+|clang\+\+|clang)-(?P<version>\d+)$")

Facts = Mapping[str, FactState]


def read_stack(
    snapshot: Snapshot,
    *,
    lock: Lock | None = None,
    locked: tuple[LockedPackage, ...] | None = None,
) -> Stack:
    """The stack that a snapshot tells of.

    Args:
        snapshot: the machine.
        lock: its lockfile, if there is one.
        locked: what of the lockfile is installed on this machine.
    """
    facts = snapshot.facts
    packages, are_installed = _read_packages(snapshot, locked)
    return Stack(
        architecture=read_text(facts, "hardware.cpu.architecture"),
        gpus=_read_gpus(facts),
        on_bus=read_number(facts, "hardware.pci.nvidia"),
        driver=_read_driver(facts),
        tegra=read_text(facts, "driver.tegra.version"),
        libc=read_text(facts, "os.libc.name"),
        libc_version=_read_version(facts, "os.libc.version"),
        glibcxx=_read_version(facts, "os.libstdcxx.glibcxx"),
        container=read_text(facts, "container.runtime"),
        wsl=read_text(facts, "container.wsl", "driver.wsl.dxg"),
        shm_mib=read_number(facts, "container.shm-mib"),
        toolchain=_read_toolchain(facts),
        python=_read_version(facts, "python.version"),
        python_abi=read_text(facts, "python.abi"),
        implementation=read_text(facts, "python.implementation"),
        torch=_read_torch(facts, packages),
        frameworks=_read_frameworks(facts, packages),
        packages=packages,
        are_installed=are_installed,
        locked=locked,
        requires_python=lock.requires_python if lock else "",
        shadows=_read_shadows(facts),
        settings=_read_settings(facts),
        facts=facts,
    )


def find_marker_environment(snapshot: Snapshot) -> dict[str, str]:
    """The PEP 508 variables of the machine that a snapshot tells of, those that are known."""
    facts = snapshot.facts
    version = read_text(facts, "python.version").value or ""
    implementation = read_text(facts, "python.implementation").value or ""
    machine = read_text(facts, "hardware.cpu.architecture").value or ""
    # Only Linux has one of the C libraries that are looked for.
    system = read_text(facts, "os.distribution.id", "os.libc.name").value or ""
    is_mac = system == "macos"
    values = {
        "python_full_version": version,
        "python_version": ".".join(version.split(".")[:2]),
        "implementation_name": implementation.lower(),
        "platform_python_implementation": implementation,
        "platform_machine": "arm64" if is_mac and machine == "aarch64" else machine,
        "os_name": "posix" if system else "",
        "sys_platform": ("darwin" if is_mac else "linux") if system else "",
        "platform_system": ("Darwin" if is_mac else "Linux") if system else "",
    }
    return {name: value for name, value in values.items() if value}


def _read_version(facts: Facts, *names: str) -> Reading[Numbers]:
    return read_text(facts, *names).map(parse_numbers)


def _read_packages(
    snapshot: Snapshot, locked: tuple[LockedPackage, ...] | None
) -> tuple[Mapping[str, InstalledPackage], bool]:
    """What is installed; what would be, where there is no environment."""
    if isinstance(snapshot.facts.get("packages.environment"), Known) or locked is None:
        return snapshot.installed, True
    return {
        package.name: InstalledPackage(name=package.name, version=package.version or "")
        for package in locked
    }, False


def _read_gpus(facts: Facts) -> Reading[tuple[Gpu, ...]]:
    """The NVIDIA ones; an unknown count does not hide those that were found."""
    indexes = sorted({int(found[1]) for name in facts if (found := _GPU.match(name))})
    gpus = tuple(
        Gpu(
            index=index,
            model=read_text(facts, f"hardware.gpu.{index}.model"),
            capability=_read_version(facts, f"hardware.gpu.{index}.compute-capability"),
        )
        for index in indexes
        if read_text(facts, f"hardware.gpu.{index}.vendor").value in {None, "nvidia"}
    )
    if gpus:
        return Reading(value=gpus)
    count = read_number(facts, "hardware.gpu.count")
    # Other vendors' GPUs were found: then there is none of NVIDIA's.
    return Reading(value=()) if count.value is not None else Reading(why=count.why)


def _read_driver(facts: Facts) -> Driver:
    cuda = _read_version(facts, "driver.nvidia.cuda.version")
    return Driver(
        version=_read_version(facts, "driver.nvidia.version"),
        library=_read_version(facts, "driver.nvidia.library.version", "driver.nvidia.nvml.version"),
        agrees=read_text(facts, "driver.nvidia.agrees"),
        answers=read_text(facts, "driver.nvidia.nvml.answers"),
        cuda=cuda.map(lambda found: CudaSpan(least=found, most=found)),
        compat=_read_version(facts, "driver.nvidia.compat.version"),
        compat_packages=read_text(facts, "driver.nvidia.compat.packages"),
    )


def _read_toolchain(facts: Facts) -> Toolchain:
    """The compilers in the order in which PyTorch's builds choose them.

    torch.utils.cpp_extension gives nvcc ``-ccbin $CC``; what ``NVCC_APPEND_FLAGS`` says comes
    behind that and wins, ``NVCC_PREPEND_FLAGS`` and ``NVCC_CCBIN`` come before it. It also holds
    the C++ compiler (``CXX``, else g++) against the toolkit.
    """
    ccbin = read_text(facts, "toolchain.nvcc-ccbin.source").value or ""
    order = [("cc", "CC"), ("nvcc-ccbin", ccbin)]
    if ccbin == "NVCC_APPEND_FLAGS":
        order.reverse()
    named = [_read_named(facts, key, source) for key, source in order if _is_named(facts, key)]
    hosts = [named[0] if named else _read_on_path(facts, "gcc", "gcc")]
    if _is_named(facts, "cxx"):
        hosts.append(_read_named(facts, "cxx", "CXX"))
    elif named:
        hosts.append(_read_on_path(facts, "gxx", "g++"))
    if _is_named(facts, "cudahostcxx"):
        hosts.append(_read_named(facts, "cudahostcxx", "CUDAHOSTCXX"))
    flags = " ".join(
        read_text(facts, f"{_SETTING}{name}").value or ""
        for name in ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
    )
    return Toolchain(
        nvcc=_read_version(facts, "toolchain.nvcc.release", "toolchain.nvcc.build"),
        hosts=tuple(hosts),
        allows_unsupported="-allow-unsupported-compiler" in flags,
    )


def _is_named(facts: Facts, key: str) -> bool:
    return read_text(facts, f"toolchain.{key}.command").value is not None


def _read_named(facts: Facts, key: str, source: str) -> HostCompiler:
    command = read_text(facts, f"toolchain.{key}.command").value or key
    version = _read_version(facts, f"toolchain.{key}.version")
    kind = read_text(facts, f"toolchain.{key}.kind").value or ""
    name = PurePosixPath(command).name
    found = _VERSIONED_NAME.fullmatch(name)
    if version.value is None and found:
        # It could not be asked, but its name tells: gcc-13, x86_64-linux-gnu-g++-12.
        version = Reading(value=parse_numbers(found["version"]))
    return HostCompiler(
        chosen_by=source, command=name, kind=_tell_kind(kind, name), version=version
    )


def _read_on_path(facts: Facts, key: str, command: str) -> HostCompiler:
    kind = read_text(facts, f"toolchain.{key}.kind").value or ""
    version = _read_version(facts, f"toolchain.{key}.version")
    return HostCompiler(
        chosen_by="PATH", command=command, kind=_tell_kind(kind, command), version=version
    )


def _tell_kind(kind: str, name: str) -> str:
    if kind in {"gcc", "clang"}:
        return kind
    if kind:  # Apple's is numbered otherwise; others are neither
        return ""
    if "clang" in name:
        return "clang"
    return "gcc" if re.search(r"gcc|g\+\+", name) else ""


def _read_torch(facts: Facts, packages: Mapping[str, InstalledPackage]) -> Torch:
    version = read_text(facts, "framework.torch.version")
    if version.value is None and "torch" in packages:
        version = Reading(value=packages["torch"].version)
    return Torch(
        version=version,
        cuda=_read_version(facts, "framework.torch.cuda"),
        hip=read_text(facts, "framework.torch.hip"),
        archs=read_text(facts, "framework.torch.archs").map(_split_archs),
        cxx11_abi=read_text(facts, "framework.torch.cxx11-abi").map(_SWITCHES.get),
    )


def _read_frameworks(
    facts: Facts, packages: Mapping[str, InstalledPackage]
) -> dict[str, Reading[Numbers]]:
    """The CUDA of TensorFlow by its build, that of JAX by the runtime that its plugin finds.

    A plugin of JAX is made for a major release and takes what is installed of it.
    """
    found = {}
    tensorflow = read_text(facts, "framework.tensorflow.version").value
    cuda = _read_version(facts, "framework.tensorflow.cuda")
    if tensorflow and cuda.value is not None:
        found[f"tensorflow {tensorflow}"] = cuda
    jax = read_text(facts, "framework.jax.version").value
    plugin = _read_version(facts, "framework.jax.cuda")
    if jax and plugin.value is not None:
        names = (f"nvidia-cuda-runtime-cu{plugin.value.major}", "nvidia-cuda-runtime")
        installed = [parse_numbers(packages[name].version) for name in names if name in packages]
        series = [one.series for one in installed if one and one.major == plugin.value.major]
        found[f"jax {jax}"] = Reading(value=series[0]) if series else plugin
    return found


_SWITCHES = {"yes": True, "no": False, "1": True, "0": False, "new": True, "old": False}


def _split_archs(text: str) -> tuple[str, ...] | None:
    return tuple(re.findall(r"(?:sm|compute)_\d+[af]?", text)) or None


def _read_shadows(facts: Facts) -> Reading[tuple[Shadow, ...]]:
    found = []
    for name in sorted(facts):
        text = read_text(facts, name).value
        if name.startswith(_SHADOW) and text:
            file, _, by = text.removesuffix(")").rpartition(" (")
            found.append(Shadow(component=name.removeprefix(_SHADOW), file=file, by=by))
    if found:
        return Reading(value=tuple(found))
    count = read_fact(facts, "cuda-runtime.shadows")
    return Reading(value=()) if count.value is not None else Reading(why=count.why)


def _read_settings(facts: Facts) -> dict[str, str]:
    return {
        name.removeprefix(_SETTING): _REDACTED.sub("", str(state.value))
        for name, state in facts.items()
        if name.startswith(_SETTING) and isinstance(state, Known)
    }
