"""What uv's words mean, without uv; tests/probe/test_sync.py has the same with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from envtrack.errors import ToolMissing
from envtrack.model.verdict import Verdict
from envtrack.uv import find_interpreter, find_uv, is_worth_a_retry, judge_sync_failure
from tests.support.repo import UV

A, U = Verdict.ABORTED, Verdict.UNTESTABLE
# As uv 0.13.9 said them.
SAID = [
    ("lock-stale", U, 1, "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided. To update the lockfile, run `uv lock`."),
    ("lock-missing", U, 1, "error: Unable to find lockfile at `uv.lock`, but `--locked` was provided. To create a lockfile, run `uv lock` or `uv sync` without the flag."),
    ("lock-corrupt", U, 2, "error: Failed to parse `uv.lock`\n  Caused by: TOML parse error at line 1, column 1\n  |\n1 | <<<<<<< HEAD\n  | ^\nkey with no value, expected `=`"),
    ("lock-schema", U, 2, "error: The lockfile at `uv.lock` uses an unsupported schema version (v2, but only v1 is supported). Downgrade to a compatible uv version, or remove the `uv.lock` prior to running `uv lock` or `uv sync`."),
    ("uv-version", U, 2, "error: Required uv version `<0.5` does not match the running version `0.13.9`"),
    ("python-missing", U, 2, "error: No interpreter found for Python >=3.99 in managed installations or search path"),
    ("artifact-gone", U, 2, "  × Failed to download `beta==1.19`\n  ├─▶ Failed to read from the distribution cache\n  ╰─▶ failed to open file `/x/beta-1.19-py3-none-any.whl`: No such file or directory (os error 2)"),
    ("artifact-gone", U, 1, "error: Failed to fetch: `https://files.example/b.whl`\n  Caused by: HTTP status client error (404 Not Found) for url (https://files.example/b.whl)"),
    ("artifact-gone", U, 1, "error: Failed to fetch: `https://files.example/b.whl`\n  Caused by: HTTP status client error (410 Gone) for url (https://files.example/b.whl)"),
    ("hash-mismatch", U, 1, "  × Failed to read `dial==1.0`\n  ╰─▶ Hash mismatch for `dial==1.0`\n\n      Expected:\n        sha256:00\n\n      Computed:\n        sha256:11"),
    ("build-failed", U, 1, "  × Failed to build `lab @ file:///x`\n  ├─▶ The build backend returned an error\n  ╰─▶ Call to `uv_build.build_editable` failed (exit status: 1)"),
    ("network", A, 2, "error: Request failed after 3 retries\n  Caused by: error sending request for url (http://127.0.0.1:9/simple/dial/)\n  Caused by: client error (Connect)\n  Caused by: tcp connect error\n  Caused by: Connection refused (os error 111)"),
    ("network", A, 2, "error: Failed to fetch: `https://registry.example/simple/dial/`\n  Caused by: dns error\n  Caused by: failed to lookup address information: Name or service not known"),
    ("network", A, 1, "  Caused by: operation timed out"),
    ("network", A, 1, "  Caused by: HTTP status server error (503 Service Unavailable) for url (https://registry.example/simple/dial/)"),
    ("network", A, 1, "  Caused by: HTTP status client error (429 Too Many Requests) for url (https://registry.example/simple/dial/)"),
    ("credentials", A, 1, "  Caused by: HTTP status client error (401 Unauthorized) for url (https://registry.example/simple/dial/)"),
    ("credentials", A, 1, "  Caused by: HTTP status client error (403 Forbidden) for url (https://registry.example/simple/dial/)"),
    ("offline", A, 1, "  ╰─▶ Network connectivity is disabled, but the requested data wasn't found in the cache for: `https://files.example/b.whl`"),
    ("disk-full", A, 1, "error: Failed to install: dial-1.0-py3-none-any.whl (dial==1.0)\n  Caused by: failed to copy file: No space left on device (os error 28)"),
    # A build that fails since its own requirements can't be fetched says nothing of the commit.
    ("network", A, 1, "  × Failed to build `lab @ file:///x`\n  ├─▶ Failed to resolve requirements from `build-system.requires`\n  ├─▶ client error (Connect)\n  ╰─▶ tcp connect error"),
    ("disk-full", A, 1, "  × Failed to build `lab @ file:///x`\n  ╰─▶ [Errno 28] No space left on device"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "verdict", "code", "said"), SAID)
def test_what_uv_says_decides_and_not_its_exit_code(
    kind: str, verdict: Verdict, code: int, said: str
) -> None:
    judged = [judge_sync_failure(said, one) for one in (1, 2, code)]
    assert {(one.kind, one.verdict, one.stage) for one in judged} == {(kind, verdict, "sync")}
    assert "\n" not in judged[0].reason
    assert not judged[0].reason.endswith(": ")


def test_only_the_network_and_a_held_cache_are_tried_again() -> None:
    retried = {
        kind for kind, _, code, said in SAID if is_worth_a_retry(judge_sync_failure(said, code))
    }
    assert retried == {"network"}
    assert is_worth_a_retry(
        judge_sync_failure("error: Timeout (300s) when waiting for lock on `/x/.lock`", 2)
    )


def test_words_nobody_knows_are_the_commits_and_are_quoted() -> None:
    judged = judge_sync_failure("Resolved 3 packages\nerror: something new\n", 2)
    assert judged.verdict is U
    assert "something new" in judged.reason


@pytest.mark.parametrize("code", [-9, -15, 126, 127])
def test_a_uv_that_was_killed_or_did_not_start_is_the_rigs_fault(code: int) -> None:
    assert judge_sync_failure("", code).verdict is A


def write_tool(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)
    return folder / name


def test_the_uv_that_is_named_wins_over_the_one_on_path(tmp_path: Path) -> None:
    named = write_tool(tmp_path / "a", "uv", "echo uv 9.9.9")
    other = write_tool(tmp_path / "b", "uv", "echo uv 8.8.8")
    environ = {"PATH": f"{other.parent}:/usr/bin:/bin", "ENVTRACK_UV": str(named)}
    assert find_uv(environ) == named
    assert find_uv({**environ, "ENVTRACK_UV": ""}) == other


def test_without_one_on_path_the_installed_one_is_taken(tmp_path: Path) -> None:
    assert find_uv({"PATH": str(tmp_path)}) == Path(UV)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo uv 0.4.30", "uv 0.4.30 is too old: 0.5 or newer"),
        ("echo nothing", "does not run"),
        ("echo broken >&2; exit 3", "does not run: broken"),
    ],
)
def test_a_uv_that_is_too_old_or_broken_is_named(tmp_path: Path, text: str, said: str) -> None:
    tool = write_tool(tmp_path / "a", "uv", text)
    with pytest.raises(ToolMissing, match=said):
        find_uv({"PATH": "/usr/bin:/bin", "ENVTRACK_UV": str(tool)})


def test_a_uv_that_is_named_and_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match="no-such-uv"):
        find_uv({"PATH": "/usr/bin:/bin", "ENVTRACK_UV": str(tmp_path / "no-such-uv")})


def test_the_interpreter_is_the_one_that_uv_would_take(tmp_path: Path) -> None:
    found = find_interpreter(Path(UV), tmp_path, request="", environ=os.environ)
    assert found is not None
    assert found.markers["sys_platform"] == "linux"
    assert Path(found.path).exists()
    assert find_interpreter(Path(UV), tmp_path, request="3.99", environ=os.environ) is None
