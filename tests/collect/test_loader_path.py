from __future__ import annotations

from pathlib import Path

from envtrack.collect.loader_path import read_loader_path
from tests.collect.places import machine, write


def named(base: Path, variable: str = "") -> list[tuple[str, str]]:
    where = machine(base, environ={"LD_LIBRARY_PATH": variable})
    return [(one.path, one.by) for one in read_loader_path(where) if one.by != "default"]


def configure(base: Path, name: str, text: str) -> None:
    write(base / "root/etc" / name, text)


def test_the_variable_comes_before_the_configuration_and_that_before_the_defaults(
    tmp_path: Path,
) -> None:
    configure(tmp_path, "ld.so.conf", "/opt/b\n")
    where = machine(tmp_path, environ={"LD_LIBRARY_PATH": "/opt/a"})
    by = [one.by for one in read_loader_path(where)]
    assert by[:3] == ["LD_LIBRARY_PATH", "/etc/ld.so.conf", "default"]


def test_configuration_files_are_included_in_the_order_of_their_names(tmp_path: Path) -> None:
    configure(
        tmp_path, "ld.so.conf", "# all\ninclude /etc/ld.so.conf.d/*.conf\n\n/usr/lib/fakeroot\n"
    )
    configure(
        tmp_path, "ld.so.conf.d/988_cuda-12.conf", "/usr/local/cuda-12/targets/x86_64-linux/lib\n"
    )
    configure(tmp_path, "ld.so.conf.d/000_cuda.conf", "/usr/local/cuda/targets/x86_64-linux/lib\n")
    configure(tmp_path, "ld.so.conf.d/old.conf.disabled", "/never\n")
    assert named(tmp_path) == [
        ("/usr/local/cuda/targets/x86_64-linux/lib", "/etc/ld.so.conf.d/000_cuda.conf"),
        ("/usr/local/cuda-12/targets/x86_64-linux/lib", "/etc/ld.so.conf.d/988_cuda-12.conf"),
        ("/usr/lib/fakeroot", "/etc/ld.so.conf"),
    ]


def test_an_include_may_be_relative_to_its_file(tmp_path: Path) -> None:
    configure(tmp_path, "ld.so.conf", "include ld.so.conf.d/*.conf")
    configure(tmp_path, "ld.so.conf.d/a.conf", "/opt/a/")
    assert named(tmp_path) == [("/opt/a", "/etc/ld.so.conf.d/a.conf")]


def test_a_line_may_name_several_folders_and_a_type(tmp_path: Path) -> None:
    configure(tmp_path, "ld.so.conf", "/opt/a, /opt/b:/opt/c=libc6  # why\nhwcap 1 nosegneg\n")
    assert [path for path, _ in named(tmp_path)] == ["/opt/a", "/opt/b", "/opt/c"]


def test_a_file_that_includes_itself_ends(tmp_path: Path) -> None:
    configure(tmp_path, "ld.so.conf", "include /etc/ld.so.conf\n/opt/a\n")
    assert set(named(tmp_path)) == {("/opt/a", "/etc/ld.so.conf")}


def test_relative_and_empty_parts_of_the_variable_are_left_out(tmp_path: Path) -> None:
    assert named(tmp_path, ":lib:/opt/a/;$ORIGIN/x:/opt/b") == [
        ("/opt/a", "LD_LIBRARY_PATH"),
        ("/opt/b", "LD_LIBRARY_PATH"),
    ]


def test_a_folder_under_two_names_is_there_once_by_its_first(tmp_path: Path) -> None:
    (tmp_path / "root/usr/local/cuda-12.4/lib64").mkdir(parents=True)
    (tmp_path / "root/usr/local/cuda").symlink_to("/usr/local/cuda-12.4")
    configure(tmp_path, "ld.so.conf", "/usr/local/cuda-12.4/lib64\n")
    assert named(tmp_path, "/usr/local/cuda/lib64") == [
        ("/usr/local/cuda/lib64", "LD_LIBRARY_PATH")
    ]


def test_a_machine_without_configuration_has_the_defaults(tmp_path: Path) -> None:
    paths = [one.path for one in read_loader_path(machine(tmp_path))]
    assert "/usr/lib64" in paths
    assert named(tmp_path) == []
