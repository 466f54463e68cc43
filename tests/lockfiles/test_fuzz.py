"""A few rounds of the fuzzer, and by hand what it has found."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.interface import FORMATS, find_format, parse_lock
from envtrack.lockfiles.plain_toml import load_plain
from envtrack.lockfiles.toml_text import find_excess_line, parse_toml
from tests.lockfiles.fuzz import load_corpus, run
from tests.lockfiles.texts import HEAD

HUGE = "0x" + "f" * 5000
PACKAGE = '[[package]]\nname = "a"\nversion = "1"\nsource = { virtual = "." }\n'


def problem(text: str, path: str) -> tuple[int | None, str]:
    with pytest.raises(LockfileProblem) as caught:
        parse_lock(text, path=path)
    return caught.value.line, caught.value.reason


def test_a_few_rounds_find_nothing(tmp_path: Path) -> None:
    findings = run(load_corpus([]), iter(range(120)), seed=1, scratch=tmp_path)
    assert findings.rounds == 120
    assert list(findings.shown.values()) == []


def test_the_corpus_holds_every_format() -> None:
    found = {find_format(original.path, "") for original in load_corpus([])}
    assert found == set(FORMATS)


@pytest.mark.parametrize("piece", ["-a", "a", "a.", "_", "'", "\\", "1"])
def test_a_long_word_where_a_value_should_be_is_not_plain_and_takes_no_time(piece: str) -> None:
    start = time.process_time()
    assert load_plain(f"a = [{piece * 150_000}\n") is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize("path", ["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"])
@pytest.mark.parametrize("key", ["a." * 100_000 + "a = 1", "[" + "a." * 100_000 + "a]"])
def test_a_key_of_too_many_parts_is_refused_on_its_line(path: str, key: str) -> None:
    start = time.process_time()
    line, reason = problem(f"{HEAD}\n{key}\n", path)
    assert (line, reason) == (5, "a key of too many parts")
    assert time.process_time() - start < 3


def test_a_key_of_too_many_parts_within_a_package_is_refused_on_its_line() -> None:
    text = f"{HEAD}\n{PACKAGE}x = {{ {'a.' * 100_000}a = 1 }}\n"
    assert problem(text, "uv.lock") == (9, "a key of too many parts")


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "{a=" * 5000])
def test_what_is_too_deep_or_too_long_for_python_says_its_line(value: str) -> None:
    assert problem(f"{HEAD}# [[[\nx = '{'[' * 500}'\ny = {value}\n", "uv.lock")[0] == 6


@pytest.mark.parametrize("piece", ['"\\', "9" * 3999 + "x", "'", '"', "#", "9"])
def test_the_line_of_an_excess_is_found_in_time_that_grows_with_the_text(piece: str) -> None:
    start = time.process_time()
    find_excess_line(piece * (400_000 // len(piece)))
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("head", "line", "reason"),
    [
        ("conflicts = [[{ package = [] }]]", 4, "in `conflicts`, `package` is an array, not a "),
        ("conflicts = [1]", 4, "`conflicts` is a number, not an array"),
        ("[manifest]\nmembers = 1", 5, "`members` is not an array of strings"),
        ("[manifest]\nconstraints = [{}]", 5, "in `constraints`, a requirement has no name"),
        ("package = 1", 4, "`package` is a number, not an array"),
        ('distribution = ["a"]', 4, "`distribution` holds a string, not a table"),
        ("distribution = 1", 4, "`distribution` is a number, not an array"),
        ("environment-markers = 1", 4, "`environment-markers` is not an array of strings"),
    ],
)
def test_a_fault_of_the_head_of_a_uv_lock_says_its_line(head: str, line: int, reason: str) -> None:
    found, said = problem(f"{HEAD}{head}\n", "uv.lock")
    assert said.startswith(reason)
    assert found == line


def test_a_missing_schema_number_is_not_said_to_be_on_the_line_of_a_version() -> None:
    found, reason = problem(f'requires-python = "3"\n\n{PACKAGE}', "uv.lock")
    assert "is missing" in reason
    assert found is None


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("version: 1\nmetadata: a\npackage: {}\n", 3, "`package` is a table, not an array"),
        ("version: 1\npackage: [a]\n", 2, "`package` holds a string, not a table"),
        ("version: x\npackage: []\n", 1, "`version` is `x`, not the version of the format"),
    ],
)
def test_a_fault_of_the_head_of_a_conda_lock_says_its_line(
    text: str, line: int, reason: str
) -> None:
    assert problem(text, "conda-lock.yml") == (line, reason)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("name: x\ndependencies: 3\n", 2, "`dependencies` is no list"),
        ("name: x\n", None, "`dependencies` is missing"),
        ("name: x\nchannels: {a: b}\ndependencies: []\n", 2, "`channels` is not an array of "),
        ("name: x\ndependencies:\n- a\n- pip: {a: b}\n", 4, "`pip` is not an array of strings"),
        ("name: x\ndependencies:\n- pip:\n  - a==1\n  - c d\n", 5, "no requirement: `c d`"),
    ],
)
def test_a_fault_of_an_environment_says_its_line(text: str, line: int | None, reason: str) -> None:
    found, said = problem(text, "environment.yml")
    assert said.startswith(reason)
    assert found == line


def test_what_pip_installs_in_an_environment_stands_on_the_line_of_the_file() -> None:
    text = 'name: x\ndependencies:\n- b=1=2\n# c\n- pip:\n  - a==1\n\n  - "c==2"\n  - -q x\n'
    lock = parse_lock(text, path="environment.yml")
    assert [(p.name, p.line) for p in lock.packages] == [("b", 3), ("a", 6), ("c", 8)]
    assert lock.notes == ("environment.yml:9: an option that is not known: -q",)


def test_a_fault_of_the_files_of_a_pdm_lock_says_its_line() -> None:
    text = '[[package]]\nname = "a"\nversion = "1"\n\n[metadata.files]\n"a 1" = [{}]\n'
    assert problem(text, "pdm.lock") == (6, "the files of `a 1`: a file has no name")


def test_extras_without_a_name_are_no_package_of_a_pdm_lock() -> None:
    found, reason = problem('[[package]]\nname = "[x]"\nversion = "1"\n', "pdm.lock")
    assert (found, reason) == (1, "package `[x]`: `name` is missing before its extras")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("git+https://git.example/.git@aaaaaaa", "https://git.example/.git"),
        ("https://files.example/.whl", "https://files.example/.whl"),
    ],
)
def test_what_has_no_name_is_called_by_its_address(text: str, name: str) -> None:
    (package,) = parse_lock(text, path="requirements.txt").packages
    assert package.name == name


def test_a_long_text_with_dots_is_no_key() -> None:
    dotted = "1." * 300
    text = f"{HEAD}options = {{ a = \"{dotted}\", b = '{dotted}' }} # {dotted}\n\n{PACKAGE}"
    assert parse_lock(text, path="uv.lock").options == {"a": dotted, "b": dotted}
    assert parse_toml(f'a = """\n{dotted}\n"""\n') == {"a": f"{dotted}\n"}


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("uv.lock", f"version = {HUGE}\n", 1),
        ("uv.lock", f"{HEAD}options = {{ x = {HUGE} }}\n", 4),
        ("uv.lock", f'{HEAD}\n[[package]]\nname = "a"\nsource = {{ x = {HUGE} }}\n', 7),
        ("pylock.toml", f"\nlock-version = {HUGE}\n", 2),
        ("poetry.lock", f"[metadata]\nlock-version = {HUGE}\n", 2),
        ("pdm.lock", f"[metadata]\nlock_version = {HUGE}\n", 2),
    ],
)
def test_a_number_that_can_not_be_written_is_refused(path: str, text: str, line: int) -> None:
    assert problem(text, path) == (line, "a number of too many digits")


DEEP_VALUES = ["{ a = " * 95 + "1" + " }" * 95, "[" * 150 + "]" * 150]


@pytest.mark.parametrize("value", [*DEEP_VALUES, f"{'{ a.a.a.a.a = ' * 60}1{' }' * 60}"])
def test_a_text_that_nests_deeper_than_any_lockfile_is_read_or_refused(value: str) -> None:
    for text in (
        f"{HEAD}options = {{ x = {value}, y = [{value}] }}\n",
        f'{HEAD}\n[[package]]\nname = "a"\nsource = {{ x = {value} }}\n',
    ):
        with contextlib.suppress(LockfileProblem):
            assert parse_lock(text, path="uv.lock").schema == 1


def test_a_fault_of_a_row_of_a_conda_lock_says_its_line_however_the_rows_are_written() -> None:
    rows = "package:\n  - name: a\n    version: 1\n  - {name: b, version: 1, url: {}}\n"
    assert problem(f"version: 1\n{rows}", "conda-lock.yml") == (
        5,
        "a package: `url` is a table, not a string",
    )
