"""All facts of one machine at one moment, plus what is installed in the project's environment."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from envtrack.errors import SnapshotProblem
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.oid import Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA = 1

_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: |$)", re.MULTILINE)
_ORIGIN = " @ "


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPackage:
    """One distribution found in an environment's site-packages.

    Attributes:
        name: normalised (PEP 503).
        version: as its metadata says it.
        origin: where it came from if not from an index (redacted): ``git+https://…@<commit>``,
            ``editable <project>/lib``; empty otherwise.
    """

    name: str
    version: str
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockfileRef:
    """The lockfile that a snapshot belongs to, by content and never by commit.

    Attributes:
        path: relative to the repository's root, with forward slashes.
        blob: the blob id: known before the commit, unchanged by rebase and cherry-pick.
    """

    path: str
    blob: Oid


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one machine looked like.

    Attributes:
        machine: a name its owner chose, or a stable pseudonym; never the bare host name.
        taken_at: UTC, ISO 8601, whole seconds.
        facts: by dotted name.
        installed: by normalised name, the same as in the value; empty where
            ``packages.environment`` is not known.
        lockfile: the lockfile it stands beside, if any.
    """

    machine: str
    taken_at: str
    facts: Mapping[str, FactState]
    installed: Mapping[str, InstalledPackage] = field(default_factory=dict)
    lockfile: LockfileRef | None = None

    def with_time_of(self, earlier: Snapshot) -> Snapshot:
        """This snapshot, with the earlier one's ``taken_at`` if nothing else moved."""
        # What is written decides: in Python a fact of True equals one of 1.
        if render_snapshot(replace(self, taken_at=earlier.taken_at)) == render_snapshot(earlier):
            return earlier
        return self


def fact_map(facts: Iterable[Fact]) -> dict[str, FactState]:
    """Facts by name; the last one said of a name counts."""
    return {fact.name: fact.state for fact in facts}


def render_snapshot(snapshot: Snapshot) -> str:
    """Canonical JSON: sorted keys, two-space indent, one fact a line, a final newline.

    A known fact is its value, an absent one ``null``, an unknown one ``{"unknown": reason}``. The
    text can always be written as UTF-8: half a surrogate pair becomes a JSON escape.
    """
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "machine": snapshot.machine,
        "taken_at": snapshot.taken_at,
        "facts": {name: _render_state(state) for name, state in snapshot.facts.items()},
        "installed": {name: _render_installed(p) for name, p in snapshot.installed.items()},
    }
    if snapshot.lockfile is not None:
        document["lockfile"] = {"path": snapshot.lockfile.path, "blob": snapshot.lockfile.blob.hex}
    lines = ["{"]
    for position, key in enumerate(sorted(document)):
        comma = "," if position < len(document) - 1 else ""
        lines.extend(_render_entry(key, document[key], comma))
    text = "\n".join([*lines, "}", ""])
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _render_entry(key: str, value: Any, comma: str) -> list[str]:  # noqa: ANN401 - JSON
    if not isinstance(value, dict):
        return [f"  {_json(key)}: {_json(value)}{comma}"]
    if not value:
        return [f"  {_json(key)}: {{}}{comma}"]
    rows = [f"    {_json(name)}: {_json(value[name])}" for name in sorted(value)]
    return [f"  {_json(key)}: {{", ",\n".join(rows), f"  }}{comma}"]


def _json(value: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _render_state(state: FactState) -> Any:  # noqa: ANN401 - JSON
    match state:
        case Known(value):
            return value
        case Absent():
            return None
        case Unknown(reason):
            return {"unknown": reason}


def _render_installed(package: InstalledPackage) -> Any:  # noqa: ANN401 - JSON
    text = package.version
    if package.origin:
        text += f"{_ORIGIN}{package.origin}"
    if _parse_installed(package.name, text) == package:
        return text
    # A version that no tool should write: with our own separator in it.
    return {"version": package.version, "origin": package.origin}


def parse_snapshot(text: str, *, where: str) -> Snapshot:
    """The snapshot in canonical or any other JSON form; keys it does not know are passed over.

    Args:
        text: the file's content.
        where: how messages name the file.

    Raises:
        SnapshotProblem: conflict markers, not JSON, not a snapshot, or of a newer schema.
    """
    document = _load(text.removeprefix("\ufeff"), where)
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise SnapshotProblem(f"{where}: not a snapshot: it has no schema number")
    if schema > SCHEMA:
        raise SnapshotProblem(
            f"{where}: schema {schema} is newer than this envtrack reads ({SCHEMA})",
            hint="upgrade envtrack",
        )
    try:
        return _parse_document(document)
    except KeyError as error:
        raise SnapshotProblem(f"{where}: not a snapshot: {error} is missing") from error
    except (TypeError, ValueError) as error:
        raise SnapshotProblem(f"{where}: not a snapshot: {error}") from error


def _load(text: str, where: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        # No line of JSON begins so, and a merge leaves nothing else behind: say what it is.
        if marker := _CONFLICT.search(text):
            line = text.count("\n", 0, marker.start()) + 1
            raise SnapshotProblem(
                f"{where}:{line}: conflict markers of a merge",
                hint="take either side whole, then `envtrack snapshot --save` records anew",
            ) from error
        at, reason = where, "nested too deeply or a number too long"
        if isinstance(error, json.JSONDecodeError):
            at, reason = f"{where}:{error.lineno}", error.msg
        raise SnapshotProblem(f"{at}: not JSON: {reason}") from error


def _parse_document(document: dict[str, Any]) -> Snapshot:
    lockfile = document.get("lockfile")
    facts = _table(document["facts"], "facts")
    installed = _table(document.get("installed", {}), "installed")
    return Snapshot(
        machine=_text(document["machine"], "machine"),
        taken_at=_text(document["taken_at"], "taken_at"),
        facts={name: _parse_state(name, value) for name, value in facts.items()},
        installed={name: _parse_installed(name, value) for name, value in installed.items()},
        lockfile=None if lockfile is None else _parse_lockfile(_table(lockfile, "lockfile")),
    )


def _parse_lockfile(table: dict[str, Any]) -> LockfileRef:
    return LockfileRef(
        path=_text(table["path"], "lockfile.path"),
        blob=Oid(_text(table["blob"], "lockfile.blob")),
    )


def _parse_state(name: str, value: Any) -> FactState:  # noqa: ANN401 - JSON
    if value is None:
        return Absent()
    if isinstance(value, dict):
        return Unknown(_text(value["unknown"], f"{name}.unknown"))
    if isinstance(value, (str, int)):
        return Known(value)
    raise TypeError(f"{name}: a fact can't be {value!r}")


def _parse_installed(name: str, value: Any) -> InstalledPackage:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        version, origin = _text(value["version"], name), _text(value["origin"], name)
    else:
        version, _, origin = _text(value, name).partition(_ORIGIN)
    return InstalledPackage(name=name, version=version, origin=origin)


def _text(value: Any, what: str) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string")
    return value


def _table(value: Any, what: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
    if not isinstance(value, dict):
        raise TypeError(f"{what} must be an object")
    return value
