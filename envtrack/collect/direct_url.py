"""Where a distribution came from, if not from an index: PEP 610's ``direct_url.json``."""

from __future__ import annotations

import json
import re

from envtrack.model.redact import redact_url


def describe_direct_url(text: str) -> str:
    """PEP 610 in one line: ``git+https://…@<commit>``, ``editable <path>``, ``<url>#sha256=…``.

    Without credentials; a local path is still to be hidden. Text that can't be understood is said
    to be so, since a package that came from somewhere must not look like one from an index.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("url"), str):
        return "direct_url.json can't be read"
    # Without line ends: a URL can't have any, a text made to deceive can.
    url = "".join(record["url"].splitlines())
    if isinstance(folder := record.get("dir_info"), dict):
        return f"{'editable' if folder.get('editable') is True else 'directory'} {_local_path(url)}"
    where = _cut(redact_url(url))
    tail = [f"subdirectory={record['subdirectory']}"] if record.get("subdirectory") else []
    if isinstance(vcs := record.get("vcs_info"), dict):
        where = f"{vcs.get('vcs', 'git')}+{where}@{vcs.get('commit_id', 'unknown')}"
    else:
        where = _local_path(url) if url.startswith("file:") else where
        tail += _archive_hash(record.get("archive_info"))
    return f"{where}#{'&'.join(tail)}" if tail else where


def _cut(url: str) -> str:
    """Without query and fragment, so that what is appended stays a part of its own."""
    return re.split("[?#]", url, maxsplit=1)[0]


def _archive_hash(archive: object) -> list[str]:
    """One hash, SHA-256 if there is; old tools wrote a single ``hash`` of ``name=value``."""
    if not isinstance(archive, dict):
        return []
    hashes = archive.get("hashes")
    if isinstance(hashes, dict) and hashes:
        name = "sha256" if "sha256" in hashes else min(hashes)
        return [f"{name}={hashes[name]}"]
    return [str(archive["hash"])] if archive.get("hash") else []


def _local_path(url: str) -> str:
    from urllib.parse import unquote

    if not url.startswith("file:"):
        return redact_url(url)
    path = unquote(url.removeprefix("file:").removeprefix("//").removeprefix("localhost"))
    # file:///C:/work is C:/work.
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path
