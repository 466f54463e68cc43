"""JSON text → an object; every fault says its line."""

from __future__ import annotations

import json
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.text import clean_text


def load_json(text: str, *, path: str) -> dict[str, Any]:
    """The object of `text`.

    Raises:
        LockfileProblem: empty, an unresolved merge, not JSON, or not an object.
    """
    text = clean_text(text, path=path)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise LockfileProblem(path, error.lineno, reason) from error
    except (RecursionError, ValueError) as error:
        # A number of thousands of digits is a ValueError; Python bounds its own work so.
        raise LockfileProblem(path, None, "not JSON that can be read: too deep or too long") from (
            error
        )
    if not isinstance(document, dict):
        raise LockfileProblem(path, 1, "not a JSON object")
    return document
