from __future__ import annotations

import codecs
import tracemalloc

import pytest

from envtrack.triage.prefixes import strip_prefixes
from envtrack.triage.text import LONGEST, Segment, clean, is_binary, read_segments
from tests.triage.corpus import read, root_of, shipped

MISSING = "ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory"


def segments(raw: bytes, size: int = 7) -> list[tuple[int, bytes]]:
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    return [(one.number, one.raw) for one in read_segments(pieces)]


def test_lines_are_counted_as_editors_count_them_whatever_the_pieces() -> None:
    assert segments(b"one\r\ntwo\n\nfour") == [(1, b"one"), (2, b"two"), (3, b""), (4, b"four")]


def test_a_progress_bar_gives_segments_of_one_line() -> None:
    assert segments(b"10%|#\r20%|##\rdone\nnext\n") == [
        (1, b"10%|#"),
        (1, b"20%|##"),
        (1, b"done"),
        (2, b"next"),
    ]


def test_a_line_without_an_end_is_cut_and_the_next_one_has_its_number() -> None:
    read_lines = segments(b"x" * (3 * LONGEST) + b"\nafter", size=4096)
    assert read_lines[0][0] == 1
    assert len(read_lines[0][1]) == LONGEST
    assert read_lines[1:] == [(2, b"after")]


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_what_powershell_redirects_is_read(mark: bytes) -> None:
    order = "le" if mark == codecs.BOM_UTF16_LE else "be"
    raw = mark + f"first\r\n{MISSING}\r\n".encode(f"utf-16-{order}")
    assert [number for number, _ in segments(raw, size=3)] == [1, 2]
    assert root_of(raw) == ("cuda-runtime", "library-of-cuda", 2)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m \x1b]8;;https://x\x07link", "red link"),
        (b"[0;31mModuleNotFoundError[0m: No module", "ModuleNotFoundError: No module"),
        (b'    "\\u001b[0;31mKeyError\\u001b[0m: 1\\n",', "KeyError: 1"),
        (b"a\x00b\x07c", "abc"),
        (b"caf\xe9 in latin-1", "caf\\xe9 in latin-1"),
        (b"tensor[0] = w[12;4m]", "tensor[0] = w[12;4m]"),
    ],
)
def test_what_only_a_terminal_understands_is_taken_away(raw: bytes, shown: str) -> None:
    assert clean(Segment(1, raw)).shown == shown


def test_what_follows_a_progress_bar_on_its_line_is_kept() -> None:
    raw = b"Epoch 0:  6%|##  | 3/50 [6:28<94:39, 1.3it/s, loss=2.6][E ProcessGroupNCCL.cpp:458] [Rank 0] x"
    assert clean(Segment(1, raw)).text == "[Rank 0] x"


def test_a_dump_is_no_text() -> None:
    assert is_binary(bytes(range(32)) * 8)
    assert not is_binary("ImportError: é 中文 → tab\t".encode())
    assert not is_binary(b"")


@pytest.mark.parametrize(
    ("line", "text", "stream"),
    [
        ("2024-05-01T12:00:00.123Z KeyError: 1", "KeyError: 1", ""),
        ("[2024-05-01 12:00:00,123] [ERROR] x", "x", ""),
        ("May  1 12:00:00 gpu01 kernel: [123.456789] NVRM: Xid", "NVRM: Xid", ""),
        ("[Sun Jul 28 09:15:27 2024] NVRM: Xid", "NVRM: Xid", ""),
        ("[rank3]:     raise KeyError", "    raise KeyError", "rank3"),
        (
            "[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] x",
            "[Rank 0] x",
            "rank0",
        ),
        ("[default7]:  File x", " File x", "rank7"),
        ("3:   File x", "  File x", "rank3"),
        ("[1,5]<stderr>:Traceback", "Traceback", "rank5"),
        ("(Worker pid=12, ip=10.0.0.1)   File x", "  File x", "Worker pid=12, ip=10.0.0.1"),
        (
            "(EngineCore_0 pid=7) ERROR 05-23 09:31:47 [core.py:396]   File x",
            "  File x",
            "EngineCore_0 pid=7",
        ),
        ("E0512 11:22:33.123456  4242 cuda_dnn.cc:535] Could not", "Could not", ""),
        ("trainer-1  | Traceback", "Traceback", "trainer-1"),
        ("#12 3.456 ERROR: x", "ERROR: x", ""),
        ("plain words", "plain words", ""),
        ("  indented stays", "  indented stays", ""),
    ],
)
def test_prefixes_are_taken_off_and_say_who_wrote(line: str, text: str, stream: str) -> None:
    assert strip_prefixes(line)[:2] == (text, stream)


@pytest.mark.parametrize(
    ("line", "is_warning"),
    [
        ("2024-05-01 12:00:00 WARNING something", True),
        ("W0512 11:22:33.123456  4242 dso_loader.cc:64] Could not load", True),
        ("/x/torch/cuda/__init__.py:118: UserWarning: CUDA initialization: x", True),
        ("2024-05-01 12:00:00 ERROR something", False),
        ("E0512 11:22:33.123456  4242 dso_loader.cc:64] Could not load", False),
    ],
)
def test_what_is_no_error_is_told_by_its_prefix(line: str, *, is_warning: bool) -> None:
    assert strip_prefixes(line)[2] is is_warning


def test_memory_does_not_grow_with_the_log() -> None:
    from envtrack.triage.root import triage_log

    book = shipped()

    def chunks(count: int) -> list[bytes]:
        line = b"ValueError: number %d is odd\n" + b"x" * 50 + b"\n"
        return [b"".join(line % (at * 100 + n) for n in range(100)) for at in range(count)]

    def peak(count: int) -> int:
        pieces = chunks(count)
        book._memory.clear()
        tracemalloc.start()
        triage_log(pieces, book, source="log")
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(5)
    # Ten times the log; what is kept of it is bounded.
    assert peak(400) < 2 * peak(40)


def test_an_empty_log_and_one_without_errors_have_no_root() -> None:
    assert read("").root is None
    assert read("epoch 1 loss 0.5\nepoch 2 loss 0.4\n").root is None
    assert read("epoch 1\nepoch 2\n").lines == 2
