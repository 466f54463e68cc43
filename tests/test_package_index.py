from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from envtrack.errors import RigFailed
from envtrack.package_index import IndexFile, list_releases

PAGE = """<!DOCTYPE html>
<a href="../../files/dial-1.0-py3-none-any.whl#sha256=aa">dial-1.0-py3-none-any.whl</a>
<a href="https://files.example/dial-2.0%2Bcu126-py3-none-any.whl" data-yanked="broken">x</a>
<a href="dial-1.0.tar.gz#md5=bb">dial-1.0.tar.gz</a>
<a href="dial-1.0.exe">dial-1.0.exe</a>
<a href="other-1.0-py3-none-any.whl">other-1.0-py3-none-any.whl</a>
"""
DOCUMENT = {
    "meta": {"api-version": "1.1"},
    "name": "dial",
    "files": [
        {
            "filename": "dial-1.10-py3-none-any.whl",
            "url": "/files/dial-1.10-py3-none-any.whl",
            "hashes": {"sha256": "cc"},
            "size": 12,
            "yanked": False,
        },
        {
            "filename": "dial-1.9-py3-none-any.whl",
            "url": "/files/dial-1.9-py3-none-any.whl",
            "hashes": {},
            "yanked": "a reason",
        },
    ],
}


class Handler(BaseHTTPRequestHandler):
    """An index with one package a form."""

    def do_GET(self) -> None:
        answers = {
            "/html/dial/": ("text/html", PAGE),
            "/json/dial/": ("application/vnd.pypi.simple.v1+json", json.dumps(DOCUMENT)),
            "/flat": ("text/html", PAGE),
            "/odd/dial/": ("application/vnd.pypi.simple.v1+json", "[1]"),
        }
        is_closed = self.path.startswith("/closed/")
        if is_closed and self.headers["Authorization"] == "Basic YWRhOnAvdw==":  # ada:p/w
            self.path = self.path.replace("/closed/", "/html/")
        if self.path not in answers:
            self.send_error(404)
            return
        kind, text = answers[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_page_of_html_is_read(server: str) -> None:
    first, second = list_releases(f"{server}/html", "dial", folder=Path())
    assert first.version == "1.0"
    assert first.files == (
        IndexFile(
            "dial-1.0-py3-none-any.whl",
            f"{server}/files/dial-1.0-py3-none-any.whl",
            hash="sha256:aa",
        ),
        IndexFile("dial-1.0.tar.gz", f"{server}/html/dial/dial-1.0.tar.gz"),
    )
    assert (second.version, second.is_yanked) == ("2.0+cu126", True)


def test_an_answer_in_json_is_read_in_the_order_of_versions(server: str) -> None:
    older, newer = list_releases(f"{server}/json/", "dial", folder=Path())
    assert (older.version, older.is_yanked) == ("1.9", True)
    assert (newer.version, newer.is_yanked) == ("1.10", False)
    assert newer.files == (
        IndexFile(
            "dial-1.10-py3-none-any.whl",
            f"{server}/files/dial-1.10-py3-none-any.whl",
            hash="sha256:cc",
            size=12,
        ),
    )


def test_the_login_in_an_address_is_used(server: str) -> None:
    address = f"{server}/closed".replace("//", "//ada:p%2Fw@")
    first, _ = list_releases(address, "dial", folder=Path())
    assert first.files[0].location == f"{server}/files/dial-1.0-py3-none-any.whl"


def test_a_flat_index_has_one_page_for_all(server: str) -> None:
    releases = list_releases(f"{server}/flat", "other", folder=Path())
    assert [release.version for release in releases] == ["1.0"]


def test_a_folder_with_all_files_is_an_index_too(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for name in ("dial-1.0-py3-none-any.whl", "dial-2.0.tar.gz", "notes.txt"):
        (shelf / name).touch()
    releases = list_releases("shelf", "dial", folder=tmp_path)
    assert [(r.version, r.files[0].location) for r in releases] == [
        ("1.0", "dial-1.0-py3-none-any.whl"),
        ("2.0", "dial-2.0.tar.gz"),
    ]


def test_a_folder_with_a_page_a_package_is_one_too(tmp_path: Path) -> None:
    page = tmp_path / "shelf" / "dial" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text('<a href="dial-1.0-py3-none-any.whl#sha256=aa">dial</a>')
    (release,) = list_releases("shelf", "dial", folder=tmp_path)
    assert release.files == (
        IndexFile("dial-1.0-py3-none-any.whl", "dial/dial-1.0-py3-none-any.whl", hash="sha256:aa"),
    )


@pytest.mark.parametrize("place", ["nowhere", "odd", "html"])
def test_an_index_that_does_not_have_it_is_said_without_its_password(
    server: str, place: str
) -> None:
    name = "lamp" if place == "html" else "dial"
    address = f"{server}/{place}".replace("//", "//ada:secret@")
    with pytest.raises(RigFailed) as caught:
        list_releases(address, name, folder=Path())
    assert "secret" not in str(caught.value)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RigFailed, match="No such file"):
        list_releases("gone", "dial", folder=tmp_path)
