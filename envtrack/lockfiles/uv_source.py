"""The `source` of a package in uv.lock, in both of its spellings, and requirements as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envtrack.lockfiles.tables import OddValueError, take, take_texts
from envtrack.model.lock import Source, SourceKind

_KINDS = (
    SourceKind.REGISTRY,
    SourceKind.GIT,
    SourceKind.URL,
    SourceKind.PATH,
    SourceKind.DIRECTORY,
    SourceKind.EDITABLE,
    SourceKind.VIRTUAL,
)
# Before July 2024: `source = "registry+https://…"`; a URL was called `direct` there.
_OLD_KINDS = {kind.value: kind for kind in _KINDS} | {"direct": SourceKind.URL}
_REFERENCES = ("rev", "tag", "branch")


def parse_source(value: object) -> Source:
    """The source that `value` (a table, or a string of the oldest files) names.

    A kind that a later uv may add is `SourceKind.UNKNOWN` with its table as the location.

    Raises:
        OddValueError: it is neither, or a table that holds no string.
    """
    if isinstance(value, str):
        kind, plus, location = value.partition("+")
        if not plus or kind not in _OLD_KINDS:
            return Source(kind=SourceKind.UNKNOWN, location=value)
        return _build(_OLD_KINDS[kind], location, "")
    if not isinstance(value, dict):
        raise OddValueError("`source` is missing" if value is None else "`source` is not a table")
    for kind in _KINDS:
        if kind in value:
            return _build(kind, take(value, kind, str, ""), take(value, "subdirectory", str, ""))
    if not value:
        raise OddValueError("`source` is empty")
    return Source(kind=SourceKind.UNKNOWN, location=", ".join(f"{k}={value[k]}" for k in value))


def _build(kind: SourceKind, location: str, subdirectory: str) -> Source:
    if kind is SourceKind.GIT:
        return _parse_git(location)
    if kind is SourceKind.URL and not subdirectory:
        address, _, fragment = location.partition("#")
        from urllib.parse import parse_qsl

        inside = dict(parse_qsl(fragment)).get("subdirectory", "")
        return Source(kind=kind, location=address if inside else location, subdirectory=inside)
    return Source(kind=kind, location=location, subdirectory=subdirectory)


def _parse_git(location: str) -> Source:
    """`https://host/repo?subdirectory=a%2Fb&rev=main#<commit>`; other query items stay."""
    from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

    try:
        parts = urlsplit(location)
    except ValueError:
        return Source(kind=SourceKind.GIT, location=location)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    kept = "&".join(
        item
        for item in parts.query.split("&")
        if item.partition("=")[0] not in {"subdirectory", *_REFERENCES}
    )
    return Source(
        kind=SourceKind.GIT,
        location=urlunsplit((parts.scheme, parts.netloc, parts.path, kept, "")),
        commit=unquote(parts.fragment),
        subdirectory=query.get("subdirectory", ""),
        reference=next((f"{key}={query[key]}" for key in _REFERENCES if key in query), ""),
    )


def render_requirement(table: Mapping[str, Any]) -> str:
    """A requirement table (`{name, extras, specifier | git | url…, marker}`) as PEP 508.

    `index` and `conflict` have no PEP 508 form and are left out: where they matter, the locked
    source and the markers of the edges say so too.

    Raises:
        OddValueError: the name is missing or something in it is of a wrong type.
    """
    name = take(table, "name", str, "")
    if not name:
        raise OddValueError("a requirement has no name")
    extras = take_texts(table, "extras", alias="extra")
    text = name + (f"[{','.join(extras)}]" if extras else "")
    address = _requirement_address(table)
    marker = take(table, "marker", str, "")
    if address:
        return f"{text} @ {address}" + (f" ; {marker}" if marker else "")
    specifier = take(table, "specifier", str, "")
    text += "" if specifier == "*" else specifier
    return text + (f" ; {marker}" if marker else "")


def _requirement_address(table: Mapping[str, Any]) -> str:
    for key in ("git", "url", "path", "directory", "editable", "virtual"):
        value = table.get(key)
        if isinstance(value, str) and value:
            return f"git+{value}" if key == "git" else value
    return ""
