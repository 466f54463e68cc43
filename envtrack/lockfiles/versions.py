"""The version that a lockfile says of its own format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from envtrack.lockfiles.tables import OddValueError, type_name

_VERSION = re.compile(r"(\d{1,4})(?:\.(\d{1,4}))?(?:\.\d{1,4})*", re.ASCII)


def read_schema(table: Mapping[str, Any], key: str, newest: int) -> tuple[int, int]:
    """First and second part of a format version such as `2.1`; zeros without the key.

    Raises:
        OddValueError: it is no version, or of a newer major version than is read.
    """
    value = table.get(key)
    if value is None:
        return 0, 0
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    found = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        shown = f"`{text}`" if isinstance(text, str) else type_name(value)
        raise OddValueError(f"`{key}` is {shown}, not the version of the format")
    if int(found[1]) > newest:
        raise OddValueError(f"`{key}` {text} is newer than the version that is read ({newest})")
    return int(found[1]), int(found[2] or 0)
