"""Builds tiny wheels for a flat index."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_wheel(
    index: Path,
    name: str,
    version: str,
    *,
    files: Mapping[str, str] | None = None,
    requires: Iterable[str] = (),
    extras: Mapping[str, Iterable[str]] | None = None,
    spelt: str = "",
    recorded_only: Iterable[str] = (),
) -> Path:
    """A wheel of pure Python; by default one module that knows its version.

    Args:
        index: the folder it is put in.
        name: the package's.
        version: as the file name has it.
        files: what it holds.
        requires: its requirements.
        extras: requirements by extra.
        spelt: the version as its metadata has it, if that is another spelling.
        recorded_only: files that its record names and it does not hold.
    """
    module = name.replace("-", "_")
    content = dict(files or {f"{module}.py": f"VERSION = {version!r}\n"})
    info = f"{module}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.3\nName: {name}\nVersion: {spelt or version}"]
    metadata += [f"Requires-Dist: {line}" for line in requires]
    for extra, lines in (extras or {}).items():
        metadata.append(f"Provides-Extra: {extra}")
        metadata += [f"Requires-Dist: {line} ; extra == '{extra}'" for line in lines]
    content[f"{info}/METADATA"] = "\n".join(metadata) + "\n"
    content[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = [f"{path},sha256={_hash(text)},{len(text.encode())}" for path, text in content.items()]
    record += [f"{path},," for path in recorded_only]
    content[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    index.mkdir(parents=True, exist_ok=True)
    target = index / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, text in content.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), text)
    return target


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
