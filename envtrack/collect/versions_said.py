"""What programs of the toolchain say to ``--version``: pure readings of their text.

Each form stands in the tests with where it comes from. Words around the number are the makers' and
the distributions' own and may hold numbers and brackets of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A version stands in the first lines; a program that prints megabytes is not looked through.
_HEAD_CHARACTERS = 8192
_LONGEST_BUILD = 160
_NUMBER = r"\d+(?:\.\d+)+"

_Rows = tuple[tuple[str, re.Pattern[str]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVersion:
    """A tool's version.

    Attributes:
        kind: whose it is: ``gcc``, ``clang``, ``apple-clang``; the tool's name where there is one.
        version: the number: ``12.2.0``.
        build: the maker's words around it, on one line: ``(Debian 12.2.0-14+deb12u1) 12.2.0``.
    """

    kind: str
    version: str
    build: str


def _row(kind: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return kind, re.compile(pattern, re.MULTILINE)


# In this order: Apple's, AMD's and Intel's clang say "clang version" too.
_COMPILERS: _Rows = (
    _row("apple-clang", rf"^(?P<build>Apple (?:clang|LLVM) version (?P<version>{_NUMBER}).*)$"),
    _row("amd-clang", rf"^(?P<build>AMD clang version (?P<version>{_NUMBER}).*)$"),
    _row("icx", rf"^(?P<build>Intel\(R\) oneAPI DPC\+\+/C\+\+ Compiler (?P<version>{_NUMBER}).*)$"),
    _row("icc", rf"^\S+ \((?:ICC|IFORT)\) (?P<build>(?P<version>{_NUMBER}).*)$"),
    _row("nvc", rf"^nvc(?:\+\+)? (?P<build>(?P<version>{_NUMBER}).*)$"),
    _row("clang", rf"^(?P<build>.*\bclang version (?P<version>{_NUMBER}).*)$"),
    # gcc 12.2.0 of Debian: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0". cc, c++, gcc-12 and names with
    # a target before them say the same behind their own name.
    _row("gcc", rf"^\S+ (?P<build>\(.*?\) (?P<version>{_NUMBER}).*)$"),
)
_LINKERS: _Rows = (
    _row("mold", rf"^mold (?P<build>(?P<version>{_NUMBER}).*)$"),
    _row("lld", rf"^(?P<build>.*\bLLD (?P<version>{_NUMBER}).*)$"),
    _row("gold", rf"^GNU gold (?P<build>\(.*?\) (?P<version>{_NUMBER}).*)$"),
    _row("bfd", rf"^GNU ld (?P<build>\(.*?\) (?P<version>{_NUMBER}).*)$"),
    # Red Hat's: "GNU ld version 2.35.2-42.el9".
    _row("bfd", rf"^GNU ld version (?P<build>(?P<version>{_NUMBER}).*)$"),
    _row("apple", rf"PROJECT:(?P<build>(?:ld64|ld|dyld)-(?P<version>{_NUMBER}|\d+).*)$"),
)
_MPI: _Rows = (
    _row("open-mpi", rf"\(Open ?(?:MPI|RTE)\) (?P<build>v?(?P<version>{_NUMBER})\S*)"),
    _row(
        "intel-mpi", r"^Intel\(R\) MPI Library .*?Version (?P<build>(?P<version>\d+(?:\.\d+)*).*)$"
    ),
    _row("spectrum-mpi", rf"IBM Spectrum MPI\D{{0,40}}(?P<build>(?P<version>{_NUMBER})\S*)"),
    _row("mpich", rf"^HYDRA build details:\s+Version:\s+(?P<build>(?P<version>{_NUMBER})\S*)"),
)
_FORMS: dict[str, _Rows] = {
    "cmake": (_row("cmake", rf"^cmake\d? version (?P<build>(?P<version>{_NUMBER})\S*)"),),
    "ninja": (_row("ninja", rf"^(?P<build>(?P<version>{_NUMBER})\S*)$"),),
    "make": (
        _row("gnu", rf"^GNU Make (?P<build>(?P<version>{_NUMBER})\S*)"),
        _row("bmake", r"^bmake (?P<build>(?P<version>\d+).*)$"),
    ),
    "hipcc": (_row("hipcc", rf"^HIP version: (?P<build>(?P<version>{_NUMBER})\S*)"),),
    "ld": _LINKERS,
    "mpirun": _MPI,
    "compiler": _COMPILERS,
}
_NVCC = re.compile(r"release (?P<release>\d+\.\d+)[^\n]{0,40}?\b(?P<build>V\d+(?:\.\d+)+)")


def parse_tool_version(form: str, text: str) -> ToolVersion | None:
    """The version that a text tells; ``None``: it is of no known form.

    Args:
        form: ``compiler``, ``ld``, ``cmake``, ``ninja``, ``make``, ``mpirun``, ``hipcc``.
        text: what was printed.
    """
    head = text[:_HEAD_CHARACTERS]
    for kind, pattern in _FORMS[form]:
        if found := pattern.search(head):
            build = " ".join(found["build"].split())[:_LONGEST_BUILD]
            return ToolVersion(kind=kind, version=found["version"], build=build)
    return None


def parse_nvcc_version(text: str) -> tuple[str, str] | None:
    """Release and build: ``Cuda compilation tools, release 12.4, V12.4.131`` → 12.4, V12.4.131.

    Whatever a script around nvcc prints before it.
    """
    found = _NVCC.search(text[: 8 * _HEAD_CHARACTERS])
    return (found["release"], found["build"]) if found else None
