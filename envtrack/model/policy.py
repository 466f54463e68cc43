"""An upgrade policy as a value: what its file says, checked, without what checks it.

The options of each rule are those of `envtrack.config.policy_schema`, by the same names. They are
kept as plain values, so that a hook can remember them: what checks a file takes longer to import
than all the rest of a commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from envtrack.model.breach import Level

Options: TypeAlias = SimpleNamespace
"""The options of one rule; `level` is a `Level`, lists are tuples, groups of keys are the same."""


class UpgradePolicy(NamedTuple):
    """What one commit may do to a lockfile.

    Attributes:
        rules: options by the name of the rule.
        overrides: the rules that a trailer may override.
        waivers: who answers for what until when: ``rule``, ``owner``, ``reason``, ``until``,
            ``packages``, ``lockfiles``.
        elsewhere: globs of lockfiles with the options that are others there.
    """

    rules: Mapping[str, Options]
    overrides: tuple[str, ...]
    waivers: tuple[Options, ...]
    elsewhere: tuple[tuple[tuple[str, ...], Mapping[str, Mapping[str, Any]]], ...]

    def find_rules(self, lockfile: str) -> Mapping[str, Options]:
        """The rules for one lockfile: the policy's own, with what it says of this one."""
        rules = dict(self.rules)
        for globs, others in self.elsewhere:
            if any(fnmatchcase(lockfile, glob) for glob in globs):
                for name, said in others.items():
                    rules[name] = Options(**{**vars(rules[name]), **said})
        return rules


def parse_policy(document: Mapping[str, Any]) -> UpgradePolicy:
    """The policy of a document that was made of a checked one.

    Args:
        document: ``{"rules": {name: options}, "overrides": [], "waivers": [options], "elsewhere":
            [[globs, {name: options}]]}``.

    Raises:
        KeyError, TypeError, ValueError: it is no such document.
    """
    return UpgradePolicy(
        rules={name: Options(**_read(options)) for name, options in document["rules"].items()},
        overrides=tuple(document["overrides"]),
        waivers=tuple(Options(**_read(one)) for one in document["waivers"]),
        elsewhere=tuple(
            (tuple(globs), {name: _read(options) for name, options in others.items()})
            for globs, others in document["elsewhere"]
        ),
    )


def _read(options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Level(value) if name == "level" else _freeze(value) for name, value in options.items()
    }


def _freeze(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return Options(**{name: _freeze(inner) for name, inner in value.items()})
    return tuple(map(_freeze, value)) if isinstance(value, list) else value
