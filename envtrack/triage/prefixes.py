"""What loggers, launchers and schedulers write before each line of a program's own words."""

from __future__ import annotations

import re
from typing import Final

_DATE = r"\d{4}[-/.]\d{2}[-/.]\d{2}"
_TIME = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_LEVELS = r"DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|SEVERE|TRACE"

# One blank is taken along at most, so that a traceback keeps its own indentation.
_PREFIXES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # ISO times, with or without brackets: loggers, docker logs -t, journalctl -o short-iso
        rf"\[?{_DATE}[T _]{_TIME}(?:Z|[+-]\d{{2}}:?\d{{2}})?\]?(?: UTC)?:? ?",
        rf"\[?\d{{2}}[-/]\d{{2}}(?:[-/]\d{{2,4}})? {_TIME}\]? ?",
        rf"\[{_TIME}\] ?|{_TIME}(?= )[ ]",
        # syslog and journalctl: month, day, time, host, program
        rf"[A-Z][a-z]{{2}} [ \d]\d {_TIME} [\w.-]+ (?=[\w/.-]+(?:\[\d+\])?:)",
        r"kernel: ?(?=\[|NVRM|nvidia|Out|oom|BUG|Memory)",
        # dmesg, with seconds or with dates
        r"(?:<\d>)?\[ *\d{1,9}\.\d{3,9}\] ?",
        rf"\[[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} [ \d]\d {_TIME} \d{{4}}\] ?",
        # glog, and the bracketed form of it that c10d uses
        rf"(?P<glog>[IWEF])\d{{4}} {_TIME}\s+\d+ [\w./-]{{1,80}}:\d+\] ?",
        rf"\[(?P<c10d>[IWEF])\d{{0,4}}(?: {_TIME})?(?: +\d+)? [\w./-]{{1,80}}:\d+\] ?",
        # Python's logging, in its common arrangements
        rf"(?P<level>{_LEVELS}) \d\d-\d\d {_TIME} \[?[\w./-]{{1,80}}:\d+\] ?",
        rf"\[(?P<bracketed>{_LEVELS})\] ?",
        rf"(?:- )?[\w.-]{{1,60}} - (?P<dashed>{_LEVELS}) - ?",
        rf"\|? ?(?P<piped>{_LEVELS})\s{{1,4}}\| ?[\w.:<>-]{{0,80}} ?-? ?",
        # ranks: torch, torchrun --tee, srun --label, mpirun --tag-output
        r"\[(?P<rank>rank ?\d{1,5})\](?::|) ?",
        r"\[(?P<default>default\d{1,5})\]: ?",
        r"\[\d+,(?P<mpi>\d{1,5})\]<std(?:err|out)>: ?",
        r"(?P<label>\d{1,4}): (?=\s|[A-Za-z\[+|(])",
        # Ray, vLLM
        r"\((?P<actor>[\w.:-]{0,60} ?pid=\d+(?:, ip=[\d.]{7,15})?)\) ?",
        # docker compose, kubectl --prefix, BuildKit, GitHub Actions
        r"(?P<service>[\w.-]{1,60}[-_]\d{1,3}) +\| ",
        r"\[pod/(?P<pod>[\w./-]{1,120})\] ?",
        r"#\d{1,4} \d{1,6}\.\d{1,3} ",
        r"##\[(?:error|warning|group|debug)\]",
        r"\[?std(?:err|out)\]?(?: [FP])?:? ?",
        # boxes: rich, exception groups, nested output of pip
        r" {0,8}[│┃|](?: |(?=$))",
        r"E  (?= )",
    )
)
_WARNINGS: Final = frozenset({"W", "I", "INFO", "WARN", "WARNING", "DEBUG", "NOTICE", "TRACE"})
_STREAMS: Final = ("rank", "default", "mpi", "label", "actor", "service", "pod")
_LEVEL_GROUPS: Final = ("glog", "c10d", "level", "bracketed", "dashed", "piped")
_NAMED_LEVEL: Final = re.compile(rf"(?P<level>{_LEVELS})\b ?[:|-]? ?(?=\S)")
_SAID_WARNING: Final = re.compile(
    r"\b(?:User|Runtime|Deprecation|Future|Import|Resource|Python)?Warning: "
    r"|^\s*(?:warning|warn|note|hint|info)\b ?:"
    r"|^\s*WARNING\b|^\s*\[?W(?:ARN)?\]? |warnings\.warn\(",
    re.IGNORECASE,
)
_ROUNDS: Final = 8


def strip_prefixes(text: str) -> tuple[str, str, bool]:
    """A line without its prefixes.

    Returns:
        The rest with its indentation; the process that wrote it, as far as a prefix says so; and
        whether it is said to be a warning or less.
    """
    stream, level, has_prefix = "", "", False
    for _ in range(_ROUNDS):
        found = next((m for p in _PREFIXES if (m := p.match(text)) and m.end()), None)
        if found is None:
            break
        groups = found.groupdict()
        stream = stream or _say_stream(groups)
        level = level or next((groups[g] for g in _LEVEL_GROUPS if groups.get(g)), "")
        text, has_prefix = text[found.end() :], True
    if has_prefix and not level and (named := _NAMED_LEVEL.match(text)):
        level = named["level"]
    return text, stream, level in _WARNINGS or bool(_SAID_WARNING.search(text[:400]))


def _say_stream(groups: dict[str, str | None]) -> str:
    for name in _STREAMS:
        value = groups.get(name)
        if value:
            return value if name in {"rank", "actor", "service", "pod"} else f"rank{_digits(value)}"
    return ""


def _digits(value: str) -> str:
    return value.removeprefix("default")
