from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.collect.kernel import KernelCollector
from envtrack.model.fact import Absent, FactState, Known, Unknown
from tests.collect.places import facts_of, machine, write

BANNER = (
    "Linux version 6.8.0-45-generic (alice@workstation7) (x86_64-linux-gnu-gcc-13 13.2.0)"
    " #45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024\n"
)


def test_release_build_and_architecture_are_read_from_proc(tmp_path: Path) -> None:
    proc = tmp_path / "root" / "proc"
    write(proc / "version", BANNER)
    write(proc / "sys/kernel/osrelease", "6.8.0-45-generic\n")
    write(proc / "sys/kernel/arch", "x86_64\n")
    assert facts_of(KernelCollector(), machine(tmp_path)) == {
        "kernel.name": Known("Linux"),
        "kernel.release": Known("6.8.0-45-generic"),
        "kernel.build": Known("#45-Ubuntu SMP PREEMPT_DYNAMIC Fri Aug 30 12:02:04 UTC 2024"),
        "kernel.machine": Known("x86_64"),
        "kernel.newest-installed": Absent(),
        "kernel.reboot-pending": Absent(),
        "kernel.secure-boot": Absent(),
    }


def test_an_image_without_proc_has_no_kernel_and_not_this_ones(tmp_path: Path) -> None:
    assert set(facts_of(KernelCollector(), machine(tmp_path)).values()) == {Absent()}


def test_a_banner_without_a_build_has_none(tmp_path: Path) -> None:
    write(tmp_path / "root/proc/version", "Linux")
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.name"] == Known("Linux")
    assert facts["kernel.build"] == Absent()


def test_what_may_not_be_read_is_unknown_with_the_reason(tmp_path: Path) -> None:
    proc = tmp_path / "root" / "proc"
    write(proc / "sys/kernel/osrelease").unlink()
    (proc / "version").mkdir()
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.build"] == Unknown("is a directory")
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write(proc / "sys/kernel/osrelease", "6.8").chmod(0)
    facts = facts_of(KernelCollector(), machine(tmp_path))
    assert facts["kernel.release"] == Unknown("not permitted")


def test_the_running_machine_tells_all(tmp_path: Path) -> None:
    facts = facts_of(KernelCollector(), machine(tmp_path, root=Path("/")))
    assert facts["kernel.release"] == Known(os.uname().release)
    for part in ("name", "release", "build", "machine"):
        assert isinstance(facts[f"kernel.{part}"], Known)


def booted(tmp_path: Path, running: str, *files: str) -> tuple[FactState, FactState]:
    """What is said of the newest kernel and of a reboot on a machine with these files."""
    write(tmp_path / "root/proc/sys/kernel/osrelease", f"{running}\n")
    for file in files:
        write(tmp_path / "root" / file)
    facts = facts_of(KernelCollector(), machine(tmp_path))
    return facts["kernel.newest-installed"], facts["kernel.reboot-pending"]


# File names are those that each distribution's kernel packages install.
@pytest.mark.parametrize(
    ("running", "files", "newest", "pending"),
    [
        (
            "6.8.0-45-generic",
            ["boot/vmlinuz-6.8.0-45-generic", "boot/vmlinuz-6.8.0-101-generic", "boot/vmlinuz.old"],
            "6.8.0-101-generic",
            Known(value=True),
        ),
        (
            "6.8.0-45-generic",
            ["boot/vmlinuz-6.8.0-45-generic"],
            "6.8.0-45-generic",
            Known(value=False),
        ),
        (
            "6.8.0-45-generic",
            ["boot/vmlinuz-6.8.0-45-generic", "boot/vmlinuz-6.11.0-9-lowlatency"],
            "6.8.0-45-generic",
            Known(value=False),
        ),
        (
            "5.14.0-427.el9.x86_64",
            [
                "boot/vmlinuz-5.14.0-427.el9.x86_64",
                "boot/vmlinuz-5.14.0-427.2.1.el9_4.x86_64",
                "boot/vmlinuz-5.14.0-503.el9.x86_64+rt",
                "boot/vmlinuz-0-rescue-0123456789abcdef0123456789abcdef",
            ],
            "5.14.0-427.2.1.el9_4.x86_64",
            Known(value=True),
        ),
        (
            "6.9.4-200.fc40.x86_64",
            [
                "lib/modules/6.9.4-200.fc40.x86_64/vmlinuz",
                "lib/modules/6.9.12-200.fc40.x86_64/vmlinuz",
            ],
            "6.9.12-200.fc40.x86_64",
            Known(value=True),
        ),
        (
            "6.9.1-arch1-1",
            ["usr/lib/modules/6.9.1-arch1-2/vmlinuz"],
            "6.9.1-arch1-2",
            Known(value=True),
        ),
        (
            "6.4.0-150600.21-default",
            ["boot/Image-6.4.0-150600.9-default"],
            "6.4.0-150600.9-default",
            Known(value=False),
        ),
        (
            "6.1.0-21-amd64",
            ["boot/vmlinuz-6.1.0-22-rt-amd64", "boot/vmlinuz-6.1.0-9-amd64"],
            "6.1.0-9-amd64",
            Known(value=False),
        ),
    ],
)
def test_the_newest_installed_kernel_of_the_running_flavour_says_whether_to_reboot(
    tmp_path: Path, running: str, files: list[str], newest: str, pending: Known
) -> None:
    assert booted(tmp_path, running, *files) == (Known(newest), pending)


def test_modules_that_a_removed_kernel_left_behind_are_no_kernel(tmp_path: Path) -> None:
    files = ("lib/modules/6.8.0-90-generic/updates/dkms/nvidia.ko", "boot/vmlinuz-6.8.0-45-generic")
    assert booted(tmp_path, "6.8.0-45-generic", *files) == (
        Known("6.8.0-45-generic"),
        Known(value=False),
    )


def test_a_container_sees_no_kernel_and_no_reboot(tmp_path: Path) -> None:
    assert booted(tmp_path, "6.8.0-45-generic") == (Absent(), Absent())


@pytest.mark.parametrize("mark", ["run/reboot-required", "var/run/reboot-required"])
def test_a_package_that_asked_for_a_reboot_is_heard(tmp_path: Path, mark: str) -> None:
    files = ("boot/vmlinuz-6.8.0-45-generic", mark)
    assert booted(tmp_path, "6.8.0-45-generic", *files)[1] == Known(value=True)


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (b"\x06\0\0\0\x01", Known(value=True)),
        (b"\x06\0\0\0\x00", Known(value=False)),
        (b"\x06\0", Unknown("the variable is too short")),
    ],
)
def test_secure_boot_is_the_last_byte_of_its_variable(
    tmp_path: Path, value: bytes, state: FactState
) -> None:
    name = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    write(tmp_path / "root/sys/firmware/efi/efivars" / name, value)
    assert facts_of(KernelCollector(), machine(tmp_path))["kernel.secure-boot"] == state


def test_uefi_whose_variables_are_hidden_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "root/sys/firmware/efi/efivars").mkdir(parents=True)
    state = facts_of(KernelCollector(), machine(tmp_path))["kernel.secure-boot"]
    assert state == Unknown("there is UEFI, and its variables are not to be seen")


def test_a_boot_folder_that_can_not_be_listed_is_unknown(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    write(tmp_path / "root/boot/vmlinuz-6.8.0-45-generic").parent.chmod(0)
    assert booted(tmp_path, "6.8.0-45-generic") == (Unknown("not permitted"),) * 2
