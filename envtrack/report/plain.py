"""What may be shown as it is: values come from lockfiles and machines, and not all are harmless.

A lockfile can carry an escape sequence that repaints the terminal, or a direction mark that makes
one name look like another; neither is ever printed raw.
"""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, direction marks, zero-width characters, and
# the surrogates in which bytes that are no UTF-8 travel.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)
_UNSAFE_IN_JSON = _UNSAFE.replace("\x00-\x1f", "")
_SURROGATE_BYTES = range(0xDC80, 0xDD00)


def show_plain(text: str) -> str:
    r"""The text with every character that does not show as itself written out: ``\x1b``, ``\n``."""
    # Python calls none of them printable. Such wide sets take long to compile, and most text is.
    return text if text.isprintable() else re.sub(_UNSAFE, lambda m: _write_out(m[0]), text)


def show_json(text: str) -> str:
    r"""JSON text that says the same, with such characters as ``\u`` escapes."""
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_UNSAFE_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", text)


def _write_out(character: str) -> str:
    point = ord(character)
    if point in _SURROGATE_BYTES:
        return f"\\x{point - 0xDC00:02x}"
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return named or (f"\\x{point:02x}" if point <= 0xFF else f"\\u{point:04x}")  # noqa: PLR2004


# Underscores inside a word are plain text in every Markdown that has tables.
_MARKUP = r"[\\`*\[\]|~]|(?<!\w)_|_(?!\w)"


def show_markdown(text: str) -> str:
    r"""The text as Markdown that renders as itself, also inside a table's cell (``\|``)."""
    plain = show_plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(_MARKUP, lambda match: f"\\{match[0]}", plain)
