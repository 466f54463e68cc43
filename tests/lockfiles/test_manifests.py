"""What a project asks for, where its lockfile does not say it."""

from __future__ import annotations

import pytest

from envtrack.compare.locks import compare_locks
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.manifests import find_requests
from envtrack.model.comparison import Origin
from envtrack.model.lock import Knowledge
from tests.lockfiles.samples import SAMPLES

PYPROJECT = """\
[project]
dependencies = ["Numpy>=2", "rich[extra]~=13.0 ; python_version > '3'"]
optional-dependencies = { gpu = ["torch"] }

[dependency-groups]
dev = ["pytest", { include-group = "lint" }]

[tool.poetry.dependencies]
python = "^3.11"
Lab_Tools = { git = "https://git.example/x" }

[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""


@pytest.mark.parametrize(
    ("name", "file", "text", "asked"),
    [
        ("poetry.lock", "pyproject.toml", PYPROJECT,
         {"numpy", "rich", "torch", "pytest", "lab-tools", "sphinx"}),
        ("Pipfile.lock", "Pipfile", '[packages]\nnumpy = "*"\n[dev-packages]\npytest = "*"\n',
         {"numpy", "pytest"}),
        ("pixi.lock", "pixi.toml", '[dependencies]\npython = "3.12.*"\nnumpy = "*"\n[feature.cuda.dependencies]\ncuda-version = "12.*"\n',
         {"numpy", "cuda-version"}),
        ("conda-lock.yml", "environment.yml", "dependencies:\n- conda-forge::numpy >=2\n- pip:\n  - rich\n",
         {"numpy", "rich"}),
        ("requirements.txt", "requirements.in", "# wishes\n-r other.in\nnumpy>=2\n", {"numpy"}),
    ],
)  # fmt: skip
def test_names_are_found(name: str, file: str, text: str, asked: set[str]) -> None:
    def include(path: str) -> str | None:
        return text if path == file else None

    assert set(find_requests(name, include)) == asked


def test_without_a_file_or_with_a_broken_one_nothing_is_claimed() -> None:
    assert find_requests("poetry.lock", lambda _: None) == ()
    assert find_requests("poetry.lock", lambda _: "[") == ()
    assert find_requests("poetry.lock", lambda _: "project = 1") == ()


def changes(name: str, include: dict[str, str], *pairs: tuple[str, str]) -> dict[str, Origin]:
    filename, text = SAMPLES[name]
    newer = text
    for old, new in pairs:
        assert old in newer
        newer = newer.replace(old, new)
    locks = [parse_lock(one, path=filename, include=include.get) for one in (text, newer)]
    return {change.name: change.origin for change in compare_locks(*locks)}


def test_poetry_tells_root_from_forced_by_its_project() -> None:
    text = '[tool.poetry.dependencies]\nhttpx = "*"\n'
    include = {"pyproject.toml": text}
    found = changes(
        "pdm.lock 4.5",
        include,
        ('version = "0.28.1"', 'version = "0.29"'),
        ("httpx==0.28.1", "httpx==0.29"),
    )
    assert found == {"httpx": Origin.ROOT}


def test_what_follows_is_forced_only_where_the_graph_says_so() -> None:
    include = {"requirements.in": "torch\n", "Pipfile": '[packages]\ntorch = "*"\n'}
    pairs = ('"==2.5.1"', '"==2.6"'), ('"==2.1.3"', '"==2.2"')
    assert changes("Pipfile.lock", include, *pairs) == {
        "torch": Origin.ROOT,
        "numpy": Origin.NOT_KNOWN,
    }


def test_a_lock_knows_then_what_was_asked_for() -> None:
    filename, text = SAMPLES["poetry.lock 2.1"]
    lock = parse_lock(text, path=filename, include={"pyproject.toml": PYPROJECT}.get)
    assert Knowledge.REQUESTS in lock.knows
    assert "numpy" in lock.manifest_requirements
