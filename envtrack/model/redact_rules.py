"""One pass of the redactor over a text, or over a URL."""

from __future__ import annotations

import re

from envtrack.model.hidden import HIDDEN
from envtrack.model.redact_shapes import hide_token_shapes, is_token_segment

# Quotes and brackets end a URL, but not inside its userinfo: a password may hold any of them.
# Runs are bounded everywhere below: a log of one long line must not cost its length squared.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,30}://(?:[^\s/?#]*@)?[^\s\"'<>]*")
# The five parts of RFC 3986, appendix B, which matches everything that has a scheme. No urlsplit:
# it raises on a broken IPv6 address and drops line ends.
_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.DOTALL,
)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.%]*\]|[^:\[\]]*)(?::[0-9]*)?")
_SAFE_QUERY = frozenset({"subdirectory", "rev", "tag", "branch", "egg"})
_SAFE_VALUE = re.compile(r"(?:[\w./+\-\[\],]|%2[BFbf]|%5[BDbd])*")
_QUERY_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,30}")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_HASH = re.compile(r"(?:md5|sha1|sha224|sha256|sha384|sha512)[=:][0-9a-fA-F]+")
_LOGIN = re.compile(  # user:password@host without a scheme: proxies are often given so
    r"(?<![^\s\"'=(,;/])[^\s:@/\"'=(,;*]{1,100}:[^\s@/\"']{0,300}@(?=[\w\[])"
)
_SCP = re.compile(
    r"(?<![\w.+\-@:/*])(?!git@)[\w.+\-]{1,100}@(?=[\w.\-]{0,80}[A-Za-z][\w.\-]{0,80}:\S)"
)


def redact_url_once(text: str) -> str:
    """One pass over a URL, and over what is around it."""
    return redact_text_once(_redact_whole_url(text))


def redact_text_once(text: str) -> str:
    """One pass over running text."""
    pieces = []
    position = 0
    for found in _URL.finditer(text):
        pieces.append(_redact_plain(text[position : found.start()]))
        pieces.append(_redact_whole_url(found.group()))
        position = found.end()
    pieces.append(_redact_plain(text[position:]))
    return hide_token_shapes("".join(pieces))


def _redact_plain(text: str) -> str:
    if "@" not in text:
        return text
    return _SCP.sub(f"{HIDDEN}@", _LOGIN.sub(f"{HIDDEN}@", text))


def _redact_whole_url(text: str) -> str:
    parts = _PARTS.fullmatch(text)
    if parts is None:
        return text
    tail = (parts["query"] or "") + (parts["fragment"] or "")
    authority = _redact_authority(parts["authority"], is_cut_short="@" in tail)
    if authority == HIDDEN:  # the path may be the rest of the password
        return f"{parts['scheme']}://{HIDDEN}"
    query = "" if not parts["query"] else "?" + _redact_query(parts["query"])
    fragment = _redact_fragment(parts["fragment"] or "")
    path = _redact_path(parts["path"])
    return f"{parts['scheme']}://{authority}{path}{query}{fragment and '#' + fragment}"


def _redact_authority(authority: str, *, is_cut_short: bool) -> str:
    """Host and port as they are; a password may hold any character, so doubt hides everything."""
    login, at, host = authority.rpartition("@")
    # https://user:pa?ss@host, https://user:p@a#ss@host: what looks like a host is no host.
    if is_cut_short or not _HOST.fullmatch(host):
        return HIDDEN
    if not at or login == "git":
        return authority
    return f"{HIDDEN}@{host}"


def _redact_path(path: str) -> str:
    if ";" in path:  # RFC 3986 path parameters: /simple;token=…
        path = "/".join(part.partition(";")[0] for part in path.split("/"))
    segments = path.split("/")
    is_artifact = path.endswith((".whl", ".gz", ".zip", ".conda", ".bz2", ".xz", ".metadata"))
    for position, segment in enumerate(segments):
        follows_marker = position > 0 and segments[position - 1] in {"t", "token"}
        if segment and (follows_marker or is_token_segment(segment, is_artifact=is_artifact)):
            segments[position] = HIDDEN
    return "/".join(segments)


def _redact_query(query: str) -> str:
    return "&".join(_redact_pair(pair) for pair in re.split("[&;]", query) if pair) or HIDDEN


def _redact_pair(pair: str) -> str:
    key, equals, value = pair.partition("=")
    if not equals or not _QUERY_KEY.fullmatch(key) or is_token_segment(key, is_artifact=False):
        return HIDDEN
    if key in _SAFE_QUERY and _SAFE_VALUE.fullmatch(value):
        return pair
    return f"{key}={HIDDEN}"


def _redact_fragment(fragment: str) -> str:
    return "&".join(part for part in fragment.split("&") if _is_safe_fragment(part))


def _is_safe_fragment(part: str) -> bool:
    key, equals, value = part.partition("=")
    if equals and key in {"egg", "subdirectory"}:
        return _SAFE_VALUE.fullmatch(value) is not None
    return bool(_COMMIT.fullmatch(part) or _HASH.fullmatch(part))
