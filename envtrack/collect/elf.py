"""Sections of a shared library, found without loading it: elf(5), 64-bit and little-endian."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from envtrack.collect.reading import Missing, missing_state
from envtrack.model.fact import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_IDENTITY = b"\x7fELF\x02\x01"
_MOST_SECTIONS = 512
_MOST_NAMES_BYTES = 64 * 1024
_CHUNK_BYTES = 1024 * 1024
_LARGEST_BYTES = 1 << 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Where a section lies in its file, in bytes."""

    path: Path
    offset: int
    size: int


def find_section(path: Path, name: str) -> Section | Missing:
    """A section by its name (``.rodata``); unknown where the file is no such library.

    Cost: three small reads.
    """
    try:
        with path.open("rb") as source:
            found = dict(_read_sections(source)).get(name)
    except OSError as error:
        return missing_state(error)
    except (struct.error, ValueError):
        return Unknown(f"{path.name} is no 64-bit ELF file")
    if found is None:
        return Unknown(f"{path.name} has no section {name}")
    return Section(path=path, offset=found[0], size=found[1])


def read_chunks(section: Section, *, overlap: int, limit_bytes: int) -> Iterator[bytes]:
    """A section piece by piece, so that a search may stop early.

    Args:
        section: where to read.
        overlap: bytes of the piece before that each begins with: as long as what is looked for.
        limit_bytes: of which no more is read.

    Raises:
        OSError: it can't be read.
    """
    left = min(section.size, limit_bytes)
    tail = b""
    with section.path.open("rb") as source:
        source.seek(section.offset)
        while left > 0:
            piece = source.read(min(_CHUNK_BYTES, left))
            if not piece:
                return
            left -= len(piece)
            yield tail + piece
            tail = piece[-overlap:]


def _read_sections(source: BinaryIO) -> Iterator[tuple[str, tuple[int, int]]]:
    header = _HEADER.unpack(source.read(_HEADER.size))
    if not header[0].startswith(_IDENTITY):
        raise ValueError("no 64-bit ELF file")
    table, entry_size, count, names_index = header[6], header[11], header[12], header[13]
    if entry_size != _SECTION.size or not names_index < count <= _MOST_SECTIONS:
        raise ValueError("an odd section table")
    if table > _LARGEST_BYTES:
        raise ValueError("a section table outside of every file")
    source.seek(table)
    raw = source.read(count * entry_size)
    sections = [_SECTION.unpack_from(raw, index * entry_size) for index in range(count)]
    source.seek(min(sections[names_index][4], _LARGEST_BYTES))
    names = source.read(min(sections[names_index][5], _MOST_NAMES_BYTES))
    if max(section[4] for section in sections) > _LARGEST_BYTES:
        raise ValueError("a section outside of every file")
    for section in sections:
        start = section[0]
        end = names.find(b"\0", start)
        yield names[start:end].decode("ascii", "replace"), (section[4], section[5])
