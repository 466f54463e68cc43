"""What PyTorch's libraries say of how they were compiled, read without loading them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.elf import Section, find_section, read_chunks
from envtrack.collect.reading import error_reason, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# torch.cuda.get_arch_list() gives the words of a string that is compiled into libtorch_python
# (CUDA_ARCH_FLAGS in torch/csrc/cuda/Module.cpp). Checked on the wheels of 2.4.1 and 2.13.0: it is
# the only string of several such words, within the first megabyte of .rodata.
_ARCH = rb"(?:(?:sm|compute)_\d{2,3}[af]?|gfx[0-9a-f]{3,4})"
_ARCHS = re.compile(_ARCH + rb"(?:[ ;]" + _ARCH + rb")*[ ;]?(?=\0)")
# Found by these first: an expression that begins with a choice is tried at every byte.
_BEGINNINGS = (b"\0sm_", b"\0compute_", b"\0gfx")
_OVERLAP = 1024
_RODATA_LIMIT_BYTES = 32 * 1024 * 1024
# The mangled names of c10's functions that take a std::string tell its ABI.
_NEW_STRING = re.compile(rb"_ZNK?3c10[^\0]{0,400}__cxx11")
_OLD_STRING = re.compile(rb"_ZN3c105ErrorC[12][^\0]{0,400}S[sS]")
_NAMES_LIMIT_BYTES = 8 * 1024 * 1024
_CXX_FLAGS = re.compile(r"_GLIBCXX_USE_CXX11_ABI=(?P<value>[01])")
_CUDNN = re.compile(r"libcudnn(?:-[0-9a-f]+)?\.so\.(?P<version>\d+(?:\.\d+)*)")
_ONLY_DEEP = "not in its files: only --deep can tell"


def read_architectures(package: Path) -> FactState:
    """``sm_80 sm_90 compute_90``: for which GPUs it holds code, in its own order.

    Cost: mostly one megabyte of one file.
    """
    section = find_section(package / "lib/libtorch_python.so", ".rodata")
    if not isinstance(section, Section):
        return Unknown(_ONLY_DEEP)
    single = set()
    try:
        for found in _find_strings(section):
            words = re.split(r"[ ;]", found.decode("ascii").strip(" ;"))
            if len(words) > 1:
                return Known(" ".join(words))
            single.add(words[0])
    except OSError as error:
        return Unknown(error_reason(error))
    # A build for one GPU: but a lone word may also be some other string.
    return Known(single.pop()) if len(single) == 1 else Unknown(_ONLY_DEEP)


def read_cxx11_abi(package: Path) -> FactState:
    """Whether its functions take the ``std::string`` of GCC 5 and later.

    By ``TorchConfig.cmake`` as far as it says so (until 2.6), else by names in ``libc10.so``.
    """
    config = read_text(package / "share/cmake/Torch/TorchConfig.cmake")
    if isinstance(config, str) and (found := _CXX_FLAGS.search(config)):
        return Known(found["value"] == "1")
    section = find_section(package / "lib/libc10.so", ".dynstr")
    if not isinstance(section, Section):
        return Unknown(_ONLY_DEEP)
    is_old = False
    try:
        for chunk in read_chunks(section, overlap=_OVERLAP, limit_bytes=_NAMES_LIMIT_BYTES):
            if _NEW_STRING.search(chunk):
                return Known(value=True)
            is_old = is_old or _OLD_STRING.search(chunk) is not None
    except OSError as error:
        return Unknown(error_reason(error))
    return Known(value=False) if is_old else Unknown(_ONLY_DEEP)


def find_bundled_cudnn(package: Path) -> FactState:
    """``8``: the version in the name of the cuDNN that stands among its own libraries."""
    try:
        names = sorted(path.name for path in (package / "lib").iterdir())
    except OSError:
        names = []
    versions = [found["version"] for name in names if (found := _CUDNN.fullmatch(name))]
    return Known(max(versions, key=len)) if versions else Absent()


def _find_strings(section: Section) -> Iterator[bytes]:
    for chunk in read_chunks(section, overlap=_OVERLAP, limit_bytes=_RODATA_LIMIT_BYTES):
        for beginning in _BEGINNINGS:
            position = chunk.find(beginning)
            while position >= 0:
                if found := _ARCHS.match(chunk, position + 1):
                    yield found.group()
                position = chunk.find(beginning, position + 1)
