"""The environment variables that change how programs behave: those on a list, and no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.places import hide_addresses, hide_bare_hosts
from envtrack.collect.setting_names import SETTINGS, Kind
from envtrack.model.fact import Fact, FactValue, Known
from envtrack.model.layer import Layer
from envtrack.model.redact import fingerprint, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBERS = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})+")
_SWITCHES = frozenset({"0", "1", "true", "false", "yes", "no", "on", "off"})
# Printable text of one line: what tools take as words. It leaves quotes and control characters out.
_WORDS = re.compile(r"[\w .,:;=+/@%^~|*()\[\]\\-]{0,1000}")
# A GPU's UUID names one piece of hardware in the world.
_GPU_UUID = re.compile(r"(?P<kind>GPU|MIG)-(?:GPU-)?[0-9a-fA-F][0-9a-fA-F/\-]{5,}")
_SECRET = re.compile(r"(?:PASSWORD|PASSWD|TOKEN|SECRET|KEY|CREDENTIALS?|AUTH)$", re.IGNORECASE)


class SettingsCollector:
    """Reads the variables of `SETTINGS`.

    One that is not set gives no fact: hundreds of empty lines would bury the three that matter,
    and `compare_snapshots` takes a missing line of this layer for *not set*.
    """

    layer = Layer.SETTINGS

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``settings.<NAME>`` for each that is set, an empty value included: it means something.

        Where a value had to be hidden in part, ``(redacted #1a2b)`` follows, with a hash under the
        repository's key, so that a change of the hidden part is seen.
        """
        for name, kind in SETTINGS.items():
            # Never even if listed: a list grows by hand, and hands slip.
            if name in machine.environ and not is_secret_name(name):
                value = _describe(machine.environ[name], kind, machine)
                yield Fact(name=f"settings.{name}", state=Known(value))


def is_secret_name(name: str) -> bool:
    """Whether a variable's name says that its value is a credential."""
    return _SECRET.search(name) is not None


def _describe(text: str, kind: Kind, machine: Machine) -> FactValue:
    """The value in its type; what does not fit is no more than *set*: it may be anything."""
    stripped = text.strip()
    if not stripped:
        return ""
    match kind:
        case Kind.NUMBER:
            return _describe_number(stripped)
        case Kind.SWITCH:
            return stripped.lower() if stripped.lower() in _SWITCHES else "set (not a switch)"
        case Kind.DEVICES:
            shown = _GPU_UUID.sub(r"\g<kind>-***", stripped)
        case Kind.WORDS | Kind.PATHS | Kind.ADDRESSES:
            shown = stripped
    shown = hide_addresses(redact_text(shown))
    if kind is Kind.ADDRESSES:
        shown = hide_bare_hosts(shown, machine)
    if kind in {Kind.WORDS, Kind.DEVICES} and not _WORDS.fullmatch(shown):
        shown = "set"
    return shown if shown == stripped else _mark(shown, text, machine.salt)


def _describe_number(text: str) -> FactValue:
    if _NUMBER.fullmatch(text):
        return int(text)
    # OMP_NUM_THREADS=4,2 is one number for each level of nesting.
    return text if _NUMBERS.fullmatch(text) else "set (not a number)"


def _mark(shown: str, text: str, salt: str) -> str:
    return f"{shown} (redacted #{fingerprint(text, salt)})" if salt else f"{shown} (redacted)"
