"""Paths without what is personal or by chance: where home, project and environment stand."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.reading import read_text
from envtrack.model.hidden import HIDDEN
from envtrack.model.redact import redact_homes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from envtrack.collect.interface import Machine

# Names that say nothing about a person; hiding them would only spoil paths such as /opt/root.
_COMMON_NAMES = frozenset(
    [
        *("", "root", "home", "user", "users", "runner", "build", "builder", "work", "admin"),
        *("ubuntu", "debian", "fedora", "centos", "rocky", "opc", "ec2-user", "vagrant", "docker"),
        *("linux", "jovyan", "nvidia", "test", "nobody"),
    ]
)
# The same of machines: names that images and installers give, and folders' names.
_COMMON_HOSTS = frozenset(
    [
        *("", "localhost", "localhost.localdomain", "(none)", "ubuntu", "debian", "fedora"),
        *("archlinux", "raspberrypi", "docker-desktop", "buildkitsandbox", "bin", "cuda", "data"),
        *("home", "lib", "lib64", "local", "mnt", "opt", "python", "run", "scratch", "simple"),
        *("srv", "sys", "tmp", "usr", "var"),
    ]
)
_HOST_VARIABLES = ("HOSTNAME", "HOST", "COMPUTERNAME", "SLURMD_NODENAME")
_HOST_FILES = ("etc/hostname", "proc/sys/kernel/hostname")
_LOOPBACK = ("127.", "0.0.0.0", "[::1]", "[::]")  # noqa: S104 - nothing is bound to it
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
# Only where a host stands: 9.1.0.70 is a version of cuDNN.
_URL_ADDRESS = re.compile(
    rf"(?P<lead>://(?:[^/@\s]{{0,100}}@)?)(?P<host>{_IPV4}|\[[0-9A-Fa-f:.%]+\])(?=[:/?#\s]|$)"
)
_BARE_HOST = re.compile(r"(?<![^\s,=@])[\w.\-]+(?=[:/,\s]|$)")
_MAC = re.compile(r"(?<![0-9A-Fa-f:\-])[0-9A-Fa-f]{2}(?:[:\-][0-9A-Fa-f]{2}){5}(?![0-9A-Fa-f:\-])")


def path_hider(machine: Machine, *, is_resolved: bool = True) -> Callable[[str], str]:
    """A function that puts ``<environment>``, ``<project>``, ``~`` and ``<user>`` into any text.

    The longest path wins, each as written and with its links resolved. The machine's own name
    becomes ``<host>``, and network addresses are hidden. It is made once and used for every value,
    since resolving touches the disk.

    Args:
        machine: whose places they are.
        is_resolved: whether links are resolved, which a dead mount makes impossible.
    """
    labels = dict(_labels(machine, is_resolved=is_resolved))
    places = sorted(labels, key=len, reverse=True)
    # Not in the middle of a longer path or name: /srv/app does not stand in /srv/application.
    pattern = re.compile(
        r"(?<![\w.~\-])(?:" + "|".join(map(re.escape, places)) + r")(?![\w\-]|\.\w)"
        if places
        else r"(?!)"
    )
    users = tuple(_user_names(machine))
    user = _segment_pattern(users, r"(?<=[/\\])", r"(?=[/\\:;\s]|$)")
    builder = _segment_pattern(users, r"(?<![\w.\-])", r"(?=@)")  # the user@host of who built it
    host = _segment_pattern(_host_names(machine), r"(?<=[/\\@])", r"(?=[/\\:;.\s)]|$)")

    def hide(text: str) -> str:
        if "/" not in text and "\\" not in text and "@" not in text:
            return text
        text = pattern.sub(lambda found: labels[found.group()], text)
        text = builder.sub("<user>", user.sub("<user>", text))
        text = host.sub("<host>", text)
        return hide_addresses(redact_homes(text))

    return hide


def hide_bare_hosts(text: str, machine: Machine) -> str:
    """A list of hosts or URLs, without the machine's own name and without IP addresses."""
    own = {name.lower() for name in _host_names(machine)}

    def hide(found: re.Match[str]) -> str:
        host = found.group()
        if host.lower() in own:
            return "<host>"
        is_address = re.fullmatch(_IPV4, host) and not host.startswith(_LOOPBACK)
        return HIDDEN if is_address else host

    return _BARE_HOST.sub(hide, text)


def hide_addresses(text: str) -> str:
    """Text without hardware addresses, and without the IP addresses of hosts in its URLs."""
    if "://" in text:
        text = _URL_ADDRESS.sub(_hide_address, text)
    return _MAC.sub(HIDDEN, text)


def _hide_address(found: re.Match[str]) -> str:
    is_loopback = found["host"].startswith(_LOOPBACK)
    return found.group() if is_loopback else f"{found['lead']}{HIDDEN}"


def describe_place(path: Path, machine: Machine) -> str:
    """A path as it is recorded, by the project or home it stands in and not as an environment."""
    for base, label in ((machine.project, "<project>"), (machine.home, "~")):
        for root in {base, _resolve(base)}:
            if _is_place(str(root)) and path.is_relative_to(root):
                return label + "".join(f"/{part}" for part in path.relative_to(root).parts)
    return str(path)


def _labels(machine: Machine, *, is_resolved: bool) -> Iterator[tuple[str, str]]:
    """Later ones win: an environment that is the project itself is called the environment."""
    rows = [(machine.home, "~"), (machine.project, "<project>")]
    if machine.environment is not None:
        rows.append((machine.environment, "<environment>"))
    for path, label in rows:
        for form in (str(path), str(_resolve(path)) if is_resolved else ""):
            if _is_place(form):
                yield form, label


def _is_place(path: str) -> bool:
    """Whether it is a folder below the root: ``/`` as a home would rename every path."""
    return Path(path).is_absolute() and Path(path) != Path(Path(path).anchor)


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _user_names(machine: Machine) -> Iterator[str]:
    for name in (machine.home.name, *(machine.environ.get(key, "") for key in ("USER", "LOGNAME"))):
        if name.lower() not in _COMMON_NAMES:
            yield name


def _host_names(machine: Machine) -> Iterator[str]:
    """The machine's own names, each with its domain and without."""
    said = [machine.environ.get(key, "") for key in _HOST_VARIABLES]
    said += [
        text for file in _HOST_FILES if isinstance(text := read_text(machine.root / file), str)
    ]
    for name in map(str.strip, said):
        for form in (name, name.partition(".")[0]):
            if form.lower() not in _COMMON_HOSTS and len(form) > 1:
                yield form


def _segment_pattern(names: Iterable[str], before: str, after: str) -> re.Pattern[str]:
    """Any of these names between what has to stand around it; longer ones first."""
    forms = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    if not forms:
        return re.compile(r"(?!)")
    listed = "|".join(map(re.escape, forms))
    return re.compile(f"{before}(?:{listed}){after}", re.IGNORECASE)
