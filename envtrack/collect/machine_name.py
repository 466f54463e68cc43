"""How a machine is called in records."""

from __future__ import annotations

import hmac
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.reading import read_text
from envtrack.errors import UsageProblem
from envtrack.model.redact import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "ENVTRACK_MACHINE"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DIGITS = 10


def find_machine_name(
    environ: Mapping[str, str], *, configured: str | None, salt: str, root: Path = Path("/")
) -> str:
    """The machine's name: chosen by its owner, or a stable pseudonym; never the bare host name.

    A container without a machine id has its host name only, which is a new one each time: set
    ``ENVTRACK_MACHINE`` in the image.

    Args:
        environ: ``ENVTRACK_MACHINE`` counts first.
        configured: the name from the configuration, if it has one.
        salt: the repository's key: the pseudonym is stable within a repository, and another in
            every other. With an empty one a host name can be guessed.
        root: the root of the file system.

    Raises:
        UsageProblem: the chosen name has other characters than letters, digits, ``.``, ``_`` and
            ``-``, or more than 64 of them.
    """
    if chosen := environ.get(VARIABLE):
        return check_machine_name(chosen, said_by=VARIABLE)
    if configured:
        return check_machine_name(configured, said_by="the configured machine name")
    # machine-id(5): never to be shown, only as a keyed hash.
    key, identity = (
        text.encode("utf-8", "backslashreplace") for text in (salt, clean_text(_identity(root)))
    )
    return f"m-{hmac.digest(key, identity, 'sha256').hex()[:_DIGITS]}"


def check_machine_name(name: str, *, said_by: str) -> str:
    """The name itself, if it can be one: it becomes the name of a folder.

    Raises:
        UsageProblem: it can't.
    """
    if not _NAME.fullmatch(name) or not name.strip("."):
        raise UsageProblem(
            f"{said_by}: {name!r} can't be a machine's name",
            hint="use 1 to 64 letters, digits, '.', '_' and '-'",
        )
    return name


def _identity(root: Path) -> str:
    """What the pseudonym is made of; the kinds are told apart, so that they never coincide."""
    text = read_text(root / "etc" / "machine-id")
    identity = text.strip() if isinstance(text, str) else ""
    if re.fullmatch(r"[0-9a-f]{32}", identity):  # "uninitialized" in images
        return f"machine-id {identity}"
    named = read_text(root / "etc" / "hostname")
    if root != Path("/") and isinstance(named, str):
        return f"host {named.strip()}"
    if sys.platform == "win32":
        import platform

        return f"host {platform.node()}"
    return f"host {os.uname().nodename}"
