from __future__ import annotations

from pathlib import Path

import pytest

from envtrack.collect.dkms import Dkms, read_dkms
from envtrack.model.fact import Absent, Known, Unknown
from tests.collect.places import write

KERNEL = "6.8.0-45-generic"
TREE = "var/lib/dkms/nvidia"


def add(
    root: Path, version: str, *kernels: str, module: str = "nvidia", source: bool = True
) -> None:
    folder = root / "var/lib/dkms" / module / version
    folder.mkdir(parents=True, exist_ok=True)
    if source:
        (folder / "source").mkdir()
    for kernel in kernels:
        write(folder / kernel / "x86_64/module/nvidia.ko.zst")


def install(root: Path, version: str, kernel: str) -> None:
    link = root / TREE / f"kernel-{kernel}-x86_64"
    link.symlink_to(f"{version}/{kernel}/x86_64")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "proc/sys/kernel/osrelease", f"{KERNEL}\n")
    return tmp_path


def read(root: Path) -> tuple[object, object, object]:
    found: Dkms = read_dkms(root, "nvidia")
    return found.version, found.state, found.kernels


def test_without_dkms_there_is_nothing(root: Path) -> None:
    assert read(root) == (Absent(), Absent(), Absent())


def test_other_modules_are_not_nvidias(root: Path) -> None:
    add(root, "2.17.5", KERNEL, module="nvidia-fs")
    add(root, "1", KERNEL, module="nvidious")
    assert read(root) == (Absent(), Absent(), Absent())


def test_a_module_that_is_only_added_is_so(root: Path) -> None:
    add(root, "550.54.15")
    assert read(root) == (Known("550.54.15"), Known("added"), Absent())


def test_a_module_that_is_built_but_not_installed_is_so(root: Path) -> None:
    add(root, "550.54.15", KERNEL)
    assert read(root) == (Known("550.54.15"), Known("built"), Absent())


def test_a_module_that_is_installed_for_other_kernels_alone_is_missing_here(root: Path) -> None:
    add(root, "550.54.15", "6.8.0-41-generic")
    install(root, "550.54.15", "6.8.0-41-generic")
    assert read(root) == (Known("550.54.15"), Known("added"), Known("6.8.0-41-generic"))


def test_of_two_versions_the_installed_one_counts_not_the_newer(root: Path) -> None:
    add(root, "535.161.08", KERNEL)
    add(root, "550.54.15")
    install(root, "535.161.08", KERNEL)
    assert read(root) == (Known("535.161.08"), Known("installed"), Known(KERNEL))


def test_kernels_are_sorted_by_number(root: Path) -> None:
    add(root, "550.54.15", "6.8.0-9-generic", "6.8.0-45-generic", "6.8.0-101-generic")
    for kernel in ("6.8.0-9-generic", "6.8.0-45-generic", "6.8.0-101-generic"):
        install(root, "550.54.15", kernel)
    kernels = Known("6.8.0-9-generic 6.8.0-45-generic 6.8.0-101-generic")
    assert read(root) == (Known("550.54.15"), Known("installed"), kernels)


def test_a_module_whose_source_is_gone_is_broken(root: Path) -> None:
    add(root, "550.54.15", KERNEL, source=False)
    assert read(root)[1] == Known("broken")


def test_a_link_to_another_versions_build_does_not_install_this_one(root: Path) -> None:
    add(root, "550.54.15", KERNEL)
    install(root, "535.161.08", KERNEL)
    assert read(root)[1] == Known("built")


def test_debians_name_for_the_module_counts(root: Path) -> None:
    add(root, "535.216.01", KERNEL, module="nvidia-current")
    assert read(root)[0] == Known("535.216.01")


def test_without_the_running_kernel_the_state_is_unknown(root: Path) -> None:
    add(root, "550.54.15", KERNEL)
    (root / "proc/sys/kernel/osrelease").unlink()
    version, state, _ = read(root)
    assert (version, state) == (Known("550.54.15"), Unknown("the running kernel is not known"))


def test_what_only_looks_like_a_link_of_dkms_installs_nothing(root: Path) -> None:
    add(root, "550.54.15", KERNEL)
    (root / TREE / f"kernel-{KERNEL}-x86_64").mkdir()
    (root / TREE / "kernel-odd").symlink_to("nowhere")
    assert read(root)[1] == Known("built")
