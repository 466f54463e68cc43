"""Spans of time as people write them: ``90s``, ``10m``, ``1h30m``, or plain seconds."""

from __future__ import annotations

import re

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|h|d)", re.ASCII)
_PLAIN = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_LONGEST_S = 30 * 86400.0

EXPECTED = "a time such as 90s, 10m or 1h, above 0 and at most 30d"


def parse_duration(text: str) -> float | None:
    """The span in seconds, or ``None`` if `text` is none, is 0, or is longer than 30 days.

    A number without a unit is seconds.
    """
    said = text.strip().lower()
    if _PLAIN.fullmatch(said):
        seconds = float(said)
    else:
        parts = _PART.findall(said)
        if not parts or _PART.sub("", said).strip():
            return None
        seconds = sum(float(number) * _UNITS_S[unit] for number, unit in parts)
    return seconds if 0 < seconds <= _LONGEST_S else None


def render_duration(seconds: float) -> str:
    """The span as people write it, in the largest unit that divides it: ``10m``, ``90s``."""
    for unit in ("d", "h", "m"):
        if seconds >= _UNITS_S[unit] and seconds % _UNITS_S[unit] == 0:
            return f"{seconds / _UNITS_S[unit]:.15g}{unit}"
    return f"{seconds:.15g}s"
