"""Real uv, failing in all the ways that need no network."""

from __future__ import annotations

import hashlib
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from envtrack.errors import RigFailed
from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from tests.support.history import (
    History,
    Script,
    judge,
    lock_text,
    open_bench,
    project_text,
    read_log,
)
from tests.support.tiny import tiny_disk
from tests.support.wheels import write_wheel

G, U = Verdict.GOOD, Verdict.UNTESTABLE
BUILD = '[build-system]\nrequires = ["uv_build>=0.8,<1"]\nbuild-backend = "uv_build"\n'


def _history() -> Script:
    old = 'requires-python = ">=3.11"'
    never = 'requires-python = ">=3.99"'
    packaged = project_text("1.0").replace("package = false", "package = true")
    hashed = '{ path = "dial-1.0-py3-none-any.whl", hash = "sha256:' + "0" * 64 + '" }'
    faults: dict[str, dict[str, str | None]] = {
        "lock-stale": {"pyproject.toml": project_text("1.1")},
        "lock-missing": {"uv.lock": None},
        "lock-corrupt": {"uv.lock": "<<<<<<< HEAD\n" + lock_text("1.0")},
        "lock-schema": {"uv.lock": lock_text("1.0").replace("version = 1\n", "version = 2\n")},
        "uv-version": {
            "pyproject.toml": project_text("1.0").replace(
                "[tool.uv]", '[tool.uv]\nrequired-version = "<0.5"'
            )
        },
        "python-missing": {
            "pyproject.toml": project_text("1.0").replace(old, never),
            "uv.lock": lock_text("1.0").replace(old, never),
        },
        "artifact-gone": {"index/dial-1.0-py3-none-any.whl": None},
        "hash-mismatch": {
            "uv.lock": lock_text("1.0").replace('{ path = "dial-1.0-py3-none-any.whl" }', hashed)
        },
        "build-failed": {
            "pyproject.toml": packaged + BUILD,
            "uv.lock": lock_text("1.0").replace('virtual = "."', 'editable = "."'),
        },
        "project-broken": {"pyproject.toml": "[project\n"},
    }
    script = Script().add("good", "1.0")
    for name, files in faults.items():
        script.add(name, files={**files, "steps": name}, parents=("good",))
    return script.add("last", "1.0", parents=("good",))


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return _history().build(tmp_path_factory.mktemp("sync") / "repo")


def test_every_way_to_fail_is_the_commits_and_says_why(history: History) -> None:
    kinds = [name for name in history.oids if name not in {"good", "last"}]
    with open_bench(history.repo, history["good"], bad="main") as rig:
        found = {name: judge(rig, history[name]) for name in kinds}
        assert {name: one.kind for name, one in found.items()} == {name: name for name in kinds}
        assert {one.verdict for one in found.values()} == {U}
        assert "uv.lock:1" in found["lock-corrupt"].reason
        assert judge(rig, history["last"]).verdict is G
        assert "+ dial==1.0" in read_log(rig, "sync.log")


class Registry(http.server.BaseHTTPRequestHandler):
    """An index whose files answer with a status that a test chooses, until it is used up."""

    statuses: list[int] = []  # noqa: RUF012 - the class is made anew for every server
    asked: list[str] = []  # noqa: RUF012
    wheel: bytes = b""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status = self.statuses.pop(0) if self.statuses else 200
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "Basic")
        self.send_header("Content-Length", str(len(self.wheel) if status == 200 else 0))
        self.end_headers()
        if status == 200:
            self.wfile.write(self.wheel)

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, type[Registry]]]:
    wheel = write_wheel(tmp_path_factory.mktemp("wheel"), "dial", "1.0")
    handler = type(
        "Handler", (Registry,), {"statuses": [], "asked": [], "wheel": wheel.read_bytes()}
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port, handler
        server.shutdown()
        thread.join()


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("UV_OFFLINE")
    # uv tries again itself, with pauses of its own.
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return monkeypatch


def over_http(port: int, wheel: bytes) -> History | Script:
    index = f"http://127.0.0.1:{port}/simple"
    entry = (
        f'{{ url = "http://127.0.0.1:{port}/dial-1.0-py3-none-any.whl", '
        f'hash = "sha256:{hashlib.sha256(wheel).hexdigest()}", size = {len(wheel)} }}'
    )
    files = {
        "pyproject.toml": project_text("1.0")
        .replace('url = "index"', f'url = "{index}"')
        .replace('format = "flat"\n', ""),
        "uv.lock": lock_text("1.0")
        .replace('registry = "index"', f'registry = "{index}"')
        .replace('{ path = "dial-1.0-py3-none-any.whl" }', entry),
        "code": "0\n",
    }
    return (
        Script().add("good", files=files).add("one", code=0).add("two", code=0).add("last", code=0)
    )


SMOKE = "python -c 'import dial'"


def test_an_index_that_fails_is_no_verdict_and_one_that_lost_a_file_is(
    tmp_path: Path, registry: tuple[int, type[Registry]], online: pytest.MonkeyPatch
) -> None:
    port, handler = registry
    script = over_http(port, handler.wheel)
    assert isinstance(script, Script)
    history = script.build(tmp_path / "repo")
    with open_bench(history.repo, history["good"], smoke=SMOKE) as rig:
        for status, said in (
            (503, "did not answer"),
            (429, "did not answer"),
            (401, "credentials"),
        ):
            handler.statuses[:] = [status] * 9
            with pytest.raises(RigFailed, match=said):
                rig.probe(Oid(history["one"]))
            assert rig.store.find_known(rig.plan.id, Oid(history["one"])) is None
        for name, status in (("one", 404), ("two", 410)):
            handler.statuses[:] = [status] * 9
            assert judge(rig, history[name]).kind == "artifact-gone"
        handler.statuses.clear()
        assert judge(rig, history["last"]).verdict is G


def test_a_fault_that_passes_is_tried_again(
    tmp_path: Path, registry: tuple[int, type[Registry]], online: pytest.MonkeyPatch
) -> None:
    port, handler = registry
    script = over_http(port, handler.wheel)
    assert isinstance(script, Script)
    history = script.build(tmp_path / "repo")
    online.setenv("UV_CACHE_DIR", str(tmp_path / "cold"))
    handler.statuses[:] = [503]
    with open_bench(history.repo, history["good"], smoke=SMOKE, retries=1) as rig:
        assert judge(rig, history["one"]).verdict is G
        assert "503" in read_log(rig, "sync.1.log")


def test_a_network_that_is_down_is_no_verdict(tmp_path: Path, online: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = over_http(port, b"")
    assert isinstance(script, Script)
    history = script.build(tmp_path / "repo")
    online.setenv("UV_CACHE_DIR", str(tmp_path / "cold"))
    with open_bench(history.repo, history["good"], smoke=SMOKE) as rig:
        with pytest.raises(
            RigFailed, match=r"nothing is concluded about it: the network"
        ) as caught:
            rig.probe(Oid(history["one"]))
        assert caught.value.exit_code == 4
        online.setenv("UV_OFFLINE", "1")
    with (
        open_bench(history.repo, history["good"], smoke=SMOKE) as rig,
        pytest.raises(RigFailed, match="uv is offline and lacks a file"),
    ):
        rig.probe(Oid(history["one"]))


def test_a_full_disk_is_no_verdict(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tiny_disk(tmp_path / "disk", kib=16) as disk:
        monkeypatch.setenv("UV_CACHE_DIR", str(disk))
        with (
            open_bench(history.repo, history["good"]) as rig,
            pytest.raises(RigFailed, match="the disk is full"),
        ):
            rig.probe(Oid(history["last"]))
