"""What decides a probe's verdict, as one hash: two probes with one key need one trial."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from envtrack.errors import LockfileProblem
from envtrack.files import read_text, write_whole
from envtrack.lockfiles.interface import parse_lock
from envtrack.lockfiles.select import identity, select
from envtrack.model.interpreter import Interpreter
from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.selection import Selection
from envtrack.probe.plan import Plan, SessionFiles
from envtrack.probe.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a checked-out commit would install.

    Attributes:
        lock: its lockfile; ``None`` where it can't be read.
        problem: why not; empty otherwise.
        expected: what is installed of it here; empty where no interpreter was found.
        key: the hash of all that decides the verdict; empty where it could not be told.
    """

    lock: Lock | None
    problem: str
    expected: tuple[LockedPackage, ...]
    key: str


def read_candidate(tree: Tree, plan: Plan, files: SessionFiles) -> Candidate:
    """The candidate of the commit that is checked out in `tree`."""
    lock, problem = _read_lock(tree.top / plan.lockfile, plan.lockfile)
    if lock is None:
        return Candidate(lock=None, problem=problem, expected=(), key="")
    environment = _find_environment(lock, tree, plan, files)
    if environment is None:
        return Candidate(lock=lock, problem="", expected=(), key="")
    parts = (
        environment.identity,
        # The smoke test's files are the same at every commit, whatever the commit has there.
        tree.hash_besides(plan.lockfile, *plan.smoke_files),
        *environment.interpreter,
    )
    key = sha256("\0".join(parts).encode()).hexdigest()
    return Candidate(lock=lock, problem="", expected=environment.expected, key=key)


class Environment(NamedTuple):
    """What a lockfile installs here.

    Attributes:
        expected: the packages.
        identity: their name as one.
        interpreter: by path and version: a new patch release under the same path is another one.
    """

    expected: tuple[LockedPackage, ...]
    identity: str
    interpreter: tuple[str, str]


def read_environment(tree: Tree, plan: Plan, files: SessionFiles) -> Environment | None:
    """What the lockfile in `tree` installs here; its project's files decide as well, no others.

    Returns:
        ``None`` where the lockfile can't be read, or no interpreter was found.
    """
    lock, _problem = _read_lock(tree.top / plan.lockfile, plan.lockfile)
    return None if lock is None else _find_environment(lock, tree, plan, files)


def _find_environment(
    lock: Lock, tree: Tree, plan: Plan, files: SessionFiles
) -> Environment | None:
    project = tree.top / plan.project
    interpreter = _find_interpreter(tree, plan, files, project)
    if interpreter is None:
        return None
    expected = select(lock, add_default_groups(plan.selection, project), interpreter.markers)
    return Environment(
        expected=expected,
        identity=identity(expected, tags=_wheel_tags(interpreter)),
        interpreter=(interpreter.path, interpreter.markers["python_full_version"]),
    )


def _wheel_tags(interpreter: Interpreter) -> frozenset[str] | None:
    """The tags of wheels that fit; ``None`` where they can't be told from here.

    The platform's part is the same for every interpreter of one machine and word size.
    """
    from packaging.tags import compatible_tags, cpython_tags

    if interpreter.markers["implementation_name"] != "cpython":
        return None
    major, minor = map(int, interpreter.markers["python_version"].split("."))
    fitting = (
        *cpython_tags((major, minor)),
        *compatible_tags((major, minor), interpreter=f"cp{major}{minor}"),
    )
    return frozenset(map(str, fitting))


def _read_lock(path: Path, shown: str) -> tuple[Lock | None, str]:
    if not path.is_file():
        return None, f"{shown}: there is no such file at this commit"
    try:
        return parse_lock(read_text(path), path=shown), ""
    except LockfileProblem as error:
        return None, error.message


def add_default_groups(selection: Selection, project: Path) -> Selection:
    """The selection with the default groups that this commit's project names."""
    path = project / "pyproject.toml"
    try:
        # Without one uv says so itself: that is a fact about the commit, and no fault of the rig.
        document = tomllib.loads(read_text(path) if path.is_file() else "")
        groups = document["tool"]["uv"]["default-groups"]
    except (tomllib.TOMLDecodeError, LookupError, TypeError):
        return selection
    if groups == "all":
        return replace(selection, all_groups=True)
    if isinstance(groups, list):
        return replace(selection, default_groups=tuple(map(str, groups)))
    return selection


def _find_interpreter(
    tree: Tree, plan: Plan, files: SessionFiles, project: Path
) -> Interpreter | None:
    """The interpreter uv would take; asked once for every wish that the commits express."""
    wish = "\0".join([plan.python, *_wishes(tree.top, project)])
    known = _read_known(files)
    if wish in known:
        entry = known[wish]
        return None if entry is None else Interpreter(**entry)
    from envtrack.uv import find_interpreter

    found = find_interpreter(Path(plan.uv), project, request=plan.python, environ=tree.environ)
    known[wish] = None if found is None else asdict(found)
    write_whole(files.interpreters, json.dumps(known))
    return found


def _wishes(top: Path, project: Path) -> list[str]:
    """Everything in a tree by which a project says which Python it wants."""
    said = []
    for folder in {project, top}:
        for name in (".python-version", ".python-versions"):
            path = folder / name
            said.append(f"{name}={read_text(path)}" if path.is_file() else "")
    pyproject = project / "pyproject.toml"
    text = read_text(pyproject) if pyproject.is_file() else ""
    said += [line for line in text.splitlines() if "python" in line]
    return said


def _read_known(files: SessionFiles) -> dict[str, Any]:
    try:
        document = json.loads(files.interpreters.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
