"""The shapes by which a token is known even where nothing says that it is one."""

from __future__ import annotations

import re

from envtrack.model.hidden import HIDDEN

# Prefixes are published by who issues the tokens, so that scanners can find them; lengths are at
# least half of the real ones, so that a cut token is still found. A PEM block ends with its END
# line or with the text. Runs are bounded, so that no text costs its length squared.
_TOKENS = re.compile(
    r"""(?x)
    -----BEGIN[ ][A-Z0-9 ]{0,40}(?:-----)?(?:.*?-----END[ ][A-Z0-9 ]{0,40}-----|.*)
    | (?<![A-Za-z0-9])(?:
        gh[pousr]_[A-Za-z0-9_]{8,}
      | github_pat_[A-Za-z0-9_]{8,}
      | glpat-[A-Za-z0-9_\-]{10,}
      | hf_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{10,}       # not the packages hf_transfer, hf_xet
      | pypi-(?=[a-z_\-]{0,40}[A-Z0-9])[A-Za-z0-9_\-]{12,}    # not the package pypi-attestations
      | npm_[A-Za-z0-9]{18,}
      | dckr_pat_[A-Za-z0-9_\-]{10,}
      | xox[abeprs]-[A-Za-z0-9\-]{10,}
      | sk-(?=[a-z_\-]{0,40}[A-Z0-9])[A-Za-z0-9_\-]{18,}
      | A[KS]IA[0-9A-Z]{10,}
      | AIza[A-Za-z0-9_\-]{20,}
      | eyJ[A-Za-z0-9_\-]{6,600}(?:\.[A-Za-z0-9_\-]+)+ # a JSON web token: the base64 of '{"'
    )
    """,
    re.DOTALL,
)
_HEADER = re.compile(
    r"(?i)(?P<name>authorization[\"']?\s*[:=]\s*[\"']?)(?!\*\*\*)(?:(?:basic|bearer|token|digest)\s+)?"
    r"[^\s\"']+"
)
_BEARER = re.compile(r"(?i)(?P<name>\bbearer\s+)(?=\S{0,200}\d)[\w.~+/=\-]{12,}")
# HF_TOKEN=…, "password": "…". The name must end there (num_memory_tokens=8 is none) and a plain
# number, a switch or a variable's name is no secret.
_ASSIGNED = re.compile(
    r"(?i)(?P<name>(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key)[\"']?\s?[=:]\s?"
    r"[\"']?)(?!\*\*\*|[\d.]+(?![\w\-])|(?:none|null|true|false)\b|\$)[^\s\"'&,;]{4,}"
)
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_COMMIT_LENGTHS = frozenset({40, 64})
_TURN = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MIN_TOKEN = 16
_MIN_HEX_TOKEN = 24
_MIN_TURNS = 5


def hide_token_shapes(text: str) -> str:
    """Text with every known token shape, authorisation header and ``…TOKEN=`` value hidden."""
    text = _TOKENS.sub(HIDDEN, text)
    text = _HEADER.sub(rf"\g<name>{HIDDEN}", text)
    text = _BEARER.sub(rf"\g<name>{HIDDEN}", text)
    return _ASSIGNED.sub(rf"\g<name>{HIDDEN}", text)


def is_token_segment(segment: str, *, is_artifact: bool) -> bool:
    """Whether one path segment looks like a token and like nothing else.

    Hexadecimal segments of an artefact's path are hashes, and 40 or 64 such digits name a commit;
    otherwise they are a token. Letters and digits without any separator are one if they are long
    and mixed as no word is.
    """
    if _TOKENS.fullmatch(segment):
        return True
    if len(segment) < _MIN_TOKEN or not (segment.isascii() and segment.isalnum()):
        return False
    if _HEX.fullmatch(segment) and not segment.isalpha():
        is_hash = is_artifact or len(segment) in _COMMIT_LENGTHS
        return len(segment) >= _MIN_HEX_TOKEN and not is_hash
    has_all = (
        any(c.islower() for c in segment)
        and any(c.isupper() for c in segment)
        and any(c.isdigit() for c in segment)
    )
    return has_all or len(_TURN.findall(segment)) >= _MIN_TURNS
