"""``.envtrack/config.yaml`` as a value: what a project says about its environments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from envtrack.config.durations import parse_duration
from envtrack.config.reader import SIZE_LIMIT_BYTES
from envtrack.files import read_text
from envtrack.model.layer import Layer, LayerRules
from envtrack.model.paths import CONFIG
from envtrack.model.selection import Selection
from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from envtrack.config.schema import SettingsModel

DEFAULT_TIMEOUT_S = 600.0


class Stale(StrEnum):
    """What a probe does with a lockfile that no longer fits its ``pyproject.toml``."""

    SKIP = "skip"
    """The commit is untestable."""
    FROZEN = "frozen"
    """Install what the lockfile says, as it stands."""
    RELOCK = "relock"
    """Resolve it again first: no longer exactly what was committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """The command that decides good or bad.

    Attributes:
        command: for ``sh -c``, as written; empty where none is configured.
        timeout_s: seconds until it is ended with all it started.
        timeout_is: what a run that was ended says: ``BAD`` or ``UNTESTABLE``.
        files: paths from the repository's top level that the command needs; they are taken from
            the working tree and not from the commit that is judged.
    """

    command: str = ""
    timeout_s: float = DEFAULT_TIMEOUT_S
    timeout_is: Verdict = Verdict.BAD
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify:
    """The new user's way, as the project's documentation has it.

    Attributes:
        setup: the set-up for ``sh -c``, run in the lockfile's folder; empty: ``uv sync --locked``.
        keep: variables that the documentation tells a user to set.
    """

    setup: str = ""
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that ``config.yaml`` can say.

    Attributes:
        lockfiles: paths from the repository's top level; empty: all that are tracked.
        machine: the name of a machine that has no other; ``ENVTRACK_MACHINE`` wins over it.
        salt: the key of machine pseudonyms; empty where `init` never wrote one.
        smoke: the smoke test.
        verify: the new user's way.
        selection: what of a lockfile is installed.
        python: the interpreter request that all probes use; empty: what each commit asks for.
        stale: what to do with a lockfile that does not fit its project.
        layers: which packages belong to which layer, beyond what is known of them.
    """

    lockfiles: tuple[str, ...] = ()
    machine: str = ""
    salt: str = ""
    smoke: Smoke = field(default_factory=Smoke)
    verify: Verify = field(default_factory=Verify)
    selection: Selection = field(default_factory=Selection)
    python: str = ""
    stale: Stale = Stale.SKIP
    layers: LayerRules = ()


def read_settings(root: Path) -> Settings:
    """The settings of the repository at `root`; the defaults where there is no file.

    Raises:
        ConfigProblem: the file says what it may not say; names all its faults.
        UsageProblem: the file is there and can't be read.
    """
    path = root / CONFIG
    if not path.exists():
        return Settings()
    return parse_settings(read_text(path, limit_bytes=4 * SIZE_LIMIT_BYTES), CONFIG)


def parse_settings(text: str, where: str) -> Settings:
    """The settings that a file's content says; the defaults for what it leaves out.

    Args:
        text: YAML.
        where: how messages name the file.

    Raises:
        ConfigProblem: with every fault, each as ``file:line: key: what was expected``.
    """
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return Settings()
    # pydantic takes a quarter of a second to import: only who has a configuration pays for it.
    from envtrack.config.schema import read_model

    return _to_settings(read_model(text, where))


def _to_settings(model: SettingsModel) -> Settings:
    smoke, chosen = model.smoke, model.selection
    return Settings(
        lockfiles=tuple(dict.fromkeys(model.lockfiles)),
        machine=model.machine,
        salt=model.salt,
        smoke=Smoke(
            command=smoke.command,
            timeout_s=parse_duration(smoke.timeout) or DEFAULT_TIMEOUT_S,
            timeout_is=Verdict(smoke.timeout_is),
            files=tuple(dict.fromkeys(smoke.files)),
        ),
        verify=Verify(setup=model.verify.setup, keep=tuple(dict.fromkeys(model.verify.keep))),
        selection=Selection(
            extras=tuple(chosen.extras),
            groups=tuple(chosen.groups),
            without_groups=tuple(chosen.without_groups),
            all_extras=chosen.all_extras,
            all_groups=chosen.all_groups,
            all_packages=chosen.all_packages,
            package=chosen.package,
        ),
        python=model.python,
        stale=Stale(model.stale),
        layers=tuple((Layer(name), tuple(globs)) for name, globs in model.layers.items()),
    )
