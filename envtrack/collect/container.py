"""Whether the machine is a container, of what kind, and what it may use."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.cgroup import Cgroups, read_cgroups, read_cpu_quota, read_memory_limit
from envtrack.collect.container_image import read_image
from envtrack.collect.reading import error_reason, parse_assignments, read_text
from envtrack.collect.shared_memory import read_shared_memory
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from envtrack.collect.interface import Machine

_SECRETS = ("var/run/secrets/kubernetes.io/serviceaccount", "run/secrets/kubernetes.io")
_INTEROP = ("proc/sys/fs/binfmt_misc/WSLInterop", "proc/sys/fs/binfmt_misc/WSLInterop-late")
# What /proc/self/cgroup and the options of the root's overlay say of who made a container. The
# first that fits counts: a pod of containerd has both its own word and Kubernetes's.
_TRACES = (
    ("podman", re.compile(r"libpod-")),
    ("cri-o", re.compile(r"/crio-")),
    ("containerd", re.compile(r"cri-containerd|io\.containerd\.snapshotter")),
    ("docker", re.compile(r"/docker[/-]|/docker/overlay2/")),
    ("lxc", re.compile(r"/lxc[./]")),
    ("podman", re.compile(r"/containers/storage/overlay")),
)
# What systemd(1) writes into /run/systemd/container, by the name that is used here.
_MANAGERS = {
    "docker": "docker",
    "podman": "podman",
    "lxc": "lxc",
    "lxc-libvirt": "lxc",
    "systemd-nspawn": "systemd-nspawn",
    "rkt": "rkt",
    "oci": "oci",
}
# The words of NVIDIA_DRIVER_CAPABILITIES: NVIDIA Container Toolkit, "Specialized configurations".
_CAPABILITIES = frozenset(
    {"all", "compute", "compat32", "graphics", "utility", "video", "display", "ngx"}
)


class ContainerCollector:
    """Reads the marks that container runtimes leave inside, and the control groups' files."""

    layer = Layer.CONTAINER

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``container.runtime`` and what stands around it, the image, limits, hints of GPUs.

        Nothing of it is an identity: no job's, pod's or container's number, and of variables only
        whether they are set.
        """
        runtime = _find_runtime(machine)
        states = {
            "runtime": runtime,
            **_read_runtime_version(machine, runtime),
            "kubernetes": _find_kubernetes(machine),
            "wsl": _find_wsl(machine.root),
            "slurm": _mark("SLURM_JOB_ID" in machine.environ),
            "conda": _find_conda(machine),
            **{f"image.{part}": state for part, state in read_image(machine, runtime).items()},
            **_read_limits(machine),
            **_read_gpu_hints(machine),
        }
        for part, state in states.items():
            yield Fact(name=f"container.{part}", state=state)


def _find_runtime(machine: Machine) -> FactState:
    """The innermost runtime, by the marks of its own making before traces of its parts."""
    root, environ = machine.root, machine.environ
    if _is_there(root / "run/.containerenv"):  # podman-run(1)
        return Known("podman")
    if _is_there(root / ".singularity.d"):
        return Known(_tell_apptainer(machine))
    if _is_there(root / ".dockerenv"):
        return Known("docker")
    manager = read_text(root / "run/systemd/container")
    said = manager.strip() if isinstance(manager, str) else environ.get("container", "")
    if said in _MANAGERS:
        return Known(_MANAGERS[said])
    return _find_trace(root)


def _tell_apptainer(machine: Machine) -> str:
    """Apptainer sets the variables of both names, SingularityCE only those of its own."""
    if any(name in machine.environ for name in ("APPTAINER_CONTAINER", "APPTAINER_NAME")):
        return "apptainer"
    labels = read_text(machine.root / ".singularity.d/labels.json")
    return "apptainer" if isinstance(labels, str) and "usage.apptainer" in labels else "singularity"


def _find_trace(root: Path) -> FactState:
    texts = [read_text(root / "proc/self/cgroup"), _root_mount(root)]
    for name, trace in _TRACES:
        if any(isinstance(text, str) and trace.search(text) for text in texts):
            return Known(name)
    fault = next((text for text in texts if isinstance(text, Unknown)), None)
    return fault or Absent()


def _root_mount(root: Path) -> str | Unknown:
    """The options of what is mounted at ``/``, if that is an overlay."""
    text = read_text(root / "proc/self/mounts")
    if isinstance(text, Unknown):
        return text
    lines = text.splitlines() if isinstance(text, str) else []
    return next((line for line in lines if re.match(r"\S+ / (?:fuse-)?overlay", line)), "")


def _read_runtime_version(machine: Machine, runtime: FactState) -> dict[str, FactState]:
    """Only podman tells it, and only to a privileged container: ``engine="podman-5.6.2"``."""
    if runtime != Known("podman"):
        return {}
    text = read_text(machine.root / "run/.containerenv")
    engine = parse_assignments(text).get("engine", "") if isinstance(text, str) else ""
    found = re.fullmatch(r'"?podman-(?P<version>[\w.+\-]+)"?', engine)
    return {"runtime-version": Known(found["version"])} if found else {}


def _find_kubernetes(machine: Machine) -> FactState:
    has_account = any(_is_there(machine.root / path) for path in _SECRETS)
    return _mark(has_account or "KUBERNETES_SERVICE_HOST" in machine.environ)


def _find_wsl(root: Path) -> FactState:
    """``WSL2`` or ``WSL1``; a container on such a machine has its kernel, and so the same.

    Microsoft's kernels are called ``4.4.0-19041-Microsoft`` (1) and
    ``5.15.167.4-microsoft-standard-WSL2``; one built by oneself may be called anything.
    """
    text = read_text(root / "proc/sys/kernel/osrelease")
    release = text.strip() if isinstance(text, str) else ""
    if "microsoft" not in release.lower() and "WSL" not in release:
        if any(_is_there(root / path) for path in _INTEROP):
            return Known("WSL2")
        return text if isinstance(text, Unknown) else Absent()
    return Known("WSL1" if release.endswith("-Microsoft") else "WSL2")


def _find_conda(machine: Machine) -> FactState:
    """Whether conda made the project's environment or the Python that it stands on."""
    if machine.environment is None:
        return Absent()
    config = read_text(machine.environment / "pyvenv.cfg")
    home = parse_assignments(config).get("home", "") if isinstance(config, str) else ""
    bases = [machine.environment]
    if home.startswith("/"):  # …/miniforge3/bin
        bases.append(machine.root / PurePosixPath(home).parent.relative_to("/"))
    return _mark(any(_is_there(base / "conda-meta") for base in bases))


def _read_limits(machine: Machine) -> dict[str, FactState]:
    groups = read_cgroups(machine.root)
    shared = {"shm-mib": read_shared_memory(machine)}
    if not isinstance(groups, Cgroups):
        return {"cgroup": groups, "memory-limit-mib": groups, "cpu-quota-percent": groups, **shared}
    return {
        "cgroup": Known(groups.version),
        "memory-limit-mib": read_memory_limit(groups),
        "cpu-quota-percent": read_cpu_quota(groups),
        **shared,
    }


def _read_gpu_hints(machine: Machine) -> dict[str, FactState]:
    """What the NVIDIA Container Toolkit was asked for, and the device files that are there.

    Images of CUDA set the variables themselves: without ``--gpus`` they stand there alone.
    """
    return {
        "nvidia.visible-devices": _tell_devices(machine.environ.get("NVIDIA_VISIBLE_DEVICES")),
        "nvidia.capabilities": _tell_capabilities(machine.environ),
        "nvidia.device-files": _count_devices(machine.root / "dev"),
        "wsl-gpu": _mark(_is_there(machine.root / "dev/dxg")),
    }


def _tell_devices(value: str | None) -> FactState:
    """``all``, ``none``, ``void`` or how many; never which: they may be named by their UUID."""
    if value is None:
        return Absent()
    words = [word for word in value.strip().split(",") if word]
    if len(words) == 1 and words[0] in {"all", "none", "void"}:
        return Known(words[0])
    return Known(f"{len(words)} listed" if words else "void")  # empty is the same as void


def _tell_capabilities(environ: Mapping[str, str]) -> FactState:
    value = environ.get("NVIDIA_DRIVER_CAPABILITIES")
    if value is None:
        return Absent()
    words = sorted(word for word in value.split(",") if word in _CAPABILITIES)
    return Known(",".join(words)) if words else Absent()


def _count_devices(folder: Path) -> FactState:
    """How many ``/dev/nvidia<N>`` there are; absent without ``/dev/nvidiactl``."""
    if not _is_there(folder / "nvidiactl"):
        return Absent()
    try:
        return Known(sum(bool(re.fullmatch(r"nvidia\d+", p.name)) for p in folder.iterdir()))
    except OSError as error:
        return Unknown(error_reason(error))


def _is_there(path: Path) -> bool:
    """Whether it exists; what may not be looked for is taken as not there."""
    try:
        return path.exists()
    except OSError:
        return False


def _mark(is_so: bool) -> FactState:  # noqa: FBT001 - a name for the two states
    return Known(value=True) if is_so else Absent()
