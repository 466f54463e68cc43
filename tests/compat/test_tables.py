"""The tables themselves: sourced, dated, consistent with each other, and quick to read."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import pytest
import yaml

from envtrack.cli.doctor_inputs import read_tables as read_as_the_program_does
from envtrack.compat.architectures import Code, find_code
from envtrack.compat.table_reading import FILES, parse_tables
from envtrack.compat.tables import Cited, Confidence, parse_tag
from envtrack.compat.versions import numbers
from envtrack.resources import find_resource
from tests.compat.stacks import read_tables

# Hosts of package indexes; an entry names what it is about, and not where it was downloaded.
INDEXES = re.compile(
    r"pypi\.org|pythonhosted|download\.pytorch|pypi\.nvidia|anaconda\.org|quay\.io"
)


def entries() -> Iterator[tuple[str, Any]]:
    tables = read_tables()
    for field in fields(tables):
        value = getattr(tables, field.name)
        for entry in value if isinstance(value, tuple) else (value,):
            if is_dataclass(entry):
                yield field.name, entry


def test_every_entry_names_its_source_and_a_day() -> None:
    seen = 0
    for table, entry in entries():
        cited = entry.cited
        assert isinstance(cited, Cited), table
        assert len(cited.where) > 10, entry
        assert re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", cited.as_of), entry
        seen += 1
    assert seen > 250


def test_no_source_is_defined_and_never_used() -> None:
    for name in FILES:
        text = find_resource(f"compat/{name}.yaml").read_text()
        defined = set(yaml.safe_load(text)["sources"])
        assert defined == set(re.findall(r"source: ([\w-]+)", text)), name


def test_an_entry_without_a_source_is_refused() -> None:
    documents = {
        name: yaml.safe_load(find_resource(f"compat/{name}.yaml").read_text()) for name in FILES
    }
    del documents["drivers"]["families"][0]["source"]
    with pytest.raises(KeyError):
        parse_tables(documents)


def test_no_package_index_is_named() -> None:
    for name in FILES:
        assert not INDEXES.search(find_resource(f"compat/{name}.yaml").read_text()), name


def test_the_program_reads_the_same_tables() -> None:
    assert read_as_the_program_does() == read_tables()


def test_they_are_read_in_fifty_milliseconds() -> None:
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    took = []
    for _ in range(5):
        start = time.process_time()
        read_as_the_program_does()
        took.append(time.process_time() - start)
    assert min(took) < 0.05


def test_newer_driver_branches_support_newer_cuda() -> None:
    branches = read_tables().branches
    assert all(a.number < b.number and a.cuda < b.cuda for a, b in pairwise(branches))


def test_the_minimum_of_a_family_lies_in_the_branch_that_first_reports_it() -> None:
    tables = read_tables()
    for family in tables.families:
        told = tables.find_driver_cuda(family.least_driver)
        assert told is not None
        assert told.least.major == family.major
        assert told.least.minor == 0


def test_families_are_gapless_up_to_the_newest_cuda() -> None:
    tables = read_tables()
    majors = [family.major for family in tables.families]
    assert majors == list(range(majors[0], tables.newest.cuda.major + 1))


def test_no_table_knows_a_cuda_that_is_newer_than_the_newest() -> None:
    tables = read_tables()
    known = [branch.cuda for branch in tables.branches]
    known += [build.cuda for build in tables.builds]
    known += [row.nvcc for row in tables.compilers]
    known += [one.first for one in tables.capabilities]
    known += [entry.cuda for entry in tables.forward]
    assert max(known) <= tables.newest.cuda


def test_newer_toolkits_never_accept_only_older_compilers() -> None:
    rows = read_tables().compilers
    assert all(a.nvcc < b.nvcc and a.gcc[1] <= b.gcc[1] for a, b in pairwise(rows))
    assert all(a.clang[1] <= b.clang[1] for a, b in pairwise(rows))
    assert all(row.gcc[0] <= row.gcc[1] and row.clang[0] <= row.clang[1] for row in rows)


def test_every_gpu_has_a_known_capability() -> None:
    tables = read_tables()
    unknown = [gpu.name for gpu in tables.gpus if tables.find_capability(gpu.capability) is None]
    assert unknown == []


def test_no_gpu_is_listed_twice() -> None:
    names = [gpu.name.casefold() for gpu in read_tables().gpus]
    assert len(names) == len(set(names))


def test_a_build_of_torch_holds_no_code_that_its_toolkit_could_not_make() -> None:
    tables = read_tables()
    for build in tables.builds:
        for arch in build.archs:
            digits = re.sub(r"\D", "", arch)
            capability = tables.find_capability(numbers(f"{digits[:-1]}.{digits[-1]}"))
            assert capability is not None, arch
            assert capability.first <= build.cuda, (build.tag, arch)
            assert capability.last is None or build.cuda <= capability.last, (build.tag, arch)


def test_the_tag_of_every_build_names_its_cuda() -> None:
    for build in read_tables().builds:
        assert parse_tag(build.tag) == build.cuda


def test_no_build_of_a_torch_is_listed_twice() -> None:
    keys = [(torch, b.tag, b.machine) for b in read_tables().builds for torch in b.torch]
    assert len(keys) == len(set(keys))


def test_builds_and_releases_speak_of_the_same_torch() -> None:
    tables = read_tables()
    releases = {release.torch for release in tables.releases}
    assert {torch for build in tables.builds for torch in build.torch} == releases
    for release in tables.releases:
        tags = {build.tag for build in tables.find_builds(release.torch)}
        assert release.default in tags
        assert set(release.abi) <= {"", *tags}
        default = parse_tag(release.default)
        assert default is not None
        assert release.pins["cuda-runtime"].series == default


def test_the_cpp_abi_never_goes_back_to_the_old_one() -> None:
    known = [
        max(bool(release.find_abi(build.tag)) for build in read_tables().find_builds(release.torch))
        for release in read_tables().releases
    ]
    assert known == sorted(known)


def test_newer_platform_tags_ask_for_no_less() -> None:
    tags = read_tables().tags
    assert all(a.glibc < b.glibc and a.glibcxx <= b.glibcxx for a, b in pairwise(tags))
    assert all(str(tag.glibc).replace(".", "_") in tag.tag for tag in tags)


def test_the_last_branches_do_not_overlap_and_drive_what_their_time_knew() -> None:
    tables = read_tables()
    ends = tables.last_branches
    assert all(a.last < b.first and a.branch < b.branch for a, b in pairwise(ends))
    for end in ends:
        assert any(branch.number == end.branch for branch in tables.branches)


def test_no_toolkit_of_a_newer_family_compiles_for_gpus_that_its_drivers_do_not_drive() -> None:
    tables = read_tables()
    for end in tables.last_branches:
        driver = next(branch.cuda for branch in tables.branches if branch.number == end.branch)
        for one in tables.capabilities:
            if end.first <= one.number <= end.last:
                assert one.last is not None
                assert one.last.major <= driver.major


def test_forward_compatibility_is_from_older_branches_only() -> None:
    tables = read_tables()
    for entry in tables.forward:
        native = tables.find_branch_for(entry.cuda)
        assert native is not None
        assert max(entry.branches) < native.number


def test_the_uncertain_entries_are_few_and_known() -> None:
    tables = read_tables()
    low = [entry for _, entry in entries() if entry.cited.confidence is Confidence.LOW]
    uncertain = [one for one in tables.releases if one.torch == "2.15.0"]
    uncertain_builds = [one for one in tables.builds if one.torch == ("2.15.0",)]
    assert low == [*uncertain, *uncertain_builds]


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0"),
        ("NVIDIA A10", "8.6"),
        ("NVIDIA A10G", "8.6"),
        ("NVIDIA L40S", "8.9"),
        ("NVIDIA L4", "8.9"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("h100", "9.0"),
        ("GeForce RTX 3090", "8.6"),
        ("RTX 4080 SUPER", "8.9"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("Tesla T4", "7.5"),
        ("T4", "7.5"),
        ("Quadro RTX 6000", "7.5"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("NVIDIA GeForce GTX TITAN X", "5.2"),
        ("NVIDIA GB10", "12.1"),
        ("NVIDIA Jetson AGX Orin Developer Kit", "8.7"),
    ],
)
def test_a_gpu_is_found_by_the_name_its_driver_gives_it(name: str, capability: str) -> None:
    found = read_tables().find_gpu(name)
    assert found is not None
    assert found.capability == numbers(capability)


@pytest.mark.parametrize("name", ["NVIDIA A1000", "NVIDIA L400", "NVIDIA H1000", "", "AMD MI300X"])
def test_a_name_that_only_resembles_another_is_not_known(name: str) -> None:
    assert read_tables().find_gpu(name) is None


def test_every_data_centre_gpu_of_the_tables_runs_some_torch() -> None:
    tables = read_tables()
    lonely = [
        gpu.name
        for gpu in tables.gpus
        if gpu.kind == "datacenter"
        and gpu.capability >= numbers("5.0")
        and all(
            find_code(gpu.capability, build.archs, tegra=tables.tegra).code is Code.NONE
            for build in tables.builds
        )
    ]
    assert lonely == []
