"""What differs between two files, and is no change of what they pin."""

from __future__ import annotations

import random
import re

import pytest

from envtrack.compare.locks import compare_locks
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import identity
from envtrack.model.lock import Lock
from tests.lockfiles.samples import SAMPLES
from tests.lockfiles.texts import FIXTURES, HEAD, lock_from, pinned, project, read_fixture

DATED = pinned("a", "1").replace("size = 10", 'size = 10, upload-time = "2025-05-07T22:47:18.2Z"')
ZIPPED = """\
[[package]]
name = "b"
version = "1"
source = { url = "https://files.example/b-1.zip" }
sdist = { hash = "sha256:bb" }
"""
SMALL = "\n".join([HEAD, project("a", "b", requires=("a", "b")), DATED, ZIPPED])
# A cutoff that moves by itself is written beside a date that older uvs can read.
DUMMY = (
    '\n[options]\nexclude-newer = "0001-01-01T00:00:00Z" # This has no effect\n'
    'exclude-newer-span = "P7D"\n'
)


def of(name: str, text: str) -> Lock:
    return parse_lock(text, path=name)


def assert_no_change(name: str, before: str, after: str) -> None:
    assert before != after
    old, new = of(name, before), of(name, after)
    assert compare_locks(old, new) == ()
    assert compare_locks(new, old) == ()
    assert identity(old.packages) == identity(new.packages)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("revision = 3\n", ""),
        ("revision = 3\n", "revision = 2\n"),
        ("revision = 3\n", "revision = 5\n"),
        ("size = 10", "size = 11"),
        ("size = 10, ", ""),
        ("upload-time", "upload_time"),
        ("2025-05-07T22:47:18.2Z", "2025-05-07T22:47:18.201734Z"),
        (', upload-time = "2025-05-07T22:47:18.2Z"', ""),
        ("https://files.example/a-1", "https://mirror.example/deep/a-1"),
        ("https://files.example/b-1", "https://mirror.example/deep/b-1"),
        ("registry.example/simple", "registry.example/simple/"),
        ("https://registry.example", "https://token:word@Registry.Example"),
        ('requires-python = ">=3.11"\n', f'requires-python = ">=3.11"\n{DUMMY}'),
        ('requires-python = ">=3.11"', 'requires-python = ">= 3.11.0"'),
        ("\n", "\r\n"),
        ("\n[[package]]\nname = ", "\n\n\n# By hand.\n[[package]]\nname = "),
    ],
)
def test_the_form_of_a_uv_lock(old: str, new: str) -> None:
    assert old in SMALL
    assert_no_change("uv.lock", SMALL, SMALL.replace(old, new))


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "2026-08-14T00:00:00Z"])
def test_the_date_beside_a_cutoff_that_moves_by_itself(date: str) -> None:
    with_dummy = SMALL.replace("\n\n", f"{DUMMY}\n", 1)
    moved = with_dummy.replace("0001-01-01T00:00:00Z", date).replace('"P7D"', '"P14D"')
    assert_no_change("uv.lock", with_dummy, moved)


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.glob("*.lock")))
def test_the_order_of_packages_in_a_real_file(name: str) -> None:
    text = read_fixture(name)
    header = re.search(r"^\[\[\w+\]\]$", text, re.MULTILINE)
    assert header is not None
    head, *tables = re.split(rf"^(?={re.escape(header[0])}$)", text, flags=re.MULTILINE)
    random.Random(1).shuffle(tables)
    assert_no_change("uv.lock", text, head + "".join(tables))


@pytest.mark.parametrize("row", list(SAMPLES))
def test_the_order_of_packages_in_any_format(row: str) -> None:
    lock = of(*SAMPLES[row])
    again = lock._replace(packages=lock.packages[::-1])
    assert compare_locks(lock, again) == ()
    assert identity(lock.packages) == identity(again.packages)


@pytest.mark.parametrize(
    ("row", "old", "new"),
    [
        ("poetry.lock 2.1", 'content-hash = "aa"', 'content-hash = "bb"'),
        ("poetry.lock 2.1", "Poetry 2.4.1", "Poetry 2.5.1"),
        ("poetry.lock 2.1", 'description = "Arrays"', 'description = "More arrays"'),
        ("poetry.lock 2.1", 'python-versions = ">=3.11,<4.0"', 'python-versions = "<4,>=3.11"'),
        ("poetry.lock 2.1", 'groups = ["main", "gpu"]', 'groups = ["gpu", "main"]'),
        ("poetry.lock 1.0", 'content-hash = "aa"', 'content-hash = "bb"'),
        ("pdm.lock 4.5", 'content_hash = "sha256:aa"', 'content_hash = "sha256:bb"'),
        ("pdm.lock 4.5", 'lock_version = "4.5.1"', 'lock_version = "4.5.0"'),
        ("pdm.lock 4.5", 'strategy = ["inherit_metadata"]', "strategy = []"),
        ("pdm.lock 4.5", 'requires_python = ">=3.10"', 'requires_python = ">=3.010"'),
        ("pdm.lock 0.1", 'content_hash = "md5:aa"', 'content_hash = "md5:bb"'),
        ("Pipfile.lock", '"hash": {"sha256": "aa"}', '"hash": {"sha256": "bb"}'),
        ("Pipfile.lock", '"sha256:a1", "sha256:a2"', '"sha256:a2", "sha256:a1"'),
        ("Pipfile.lock", "user:secret@", "other:word@"),
        ("pylock.toml", "https://files.example/", "https://mirror.example/"),
        ("pylock.toml", "size = 63152", "size = 1"),
        ("pylock.toml", 'created-by = "uv"', 'created-by = "pip"'),
        ("pylock.toml", "size = 63152", "size = 63152, upload-time = 2025-05-07T22:47:18Z"),
        ("requirements.txt", "autogenerated by uv", "autogenerated by pip-compile"),
        ("requirements.txt", "    --hash=sha256:aa \\\n    --hash=sha256:bb", "    --hash=sha256:bb \\\n    --hash=sha256:aa"),
        ("conda-lock.yml", "linux-64: aa", "linux-64: bb"),
        ("pixi.lock 1", "linux-64: aa", "linux-64: bb"),
        ("environment.yml", "prefix: /opt/lab", "prefix: /srv/lab"),
    ],
)  # fmt: skip
def test_the_form_of_another_format(row: str, old: str, new: str) -> None:
    name, text = SAMPLES[row]
    assert old in text
    assert_no_change(name, text, text.replace(old, new))


def test_a_date_in_the_head_of_a_list() -> None:
    text = "# {}\nnumpy==2.1.3\n"
    assert_no_change("requirements.txt", text.format("2026-01-01"), text.format("2026-08-01"))


def test_noise_beside_a_change_hides_nothing() -> None:
    before = lock_from(project("a"), pinned("a", "1"))
    noisy = lock_from(
        DATED.replace("size = 10", "size = 99").replace("files.example", "mirror.example"),
        project("a"),
        head=HEAD.replace("revision = 3", "revision = 5"),
    )
    assert compare_locks(before, noisy) == ()
    moved = lock_from(DATED.replace("sha256:a1", "sha256:ff"), project("a"))
    (change,) = compare_locks(before, moved)
    assert (change.name, change.kind.value, change.detail) == (
        "a",
        "rebuild",
        "a-1-py3-none-any.whl",
    )
