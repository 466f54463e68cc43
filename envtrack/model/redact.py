"""The one redactor: what goes into a record, a report or a log passes here first.

It works on text alone and never raises. Where text could be read in two ways it hides rather than
shows. What it can't see: a secret without any shape, such as a bare word (those are kept out by
recording only what is on an allow-list), and, in running text only, a password that holds both a
quote or angle bracket and a ``/``, ``?`` or ``#``, none of them encoded: no tool reads such a URL.
"""

from __future__ import annotations

import re

from envtrack.model.hidden import HIDDEN

# Four digits, and no more on purpose: the key stands in the repository, so a long hash would let
# any reader of the repository try a dictionary of passwords against it. One change in 65,536 is
# missed; of a million guesses fifteen remain.
_FINGERPRINT_DIGITS = 4
_ROUNDS = 8

_HOME = re.compile(r"(?P<root>[/\\](?:home|Users)[/\\]+)(?!\*\*\*)[^/\\\s:;,\"'<>]+")

# Two quick looks, since a snapshot redacts thousands of names and versions. A token of such plain
# letters has no shape; and where nothing of this is found, nothing has to be hidden.
_PLAIN = re.compile(r"[0-9a-z.+!]*")
_SUSPICIOUS = re.compile(
    r"://|@|gh[pousr]_|github_pat|hf_|pypi-|glpat|xox|sk-|npm_|dckr|eyJ|A[KS]IA|AIza|-----"
    r"|[=:].|bearer",
    re.IGNORECASE,
)


def redact_text(text: str) -> str:
    """Any text, with the credentials in it hidden: in URLs, in logins, and known token shapes."""
    return _settle(text, is_url=False)


def redact_url(text: str) -> str:
    """One URL, whatever is inside it; text that is none is treated as `redact_text` does.

    The userinfo becomes ``***`` (``git`` without a password stays), query values are dropped but
    for a short safe list, the fragment keeps only hashes, commit ids, ``egg`` and
    ``subdirectory``, path segments that look like tokens become ``***``.
    """
    return _settle(text, is_url=True)


def redact_homes(text: str) -> str:
    """Text without the names of people that home folders carry: ``/home/***/project``."""
    return _HOME.sub(rf"\g<root>{HIDDEN}", text)


def fingerprint(value: str, key: str) -> str:
    """Four hexadecimal digits that change when a hidden value does, under the repository's key."""
    import hmac  # it loads OpenSSL: most of what is redacted needs no hash

    digest = hmac.digest(key.encode("utf-8", "backslashreplace"), _raw(value), "sha256")
    return digest.hex()[:_FINGERPRINT_DIGITS]


def clean_text(text: str) -> str:
    r"""Text that can be written as UTF-8: bytes that could not be decoded show as ``\xNN``."""
    if text.isascii():
        return text
    return _raw(text).decode("utf-8", "backslashreplace")


def _raw(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair that stands for no byte
        return text.encode("utf-8", "backslashreplace")


def _settle(text: str, *, is_url: bool) -> str:
    """Repeats a step until nothing moves, so that redacting twice is redacting once."""
    if _PLAIN.fullmatch(text) or not _SUSPICIOUS.search(text):
        return text
    # Most of what is looked at needs none of it, and it takes long to import.
    from envtrack.model.redact_rules import redact_text_once, redact_url_once

    step = redact_url_once if is_url else redact_text_once
    for _ in range(_ROUNDS):
        after = step(text)
        if after == text:
            return text
        text = after
    return HIDDEN
