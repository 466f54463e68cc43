from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envtrack.model.redact import (
    clean_text,
    fingerprint,
    redact_homes,
    redact_text,
    redact_url,
)

CANARY = "c4nary5ecret"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c4nary5ecret-sig"
# A place a line: what tools write there, with the canary where the secret stands.
PLACES = {
    "uv.lock, registry wheel": f"https://registry.example/a-1-py3-none-any.whl?sig={CANARY}&se=2027",
    "uv.lock, direct url": f"https://user:{CANARY}@files.example/a.whl?token={CANARY}",
    "uv.lock, git": f"git+https://oauth2:{CANARY}@git.example/a.git?rev=v1#{'a' * 40}",
    "pylock export": f'archive = {{ url = "https://u:{CANARY}@files.example/a.zip" }}',
    "uv export --emit-index-url": f"--index-url https://__token__:{CANARY}@registry.example/simple",
    "requirements": f"--extra-index-url=https://{CANARY}@registry.example/simple",
    "uv console": f"error: failed to fetch `https://****@files.example/a.whl?token={CANARY}`",
    "direct_url.json": f'{{"url": "https://files.example/a.whl?token={CANARY}"}}',
    "Pipfile.lock": f'"url": "https://u:{CANARY}@registry.example/simple"',
    "conda channel": f"https://conda.example/t/{CANARY}/channel/linux-64",
    "token variable": f"HF_TOKEN={CANARY}",
    "password variable": f"UV_INDEX_INTERNAL_PASSWORD={CANARY}",
    "key variable": f"WANDB_API_KEY={CANARY}",
    "proxy": f"HTTPS_PROXY=user:{CANARY}@proxy.example:3128",
    "git header": f"GIT_CONFIG_VALUE_0=AUTHORIZATION: basic {CANARY}",
    "git remote": f"origin\thttps://user:{CANARY}@git.example/a.git (fetch)",
    "password with every sign": f"https://user:{CANARY}/?#{CANARY}@registry.example/x",
    "password with an at sign": f"https://user:x@{CANARY}#@registry.example/x",
    "password with a quote": f"https://user:x'\"{CANARY}@registry.example/x",
    "broken IPv6": f"https://user:{CANARY}@[::1/simple",
    "path parameter": f"https://registry.example/simple;token={CANARY}/x",
    "query without a name": f"https://registry.example/x?{CANARY}",
    "fragment": f"https://registry.example/x#token={CANARY}",
    "upper case scheme": f"HTTPS://user:{CANARY}@registry.example/",
}
SHAPES = (
    "ghp_0123456789abcdefABCDEF0123456789abcd",
    "github_pat_11ABCDEFG0123456789_abcdefghij",
    "hf_abcdefghijABCDEFGHIJabcdefghij0123",
    "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3",
    "AKIAIOSFODNN7EXAMPLE",
    "glpat-abcdefghijABCDEFGHIJ",
    JWT,
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA",
)
HARMLESS = (
    "2.5.1+cu124",
    "hf_transfer",
    "pypi-attestations",
    "num_memory_tokens=8 max_token=512",
    "uv.lock:47: the version is missing",
    "/srv/app/lib:/usr/lib",
    "git@git.example:group/project.git",
    "ssh://git@git.example/group/project.git",
    f"git+https://git.example/a.git@{'0a' * 20}#subdirectory=python/a",
    f"https://files.example/packages/ab/cd/{'0a' * 30}/a-1.0-py3-none-any.whl#sha256={'0a' * 32}",
    "https://git.example/a.git?rev=v1.0&subdirectory=flash_attn%2Fcute&tag=a&branch=b#egg=a",
    "https://registry.example:8443/simple/",
    "PyTorch 2.5 @ CUDA 12.4",
)


@pytest.mark.parametrize("place", PLACES)
def test_no_place_of_the_table_keeps_its_secret(place: str) -> None:
    assert CANARY not in redact_text(PLACES[place])
    assert CANARY not in redact_url(PLACES[place])


@pytest.mark.parametrize("shape", SHAPES)
def test_known_token_shapes_are_hidden_anywhere(shape: str) -> None:
    assert redact_text(f"said {shape}") == "said ***"


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_left_alone(text: str) -> None:
    assert redact_text(text) == text
    assert redact_url(text) == text


def test_what_identifies_a_source_is_kept() -> None:
    before = "git+https://u:p@git.example/a.git@1234567?rev=v1&x=y#subdirectory=a&egg=b&key=c"
    assert redact_url(before) == (
        "git+https://***@git.example/a.git@1234567?rev=v1&x=***#subdirectory=a&egg=b"
    )


def test_scp_form_keeps_git_and_no_other_login() -> None:
    assert redact_text("git@git.example:a/b.git") == "git@git.example:a/b.git"
    assert redact_text("alice@git.example:a/b.git") == "***@git.example:a/b.git"


def test_path_segments_that_look_like_tokens_are_hidden() -> None:
    for token in ("1nAbCdEfGhIjKlMnOpQr", "0a" * 16, "a1b2c3d4e5f6g7h8"):
        assert redact_url(f"https://registry.example/{token}/x") == "https://registry.example/***/x"


@given(st.text())
@example("https://[")
@example("a://@a://@")
@example("\ud800://x:y@z")
def test_redacting_never_raises_and_twice_is_once(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
    url = redact_url(text)
    assert redact_url(url) == url


@given(st.text(alphabet="ab1:/?#@[];=&%.~-_'\" thgp", max_size=60))
def test_twice_is_once_for_text_made_of_separators(text: str) -> None:
    for part in (text, f"https://{text}", f"x git+ssh://{text} y"):
        once = redact_text(part)
        assert redact_text(once) == once
        assert redact_url(redact_url(part)) == redact_url(part)


@given(
    st.text(alphabet=st.characters(exclude_characters=" /", exclude_categories=["Z", "C"])),
    st.sampled_from(["https", "git+ssh", "s3"]),
)
def test_a_password_of_any_signs_is_hidden(noise: str, scheme: str) -> None:
    url = f"{scheme}://user:{CANARY}{noise}@registry.example/simple"
    assert CANARY not in redact_url(url)
    assert CANARY not in redact_text(f"fetching {url} failed")


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz .,\n"))
def test_prose_is_left_alone(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "piece", ["a", "a:", ",a:", "a@", "pypi-", "-eyJ", "https://u:p@h ", "://"]
)
def test_a_long_line_does_not_cost_its_length_squared(piece: str) -> None:
    started = time.perf_counter()
    redact_text(piece * (60_000 // len(piece)))
    assert time.perf_counter() - started < 5


def test_homes_lose_their_names() -> None:
    text = r"/home/alice/x C:\Users\Alice\y /nfs/home/bob:/Users/eve"
    assert redact_homes(text) == r"/home/***/x C:\Users\***\y /nfs/home/***:/Users/***"
    assert redact_homes(redact_homes(text)) == redact_homes(text)


def test_a_fingerprint_depends_on_value_and_key_and_says_little() -> None:
    assert fingerprint("a", "k") == fingerprint("a", "k")
    assert fingerprint("a", "k") != fingerprint("b", "k")
    assert fingerprint("a", "k") != fingerprint("a", "l")
    assert len(fingerprint("\udcff\ud800", "\ud800")) == 4


@given(st.binary())
def test_bytes_that_are_no_text_can_be_written(raw: bytes) -> None:
    clean_text(raw.decode("utf-8", "surrogateescape")).encode("utf-8")


def test_bytes_that_are_no_text_are_shown() -> None:
    assert clean_text("a\udcffé") == "a\\xffé"
    assert clean_text("\ud800") == "\\ud800"
