"""Lockfiles damaged in the ways that files are, and in the ways that only malice is."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from tests.lockfiles.damage_tree import damage_tree

Damage: TypeAlias = Callable[[str, Random], str]

MOST_CHARACTERS: Final = 400_000
"""Nothing is made to grow beyond it."""

_VALUE = re.compile(r"(?<=[=:] )[^\n]*[^\n,{\[]|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'")
_STRING = re.compile(r'"([^"\n]{1,200})"')
_WORD = re.compile(r"[A-Za-z0-9][\w.-]{1,60}")
_NAME = re.compile(r"(?:name = |name: |\")([A-Za-z][\w.-]{1,40})\b")
_VALUES: Final = (
    *('""', "''", "[]", "{}", "[{}]", "[[]]", "0", "-1", "1.5", "true", "null", "~", "nan", "-inf"),
    *("2020-01-01", "2020-01-01T00:00:00Z", "[1, 2]", '["a", 1]', "{ a = 1 }", '{"a": 1}', '"\\u0000"'),
    *('"\\n"', '"a b"', '"*"', '"=="', '" "', '"\\ud800"', '"[a"', '"http://[a"', '"((("', '"extra"'),
    *("9" * 5000, "1e999", "1" * 400, "0x" + "f" * 5000, "0b" + "1" * 20_000, "*a", "&a b", "!!int 1"),
    *("!!python/object:os.system x", "|\n  a", ">-", "? a", "- a", '">=3.8,<"', '"sys_platform =="'),
    *('"a and (b or"', '"extra == \'x\' and"', '"\'x\' in extras"', '"https://user:word@host.example/x"'),
)  # fmt: skip
_ODD: Final = (
    *("[", "]", "{", "}", '"', "'", '"""', "'''", "=", ",", ":", "#", "\\", "\0", "\r", "\t", "\x0c"),
    *("\n", "\n\n", "\n[[package]]\n", "\n[[packages]]\n", "\n[metadata]\n", "\n- ", "\n  - ", "\n---\n"),
    *("\n...\n", "\ufeff", "\u2028", "\x85", "\u202e", "\u0130", "\x1b[2J", "\ud800", "\U0010ffff", "é"),
    *("<<<<<<< ", "\n<<<<<<< HEAD\n", "&a ", "*a", "!!binary ", "<<: *a", " ; ", "; extra == 'a'", " @ "),
    *("-r requirements.txt\n", "-c x\n", "-e .\n", "\n@EXPLICIT\n", "--hash=sha256:", "%00", "%zz", "\\\n"),
)  # fmt: skip
_RUNS: Final = (
    *(" ", "\t", "\n", "\r", '"', "'", "\\", "\\\n", "[", "{", "(", ")", "-", "- ", "a: ", "a.", ".", ","),
    *("#", "=", "==", "@", "/", ":", "://", "%", "%41", "a", "a ", "A-", "_", "0", "1.", "not ", "\0", "é"),
    *("a and ", "a or ", "os_name == 'a' and ", "os_name == 'a' or ", "(os_name == 'a' or ", "git+", "x@"),
    *(";", "; ", "a,", ">1,", "<2||", "|| ", "*", "~", "^1 ", "a=1&", "[a]", "{a}", '\\"', '""', "# via "),
    *(" --hash=", "--a ", "-a", "?a", "[[a]]\n", "- - ", "user:a@", "a:b ", "&a ", "token=", "\u202e", "\ufeff"),
)  # fmt: skip


def damage(text: str, other: str, random: Random) -> bytes:
    """The file's text with one to four damages, as bytes that need not be UTF-8.

    Args:
        text: a lockfile.
        other: some other lockfile's text, a part of which may get into this one.
        random: decides everything.
    """
    if random.random() < _IN_TREE and (written := damage_tree(text, random)) is not None:
        text = written
        if random.random() < _TREE_ALONE:
            return text[:MOST_CHARACTERS].encode("utf-8", "surrogatepass")
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        if random.random() < _SPLICED:
            text = _splice(text, other, random)
        else:
            text = random.choice(_DAMAGES)(text, random)
        text = text[:MOST_CHARACTERS]
    content = text.encode("utf-8", "surrogatepass")
    return _flip_bytes(content, random) if random.random() < _FLIPPED else content


_IN_TREE: Final = 0.6
_TREE_ALONE: Final = 0.9
_SPLICED: Final = 0.05
_FLIPPED: Final = 0.08


def _place(text: str, random: Random) -> int:
    return random.randint(0, len(text))


def _insert_odd(text: str, random: Random) -> str:
    at = _place(text, random)
    end = at + random.choice((0, 0, 1, 5, 40))
    return text[:at] + random.choice(_ODD) + text[end:]


def _insert_run(text: str, random: Random) -> str:
    """A very long run of one thing, within a value or where it falls."""
    run = random.choice(_RUNS)
    run *= random.choice((50, 500, 3_000, 30_000, 150_000)) // len(run)
    found = _pick(_VALUE, text, random) if random.random() < 0.7 else None
    at = _place(text, random) if found is None else random.randint(found.start(), found.end())
    return text[:at] + run + random.choice(("", "x", "\n", '"')) + text[at:]


def _change_value(text: str, random: Random) -> str:
    found = _pick(_VALUE, text, random)
    if found is None:
        return text
    return text[: found.start()] + random.choice(_VALUES) + text[found.end() :]


def _change_text(text: str, random: Random) -> str:
    """What stands in a string of the file becomes another string of it."""
    found, other = _pick(_STRING, text, random), _pick(_STRING, text, random)
    if found is None or other is None:
        return text
    return text[: found.start(1)] + other[1] + text[found.end(1) :]


def _rename(text: str, random: Random) -> str:
    """One name, or all its places, becomes another of the file or an unknown one."""
    found, other = _pick(_NAME, text, random), _pick(_NAME, text, random)
    if found is None or other is None:
        return text
    new = random.choice((other[1], other[1], "unknown-name", "UPPER.Case", "", "a" * 300))
    if random.random() < 0.4:
        return text.replace(found[1], new)[: MOST_CHARACTERS * 2]
    return text[: found.start(1)] + new + text[found.end(1) :]


def _change_word(text: str, random: Random) -> str:
    found, other = _pick(_WORD, text, random), _pick(_WORD, text, random)
    if found is None or other is None:
        return text
    return text[: found.start()] + other[0] + text[found.end() :]


def _pick(pattern: re.Pattern[str], text: str, random: Random) -> re.Match[str] | None:
    return pattern.search(text, _place(text, random)) or pattern.search(text)


def _edit_lines(text: str, random: Random) -> str:
    """Lines swapped, deleted, doubled, moved, or a block of them in another place."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    end = at + random.choice((1, 1, 2, 5, 20))
    block = lines[at:end]
    match random.randrange(5):
        case 0:
            lines[at], lines[to] = lines[to], lines[at]
        case 1:
            del lines[at:end]
        case 2:
            lines[to:to] = block
        case 3:
            del lines[at:end]
            lines[to:to] = block
        case _:
            lines[at] = " " * random.choice((1, 2, 4, 100, 500)) + lines[at]
    return "".join(lines)


def _repeat_block(text: str, random: Random) -> str:
    """A block of the file again and again, alike or each with a number of its own."""
    gap = random.choice(("\n\n", "\n", "\n- ", "  - "))
    blocks = text.split(gap)
    at = random.randrange(len(blocks))
    block = gap.join(blocks[at : at + random.choice((1, 1, 2))]) or "a"
    count = max(2, min(random.choice((3, 50, 1_000, 8_000)), (MOST_CHARACTERS // (len(block) + 8))))
    word = _pick(_WORD, block, random) if random.random() < 0.7 else None
    if word is None:
        copies = [block] * count
    else:
        copies = [f"{block[: word.end()]}{n}{block[word.end() :]}" for n in range(count)]
    return gap.join([*blocks[:at], *copies, *blocks[at:]])


def _truncate(text: str, random: Random) -> str:
    at = _place(text, random)
    return text[:at] if random.random() < 0.8 else text[at:]


def _nest(text: str, random: Random) -> str:
    """A value, a table's name or a marker nested without end."""
    depth = random.choice((20, 90, 300, 1_200, 20_000))
    open_, close = random.choice(
        (("[", "]"), ('{"a":', "}"), ("{ a = ", " }"), ("(", ")"), ("[{", "}]"))
    )
    inner = open_ * depth + random.choice(("1", '"a"', "os_name == 'a'", "")) + close * depth
    if random.random() < 0.25:
        table = random.choice(("options", "metadata", "manifest", "package", "extras", "x", "tool"))
        return f"{text}\n[{table}" + ".a" * depth + "]\nb = 1\n"
    found = _pick(_VALUE, text, random)
    if found is None:
        return text + inner
    if random.random() < 0.3:
        return text[: found.start() + 1] + inner + text[max(found.end() - 1, found.start() + 1) :]
    return text[: found.start()] + inner + text[found.end() :]


def _alias(text: str, random: Random) -> str:
    """YAML's anchors and aliases, a circle or a bomb among them."""
    bomb = "a: &a [x, x]\n" + "".join(
        f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]\n"
        for n in range(random.choice((2, 10, 24, 60)))
    )
    found = _pick(_VALUE, text, random)
    if found is None or random.random() < 0.3:
        return bomb + text
    head = f"{text[: found.start()]}&a {text[found.start() : found.end()]}"
    return head + re.sub(
        r"(?<=: )[^\n]+", "*a", text[found.end() :], count=random.choice((1, 3, 60))
    )


def _circle(text: str, random: Random) -> str:
    """A YAML node that holds itself, or a package that needs itself."""
    lines = text.splitlines(keepends=True)
    at = random.randrange(len(lines)) if lines else 0
    lines[at:at] = random.choice(
        (["  - &c [*c]\n"], ["x: &c {y: *c}\n"], ["- &c\n", "  name: *c\n"])
    )
    return "".join(lines)


def _change_ends(text: str, random: Random) -> str:
    end = random.choice(("\r\n", "\r", "\n\r", "\x85", "\u2028", "\x0b", " \n", "\n\n", "\\\n"))
    return random.choice(("", "\ufeff", "\ufeff\ufeff")) + text.replace("\n", end)


def _splice(text: str, other: str, random: Random) -> str:
    at, start = _place(text, random), _place(other, random)
    return text[:at] + other[start : start + random.choice((20, 300, 5_000))] + text[at:]


def _flip_bytes(content: bytes, random: Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(random.choice((1, 3, 20)) if flipped else 0):
        flipped[random.randrange(len(flipped))] = random.randrange(256)
    return bytes(flipped)


_DAMAGES: Final[tuple[Damage, ...]] = (
    *(_insert_odd, _insert_odd, _insert_run, _insert_run, _change_value, _change_value),
    *(_change_text, _rename, _rename, _change_word, _edit_lines, _edit_lines, _repeat_block),
    *(_truncate, _nest, _alias, _circle, _change_ends),
)
