"""Lockfiles that are well written and say odd things: damage to what they hold, not to its form."""

from __future__ import annotations

import copy
import json
import tomllib
from random import Random
from typing import Any, Final, TypeAlias

import yaml

# What JSON, TOML and YAML have in common, and dates.
_Tree: TypeAlias = Any

_LONG: Final = (2_000, 20_000, 100_000)
_RUNS: Final = (
    *(" ", "a", "A-", "0", "1.", ".", "-", "_", "(", ")", "[", "]", "'", '"', "\\", "/", ":", "://", "@", "%"),
    *("%41", "?a", "#", "=", ",", ";", "; ", "a,", ">1,", "<2||", "|| ", "*", "~", "^1 ", "a=1&", "user:a@"),
    *("a and ", "os_name == 'a' and ", "os_name == 'a' or ", "(os_name == 'a' or ", "not ", "git+", "x@"),
    *("a ", "\t", "\n", "\u202e", "token=", "é", "\u0130", "extra == 'a' and (", ">=3,!=3.1.*,", "==1 "),
)  # fmt: skip
_ODD: Final[tuple[_Tree, ...]] = (
    *(None, 0, 1, -1, 2**63, 10**4000, 16**4400, 1.5, float("inf"), float("nan"), True, False, "", " ", "*", "0"),
    *([], {}, [[]], [{}], [1], [""], ["a", 1], {"": ""}, {"a": {}}, {"": {}}, {"name": 1}, {"name": ""}),
    *("==1", "==1.*", "1!2", "1..2", "v1", "~=1", ">=3.8,<", "a\nb", "\x1b[2J", "\u202e", "\0", "é", "İ"),
    *("os_name ==", "os_name == 'a' and", "(os_name == 'a'", "extra == 'a'", "'a' in extras", "'a' == 'b'"),
    *("extra", "a and (b or c", "python_version < '3'", "python_full_version == 'x'", "'a' in os_name"),
    *("a[b]; os_name == 'a'", "a @ https://[x", "https://[x", "https://user:word@host.example/a%zz#egg=b"),
    *("git+https://host.example/a@b", "file:///a", "a://b", "..", ".", "/", "-", "-e .", "a b", "::", "a::b"),
    *({"marker": "("}, {"extras": [1]}, {"version": []}, {"markers": {"main": 1}}, {"hashes": 1}),
    *({"git": ""}, {"git": 1}, {"registry": "x", "git": "y"}, {"url": "https://[x"}, {"path": "a\0b"}),
)  # fmt: skip


def shorten(text: str, random: Random) -> str:
    """A large file's beginning, a part from its middle, and its end; at times all of it."""
    most = random.choice((5_000, 20_000, 60_000, 400_000))
    if len(text) <= most:
        return text
    gap = max(("\n\n", "\n- ", "\n"), key=lambda g: (text.count(g) > 4) * len(g))
    blocks = text.split(gap)
    at, size = random.randrange(len(blocks)), 0
    chosen = []
    while at < len(blocks) and size < most:
        size += len(blocks[at])
        chosen.append(blocks[at])
        at += 1
    return gap.join([*blocks[:2], *chosen, blocks[-1]])


def damage_tree(text: str, random: Random) -> str | None:
    """The file with something odd in it, written anew; `None` if it can't be read or written."""
    form = next((one for one in (_JSON, _TOML, _YAML) if one.may_be(text)), _YAML)
    try:
        if len(text) > _MOST_WHOLE and form is not _JSON:
            text = shorten(text, random)
        tree = form.read(text)
        if not isinstance(tree, dict) or not tree:
            return None
        if len(text) > _MOST_WHOLE:
            _thin(tree, random)
        for _ in range(random.choice((1, 1, 2, 3, 8))):
            _change(tree, random)
        return form.write(tree)
    except (ValueError, RecursionError, TypeError, yaml.YAMLError):
        return None


_MOST_WHOLE: Final = 30_000


def _thin(tree: _Tree, random: Random) -> None:
    """Leaves few of the many entries there are."""
    for value in tree.values():
        if isinstance(value, dict) and len(value) > 60:
            for key in random.sample(list(value), len(value) - 40):
                del value[key]


def _change(tree: _Tree, random: Random) -> None:
    """One change at a place that is found by going down from the top."""
    node, way = tree, []
    while isinstance(node, dict | list) and node and random.random() < 0.9:
        key = random.choice(list(node)) if isinstance(node, dict) else random.randrange(len(node))
        way.append((node, key))
        node = node[key]
    if not way:
        return
    above, key = random.choice(way) if random.random() < 0.2 else way[-1]
    match random.randrange(8):
        case 0:
            del above[key]
        case 1 | 2 | 3:
            above[key] = copy.deepcopy(random.choice(_ODD))
        case 4:
            above[key] = _stretch(above[key], random)
        case 5 if isinstance(above, dict):
            new = random.choice((*_some_keys(tree, random), "", "a.b", "A_b", "a\nb", "x" * 3_000))
            above[new] = above.pop(key)
        case 6:
            above[key] = copy.deepcopy(_some_value(tree, random))
        case _:
            _multiply(above, key, random)


def _stretch(value: _Tree, random: Random) -> _Tree:
    run = random.choice(_RUNS)
    run *= random.choice(_LONG) // len(run)
    text = value if isinstance(value, str) else ""
    at = random.randint(0, len(text))
    return text[:at] + run + text[at:] + random.choice(("", "x", "'", ")"))


def _multiply(above: _Tree, key: _Tree, random: Random) -> None:
    """One entry many times; each with a name or version of its own, if it has one."""
    first = above[key]
    size = len(json.dumps(first, default=str)) + 20
    count = min(random.choice((2, 60, 1_500)), max(_MOST_WHOLE * 10 // size, 2))
    field = random.choice(("name", "version", "url", "marker", ""))
    copies = []
    for number in range(count):
        one = dict(first) if isinstance(first, dict) else first
        if isinstance(one, dict) and isinstance(one.get(field), str):
            one[field] += str(number)
        elif isinstance(one, str) and random.random() < 0.5:
            one += str(number)
        copies.append(one)
    if isinstance(above, list):
        above[key:key] = copies
    else:
        above.update({f"{key}{number}": one for number, one in enumerate(copies)})


def _some_value(tree: _Tree, random: Random) -> _Tree:
    node = tree
    while isinstance(node, dict | list) and node and random.random() < 0.8:
        node = random.choice(list(node.values()) if isinstance(node, dict) else node)
    return node


def _some_keys(tree: _Tree, random: Random) -> list[str]:
    node = _some_value(tree, random)
    return [str(key) for key in node] if isinstance(node, dict) else []


class _Form:
    """One of the languages that lockfiles are written in."""

    def may_be(self, text: str) -> bool:
        raise NotImplementedError

    def read(self, text: str) -> _Tree:
        raise NotImplementedError

    def write(self, tree: _Tree) -> str:
        raise NotImplementedError


class _Json(_Form):
    def may_be(self, text: str) -> bool:
        return text.lstrip("\ufeff \n").startswith("{")

    def read(self, text: str) -> _Tree:
        return json.loads(text)

    def write(self, tree: _Tree) -> str:
        return json.dumps(tree, indent=4)


class _Yaml(_Form):
    def may_be(self, text: str) -> bool:
        return "\n" in text

    def read(self, text: str) -> _Tree:
        return yaml.load(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))

    def write(self, tree: _Tree) -> str:
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        return str(yaml.dump(tree, Dumper=dumper, sort_keys=False, allow_unicode=True))


class _Toml(_Form):
    """Written as uv does it: tables of packages apart, all else in one line."""

    def may_be(self, text: str) -> bool:
        return "\n[[" in text

    def read(self, text: str) -> _Tree:
        return tomllib.loads(text)

    def write(self, tree: _Tree) -> str:
        plain = [f"{_key(key)} = {_inline(tree[key])}" for key in tree if not _is_apart(tree[key])]
        for key, value in tree.items():
            if not _is_apart(value):
                continue
            for row in value if isinstance(value, list) else [value]:
                name = _key(key)
                plain += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
                plain += [f"{_key(k)} = {_lines(v)}" for k, v in row.items() if k != "metadata"]
                if isinstance(row.get("metadata"), dict):
                    plain += ["", f"[{name}.metadata]"]
                    plain += [f"{_key(k)} = {_lines(v)}" for k, v in row["metadata"].items()]
        return "\n".join([*plain, ""])


def _is_apart(value: _Tree) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) for row in value)
    return isinstance(value, dict)


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if is_bare else json.dumps(key)


def _lines(value: _Tree) -> str:
    if not isinstance(value, list) or not value:
        return _inline(value)
    return "[\n" + "".join(f"    {_inline(row)},\n" for row in value) + "]"


def _inline(value: _Tree) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_inline(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if value is None:
        return '""'
    if isinstance(value, bool | float):
        return str(value).lower()
    return str(value) if abs(value) < 10**4000 else hex(value)


_JSON, _TOML, _YAML = _Json(), _Toml(), _Yaml()
