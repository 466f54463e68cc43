from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from envtrack.collect.container import ContainerCollector
from envtrack.collect.take import take_snapshot
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import facts_of, machine, make_environment, write

ID = "4f" * 32
# The form of libpod's container_internal.go, which writes it for privileged containers.
PODMAN = f"""\
engine="podman-5.6.2"
name="quiet_name"
id="{ID}"
image="quay.io/team/lab:1.2"
imageid="{"0b" * 32}"
rootless=1
graphRootMounted=1
"""
# proc(5) and kernel.org's cgroup-v1 and cgroup-v2; Docker 24 on a host with either version.
DOCKER_V1 = f"12:memory:/docker/{ID}\n11:cpu,cpuacct:/docker/{ID}\n1:name=systemd:/docker/{ID}\n"
NAMESPACE_V2 = "0::/\n"
POD_V2 = f"0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-{ID}.scope\n"
SLURM_V2 = "0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n"
# The first line of /proc/self/mounts in Docker with overlay2.
OVERLAY = (
    "overlay / overlay rw,relatime,lowerdir=/var/lib/docker/overlay2/l/AB:"
    "/var/lib/docker/overlay2/l/CD,upperdir=/var/lib/docker/overlay2/x/diff 0 0\n"
)
SHM = "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k,inode64 0 0\n"


def read(
    tmp_path: Path, files: Mapping[str, str] = {}, environ: Mapping[str, str] = {}
) -> dict[str, FactState]:
    for name, text in files.items():
        write(tmp_path / "root" / name, text)
    facts = facts_of(ContainerCollector(), machine(tmp_path, environ=environ))
    return {name.removeprefix("container."): state for name, state in facts.items()}


def test_a_plain_machine_is_no_container_and_has_no_limits(tmp_path: Path) -> None:
    facts = read(
        tmp_path,
        {
            "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-3.scope\n",
            "proc/self/mounts": "/dev/sda1 / ext4 rw,relatime 0 0\n",
            "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
            "sys/fs/cgroup/user.slice/memory.max": "max\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/memory.max": "max\n",
        },
    )
    assert facts.pop("cgroup") == Known("v2")
    assert set(facts.values()) == {Absent()}


def test_an_empty_root_has_nothing_and_nothing_is_unknown(tmp_path: Path) -> None:
    assert set(read(tmp_path).values()) == {Absent()}


@pytest.mark.parametrize(
    ("files", "environ", "runtime"),
    [
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": ""}, {}, "podman"),
        ({"run/.containerenv": "", ".dockerenv": ""}, {}, "podman"),
        ({".singularity.d/runscript": ""}, {"APPTAINER_CONTAINER": "/x.sif"}, "apptainer"),
        ({".singularity.d/runscript": ""}, {"SINGULARITY_CONTAINER": "/x.sif"}, "singularity"),
        ({"proc/self/cgroup": DOCKER_V1}, {}, "docker"),
        ({"proc/self/cgroup": NAMESPACE_V2, "proc/self/mounts": OVERLAY}, {}, "docker"),
        ({"proc/self/cgroup": POD_V2}, {}, "containerd"),
        ({"proc/self/cgroup": f"0::/kubepods/besteffort/crio-{ID}\n"}, {}, "cri-o"),
        ({"proc/self/cgroup": f"0::/machine.slice/libpod-{ID}.scope\n"}, {}, "podman"),
        ({"proc/self/cgroup": "1:name=systemd:/lxc/lab/init.scope\n"}, {}, "lxc"),
        ({"run/systemd/container": "systemd-nspawn\n"}, {}, "systemd-nspawn"),
        ({}, {"container": "lxc"}, "lxc"),
    ],
)
def test_a_runtime_is_told_by_what_it_leaves_inside(
    tmp_path: Path, files: dict[str, str], environ: dict[str, str], runtime: str
) -> None:
    assert read(tmp_path, files, environ)["runtime"] == Known(runtime)


def test_an_image_of_singularity_by_its_labels_alone_is_told_from_apptainers(
    tmp_path: Path,
) -> None:
    labels = {"org.label-schema.usage.apptainer.version": "1.4.1-1.el9"}
    facts = read(tmp_path, {".singularity.d/labels.json": json.dumps(labels)})
    assert facts["runtime"] == Known("apptainer")


def test_cgroups_that_can_not_be_read_make_the_runtime_unknown(tmp_path: Path) -> None:
    (tmp_path / "root/proc/self/cgroup").mkdir(parents=True)
    facts = read(tmp_path)
    assert facts["runtime"] == Unknown("is a directory")
    assert facts["memory-limit-mib"] == Unknown("is a directory")


def test_a_privileged_podman_container_knows_its_image(tmp_path: Path) -> None:
    facts = read(tmp_path, {"run/.containerenv": PODMAN})
    assert facts["runtime-version"] == Known("5.6.2")
    assert facts["image.name"] == Known("quay.io/team/lab:1.2")
    assert facts["image.id"] == Known("sha256:" + "0b" * 32)


def test_an_image_that_was_named_by_its_digest_shows_it(tmp_path: Path) -> None:
    digest = "sha256:" + "1c" * 32
    text = PODMAN.replace("lab:1.2", f"lab@{digest}")
    facts = read(tmp_path, {"run/.containerenv": text})
    assert facts["image.name"] == Known("quay.io/team/lab")
    assert facts["image.digest"] == Known(digest)


@pytest.mark.parametrize("mark", ["run/.containerenv", ".dockerenv"])
def test_of_an_image_that_is_not_told_there_is_no_fact(tmp_path: Path, mark: str) -> None:
    facts = read(tmp_path, {mark: ""})
    assert [name for name in facts if name.startswith(("image", "runtime"))] == [
        "runtime",
        "image.ngc",
    ]


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ("ubuntu:22.04", "ubuntu:22.04"),
        (
            "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel",
            "pytorch/pytorch:2.6.0-cuda12.4-cudnn9-devel",
        ),
        ("nvcr.io/nvidia/pytorch:24.05-py3", "nvcr.io/nvidia/pytorch:24.05-py3"),
        ("localhost/mine:latest", "localhost/mine:latest"),
        ("registry.corp.example/team/lab:1", "<registry>/team/lab:1"),
        ("10.1.2.3:5000/lab:1", "<registry>/lab:1"),
        ("user:c4nary@registry.corp.example/lab", "<registry>/lab"),
    ],
)
def test_the_host_of_a_private_registry_is_not_shown(
    tmp_path: Path, image: str, shown: str
) -> None:
    text = PODMAN.replace("quay.io/team/lab:1.2", image)
    assert read(tmp_path, {"run/.containerenv": text})["image.name"] == Known(shown)


def test_apptainer_tells_the_images_file_and_what_it_was_made_from(tmp_path: Path) -> None:
    # `apptainer inspect` of an image that was built from Docker's, as clusters' guides show it.
    labels = {
        "Author": "someone@example.com",
        "org.label-schema.usage.singularity.deffile.bootstrap": "docker",
        "org.label-schema.usage.singularity.deffile.from": "nvidia/cuda:12.1.0-runtime-ubuntu22.04",
        "org.label-schema.usage.apptainer.version": "1.4.1-1.el9",
    }
    facts = read(
        tmp_path,
        {".singularity.d/labels.json": json.dumps(labels)},
        {"APPTAINER_CONTAINER": "/scratch/alice/torch 2.sif"},
    )
    assert facts["image.name"] == Known("torch 2.sif")
    assert facts["image.base"] == Known("docker://nvidia/cuda:12.1.0-runtime-ubuntu22.04")
    assert facts["image.digest"] == Absent()


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000, '{"x": 1}'])
def test_labels_that_say_nothing_do_no_harm(tmp_path: Path, text: str) -> None:
    facts = read(tmp_path, {".singularity.d/labels.json": text})
    assert facts["runtime"] == Known("singularity")
    assert facts["image.base"] == Absent()


def test_nvidias_own_images_name_themselves(tmp_path: Path) -> None:
    # Variables that public logs of these images show.
    environ = {
        "NVIDIA_PRODUCT_NAME": "PyTorch",
        "NVIDIA_PYTORCH_VERSION": "26.03",
        "NVIDIA_BUILD_ID": "286725636",
    }
    facts = read(tmp_path, {".dockerenv": ""}, environ)
    assert facts["image.ngc"] == Known("PyTorch 26.03, build 286725636")


def test_a_pod_is_kubernetes_whatever_its_runtime_and_no_address_is_kept(tmp_path: Path) -> None:
    account = "var/run/secrets/kubernetes.io/serviceaccount/token"
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    by_file = read(tmp_path / "a", {account: "c4nary"})
    by_variable = read(tmp_path / "b", {"proc/self/cgroup": POD_V2}, environ)
    assert by_file["kubernetes"] == by_variable["kubernetes"] == Known(value=True)
    assert by_variable["runtime"] == Known("containerd")
    assert "10.0.0.1" not in repr(by_variable)
    assert ID not in repr(by_variable)


@pytest.mark.parametrize(
    ("release", "kind"),
    [
        ("5.15.167.4-microsoft-standard-WSL2", Known("WSL2")),
        ("4.4.0-19041-Microsoft", Known("WSL1")),
        ("6.6.0-lab-WSL2+", Known("WSL2")),
        ("5.15.0-1075-azure", Absent()),
    ],
)
def test_wsl_is_told_by_the_kernels_name(tmp_path: Path, release: str, kind: FactState) -> None:
    assert read(tmp_path, {"proc/sys/kernel/osrelease": f"{release}\n"})["wsl"] == kind


def test_wsl_with_a_kernel_of_ones_own_is_told_by_its_way_to_windows(tmp_path: Path) -> None:
    files = {
        "proc/sys/kernel/osrelease": "6.9.1-mine\n",
        "proc/sys/fs/binfmt_misc/WSLInterop-late": "enabled\n",
        "dev/dxg": "",
    }
    facts = read(tmp_path, files)
    assert facts["wsl"] == Known("WSL2")
    assert facts["wsl-gpu"] == Known(value=True)


def test_of_a_slurm_job_only_is_kept_that_it_is_one(tmp_path: Path) -> None:
    facts = read(tmp_path, environ={"SLURM_JOB_ID": "8675309", "SLURM_JOB_PARTITION": "secret"})
    assert facts["slurm"] == Known(value=True)
    assert "8675309" not in repr(facts)
    assert "secret" not in repr(facts)


def test_conda_is_told_by_the_environment_or_the_python_below_it(tmp_path: Path) -> None:
    config = "home = /opt/miniforge3/bin\nversion = 3.11.7\n"
    environment = make_environment(tmp_path, config)
    where = machine(tmp_path, environment=environment)
    assert facts_of(ContainerCollector(), where)["container.conda"] == Absent()
    write(tmp_path / "root/opt/miniforge3/conda-meta/history")
    assert facts_of(ContainerCollector(), where)["container.conda"] == Known(value=True)


@pytest.mark.parametrize(
    ("files", "memory", "percent"),
    [
        (
            {
                "proc/self/cgroup": NAMESPACE_V2,
                "sys/fs/cgroup/memory.max": "8589934592\n",
                "sys/fs/cgroup/cpu.max": "250000 100000\n",
            },
            8192,
            250,
        ),
        (
            {
                "proc/self/cgroup": DOCKER_V1,
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "4294967296\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            4096,
            50,
        ),
        (
            {
                "proc/self/cgroup": SLURM_V2,
                "sys/fs/cgroup/system.slice/slurmstepd.scope/memory.max": "max\n",
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_123/memory.max": "17179869184\n",
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_123/step_0/memory.max": "max\n",
                "sys/fs/cgroup/system.slice/slurmstepd.scope/job_123/cpu.max": "max 100000\n",
            },
            16384,
            None,
        ),
    ],
)
def test_the_lowest_limit_of_a_group_and_its_parents_counts(
    tmp_path: Path, files: dict[str, str], memory: int, percent: int | None
) -> None:
    facts = read(tmp_path, files)
    assert facts["memory-limit-mib"] == Known(memory)
    assert facts["cpu-quota-percent"] == (Absent() if percent is None else Known(percent))


def test_the_largest_number_of_version_1_is_no_limit(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": f"4:memory:/docker/{ID}\n4:cpu:/\n0::/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    facts = read(tmp_path, files)
    assert facts["cgroup"] == Known("hybrid")
    assert facts["memory-limit-mib"] == Absent()
    assert facts["cpu-quota-percent"] == Absent()


def test_a_group_outside_of_its_namespace_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "root/sys/memory.max", "1048576\n")
    facts = read(tmp_path, {"proc/self/cgroup": "0::/../../../sys\n"})
    assert facts["memory-limit-mib"] == Absent()


@pytest.mark.parametrize("text", ["", "odd\n", "0\n", "::\n", "7:\xff:\xff\n"])
def test_odd_cgroup_files_do_no_harm(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, {"proc/self/cgroup": text})["memory-limit-mib"] == Absent()


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ("rw,size=65536k,inode64", Known(64)),
        ("rw,nosuid,size=8g", Known(8192)),
        ("rw,size=1048576", Known(1)),
        ("rw,size=50%", Unknown("its mount does not name its size: it is a share of the memory")),
        ("rw", Unknown("its mount does not name its size: it is a share of the memory")),
    ],
)
def test_shared_memory_of_another_root_is_read_from_its_mount(
    tmp_path: Path, options: str, size: FactState
) -> None:
    mounts = f"{OVERLAY}tmpfs /dev/shm tmpfs rw 0 0\nshm /dev/shm tmpfs {options} 0 0\n"
    assert read(tmp_path, {"proc/self/mounts": mounts})["shm-mib"] == size


def test_without_a_mount_there_is_no_shared_memory(tmp_path: Path) -> None:
    assert read(tmp_path, {"proc/self/mounts": OVERLAY})["shm-mib"] == Absent()


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="it is mounted nowhere")
def test_shared_memory_of_this_machine_is_its_whole_size(tmp_path: Path) -> None:
    facts = facts_of(ContainerCollector(), machine(tmp_path, root=Path("/")))
    size = os.statvfs("/dev/shm")
    assert facts["container.shm-mib"] == Known(size.f_blocks * size.f_frsize // 2**20)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("all", "all"),
        ("none", "none"),
        ("void", "void"),
        ("", "void"),
        ("0", "1 listed"),
        ("GPU-8f4a2c1e-0000-1111-2222-333344445555,GPU-1", "2 listed"),
    ],
)
def test_of_visible_devices_only_their_number_is_kept(
    tmp_path: Path, value: str, said: str
) -> None:
    facts = read(tmp_path, environ={"NVIDIA_VISIBLE_DEVICES": value})
    assert facts["nvidia.visible-devices"] == Known(said)


def test_only_known_capabilities_are_kept(tmp_path: Path) -> None:
    facts = read(tmp_path, environ={"NVIDIA_DRIVER_CAPABILITIES": "utility,compute,c4nary"})
    assert facts["nvidia.capabilities"] == Known("compute,utility")


def test_an_image_of_cuda_without_gpus_has_the_variables_and_no_devices(tmp_path: Path) -> None:
    environ = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
    facts = read(tmp_path, {".dockerenv": "", "dev/null": ""}, environ)
    assert facts["nvidia.visible-devices"] == Known("all")
    assert facts["nvidia.device-files"] == Absent()


def test_device_files_of_gpus_are_counted_without_those_beside_them(tmp_path: Path) -> None:
    names = ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1")
    facts = read(tmp_path, {f"dev/{name}": "" for name in names})
    assert facts["nvidia.device-files"] == Known(3)


def test_nothing_personal_comes_through_into_a_snapshot(tmp_path: Path) -> None:
    write(tmp_path / "root/run/.containerenv", PODMAN)
    write(tmp_path / "root/proc/self/cgroup", DOCKER_V1)
    environ = {"USER": "alice", "APPTAINER_CONTAINER": "/scratch/alice/x.sif"}
    where = replace(machine(tmp_path, environ=environ), salt="s")
    snapshot = take_snapshot(
        where,
        name="lab",
        lockfile=None,
        now=datetime(2026, 1, 2, tzinfo=UTC),
        collectors=[ContainerCollector()],
    )
    text = repr(snapshot)
    assert "quiet_name" not in text
    assert "alice" not in text
    assert ID not in text
