"""uv as a tool: where it is, which interpreter it would take, and what its failures mean.

uv's exit codes decide nothing: a stale lockfile, a missing one, an unreachable index and a full
disk all end in 1 or 2 (seen with uv 0.13.9). So what it printed is read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envtrack.errors import CommandFailed, CommandTimedOut, RigFailed, ToolMissing
from envtrack.model.interpreter import Interpreter
from envtrack.model.verdict import Judgement, Verdict
from envtrack.process import run

# `uv sync --no-editable/--reinstall-package` and lockfile revisions as they are used here.
_OLDEST_UV = (0, 5)
_SHORT_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class _Sign:
    """One way in which uv says why it failed."""

    kind: str
    verdict: Verdict
    pattern: re.Pattern[str]
    reason: str


def _sign(kind: str, verdict: Verdict, pattern: str, reason: str) -> _Sign:
    return _Sign(kind, verdict, re.compile(pattern, re.IGNORECASE), reason)


_A, _U = Verdict.ABORTED, Verdict.UNTESTABLE
# Read from the top: faults of the rig come first, since they can hide behind any other message
# (a build that fails because its own requirements can't be fetched). Messages: uv 0.13.9 seen;
# git's and curl's own words for a server that does not answer.
_SIGNS = (
    _sign("disk-full", _A, r"no space left on device|disk quota exceeded", "the disk is full"),
    _sign("read-only", _A, r"read-only file system", "a file system is read-only"),
    _sign("offline", _A, r"network connectivity is disabled", "uv is offline and lacks a file"),
    _sign(
        "credentials",
        _A,
        r"HTTP status client error \((401|403|407)|status code 40[137]\b|authentication failed"
        r"|could not read username|missing credentials",
        "the index or repository asks for credentials",
    ),
    _sign("tls", _A, r"invalid peer certificate|certificate verify failed", "TLS failed"),
    _sign(
        "network",
        _A,
        r"client error \(connect\)|client error \(sendrequest\)|tcp connect error|dns error"
        r"|operation timed out|connection (reset|refused|closed)|error sending request"
        r"|could not resolve host|failed to connect to|connection timed out|network is unreachable"
        r"|HTTP status (server error \(5\d\d|client error \((408|425|429))|status code (5\d\d|429)"
        r"|request timed out|timed out while|early eof|remote end hung up|broken pipe \(os error",
        "the network or the index did not answer",
    ),
    _sign(
        "cache-locked",
        _A,
        r"timeout \(\d+s?\) when waiting for lock|could not acquire lock|failed to acquire .*lock",
        "another uv holds the cache",
    ),
    _sign("permission", _A, r"permission denied \(os error 13\)", "a folder can't be written"),
    _sign(
        "lock-stale",
        _U,
        r"needs to be updated, but `?--(locked|check)`?",
        "the lockfile does not match its pyproject.toml (stale)",
    ),
    _sign("lock-missing", _U, r"unable to find lockfile", "there is no lockfile"),
    _sign("lock-schema", _U, r"unsupported schema version", "the lockfile's schema is newer"),
    _sign("lock-corrupt", _U, r"failed to parse `?[^`\n]*uv\.lock", "the lockfile can't be read"),
    _sign("uv-version", _U, r"required uv version", "the project asks for another uv"),
    _sign(
        "python-missing",
        _U,
        r"no (interpreter|virtual environment or system python) found|no python .*found"
        r"|error: failed to inspect python interpreter"
        r"|python (interpreter|executable) not found|no download found for request",
        "the Python it asks for is not on this machine",
    ),
    _sign(
        "python-conflict",
        _U,
        r"incompatible with the project's python requirement|does not satisfy .*requires-python"
        r"|python requirement.*incompatible",
        "the Python in use is not one the project accepts",
    ),
    _sign(
        "project-broken",
        _U,
        r"failed to parse:? `?[^`\n]*pyproject\.toml|no `?pyproject\.toml`? found"
        r"|(extra|group) `[^`]*` is not defined|workspace member .* (missing|not found)",
        "its pyproject.toml can't be used",
    ),
    _sign("hash-mismatch", _U, r"hash mismatch", "a file is not the one that was locked"),
    _sign(
        "no-wheel",
        _U,
        r"doesn't have a source distribution or wheel|no (compatible|matching) wheel"
        r"|has no usable wheels|can't be installed because it (is|does)",
        "a package has no file for this machine",
    ),
    _sign(
        "artifact-gone",
        _U,
        r"HTTP status client error \((404|410)|status code (404|410)|distribution not found at"
        r"|failed to (download|fetch|read|extract)[^\n]*(\n[^\n]*){0,6}no such file or directory",
        "a locked file is gone",
    ),
    _sign(
        "commit-gone",
        _U,
        r"couldn't find remote ref|not our ref|reference is not a tree|unadvertised object"
        r"|failed to (find|fetch) (branch|tag|commit)|git operation failed",
        "a locked git commit can't be fetched",
    ),
    _sign(
        "build-failed",
        _U,
        r"failed to build|build backend (failed|returned)|call to `[^`]*build[^`]*` failed",
        "a package can't be built",
    ),
)

_RETRIED = frozenset({"network", "cache-locked"})


def judge_sync_failure(output: str, code: int) -> Judgement:
    """What a failed ``uv sync`` means for the commit.

    Args:
        output: what it printed, both pipes.
        code: its exit code; negative for a signal.
    """
    if code < 0:
        return Judgement(
            verdict=Verdict.ABORTED,
            stage="sync",
            reason=f"uv was killed by signal {-code}",
            kind="signal",
            exit_code=code,
        )
    if code in (126, 127):  # sh's codes for a command that can't be run
        return Judgement(
            verdict=Verdict.ABORTED,
            stage="sync",
            reason="uv can't be run",
            kind="command-missing",
            exit_code=code,
        )
    for sign in _SIGNS:
        if found := sign.pattern.search(output):
            said = _line_around(output, found.start())
            reason = f"{sign.reason}: {said}" if said else sign.reason
            return Judgement(
                verdict=sign.verdict, stage="sync", reason=reason, kind=sign.kind, exit_code=code
            )
    said = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    return Judgement(
        verdict=Verdict.UNTESTABLE,
        stage="sync",
        reason=f"uv sync ended with {code}: {said or 'no output'}",
        kind="sync-failed",
        exit_code=code,
    )


def is_worth_a_retry(judgement: Judgement) -> bool:
    """Whether the same command may well succeed a moment later."""
    return judgement.kind in _RETRIED


def _line_around(output: str, position: int) -> str:
    start = output.rfind("\n", 0, position) + 1
    end = output.find("\n", position)
    line = output[start : end if end >= 0 else None].strip()
    return re.sub(r"^(error:|× |╰─▶ |├─▶ |Caused by: )+\s*", "", line)[:200]


def find_uv(environ: Mapping[str, str]) -> Path:
    """The uv to use: ``ENVTRACK_UV``, else the one on PATH, else the one installed with envtrack.

    Raises:
        ToolMissing: there is none, or it is too old.
    """
    candidate = environ.get("ENVTRACK_UV") or shutil.which("uv", path=environ.get("PATH"))
    if candidate is None:
        candidate = _find_bundled()
    if candidate is None:
        raise ToolMissing(
            "uv is not to be found on PATH", hint="`pip install uv` in envtrack's environment"
        )
    _require_version(candidate, environ)
    return Path(candidate).absolute()


def _find_bundled() -> str | None:
    try:
        from uv import find_uv_bin
    except ImportError:
        return None
    try:
        return os.fsdecode(find_uv_bin())
    except FileNotFoundError:
        return None


def _require_version(candidate: str, environ: Mapping[str, str]) -> None:
    said = run((candidate, "--version"), timeout_s=_SHORT_TIMEOUT_S, env=environ, check=False)
    numbers = re.search(r"(\d+)\.(\d+)", said.text)
    if said.code != 0 or numbers is None:
        raise ToolMissing(f"`{candidate}` does not run: {said.error_text.strip() or said.code}")
    if (int(numbers[1]), int(numbers[2])) < _OLDEST_UV:
        wanted = ".".join(map(str, _OLDEST_UV))
        raise ToolMissing(
            f"{said.text.strip()} is too old: {wanted} or newer is needed",
            hint="`uv self update`, or `pip install --upgrade uv`",
        )


_MARKERS_PROGRAM = """
import json, os, platform, sys
v = sys.implementation.version
kind = "" if v.releaselevel == "final" else v.releaselevel[0] + str(v.serial)
print(json.dumps({
    "implementation_name": sys.implementation.name,
    "implementation_version": f"{v.major}.{v.minor}.{v.micro}{kind}",
    "os_name": os.name,
    "platform_machine": platform.machine(),
    "platform_python_implementation": platform.python_implementation(),
    "platform_release": platform.release(),
    "platform_system": platform.system(),
    "platform_version": platform.version(),
    "python_full_version": platform.python_version(),
    "python_version": ".".join(platform.python_version_tuple()[:2]),
    "sys_platform": sys.platform,
}))
"""


def find_interpreter(
    uv: Path, project: Path, *, request: str, environ: Mapping[str, str]
) -> Interpreter | None:
    """The interpreter ``uv sync`` would take in a project; ``None`` if it would find none.

    Args:
        uv: uv's executable.
        project: the project's folder; its ``.python-version`` and ``requires-python`` count.
        request: ``--python``; empty: what the project says.
        environ: the environment uv will run in.
    """
    command = [str(uv), "python", "find", "--system", "--no-progress", *([request] * bool(request))]
    try:
        found = run(command, timeout_s=_SHORT_TIMEOUT_S, env=environ, cwd=project, check=False)
        if found.code != 0:
            return None
        said = run(
            (found.line, "-I", "-c", _MARKERS_PROGRAM), timeout_s=_SHORT_TIMEOUT_S, env=environ
        )
        return Interpreter(path=found.line, markers=json.loads(said.text))
    except (CommandFailed, CommandTimedOut, RigFailed, json.JSONDecodeError):
        return None
