"""Compiled extensions of torch against the torch that is there.

A wheel that was built for one torch says so in its local version or file name, as those of
flash-attn (``+cu12torch2.6cxx11abiFALSE``), of the PyG project (``+pt26cu124``) and torchvision
(``+cu126``) do; others say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers, numbers, parse_numbers
from envtrack.model.finding import Fit, Purpose

_TORCH = re.compile(r"torch(\d{1,3})\.(\d{1,3})|(?<![a-z])pt(\d)\.?(\d{1,3})")
_CUDA = re.compile(r"(?<![a-z])cu(\d\d)(\d?)(?!\d)")
_ABI = re.compile(r"cxx11abi(TRUE|FALSE)", re.IGNORECASE)
_COMPANIONS = frozenset({"torchvision", "torchaudio"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extension:
    """What one says of the torch it was built for; what it does not say is ``None``."""

    package: str
    version: str
    torch: Numbers | None
    cuda_major: int | None
    cuda: Numbers | None
    cxx11_abi: bool | None


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    torch = stack.torch
    if torch.version.value is None:
        yield Nothing(torch.version.why)
        return
    found = list(_find_extensions(stack))
    if not found:
        yield Nothing("no package here says for which torch it was built")
    for extension in found:
        yield _judge_extension(stack, extension)


def _find_extensions(stack: Stack) -> Iterator[_Extension]:
    files = _find_files(stack)
    for name, package in sorted(stack.packages.items()):
        if name == "torch":
            continue
        local = package.version.partition("+")[2]
        origin = unquote(package.origin.rpartition("/")[2])
        text = f"+{local} {origin} {files.get(name, '')}"
        extension = _parse_extension(name, package.version, text)
        is_bound = extension.torch is not None or extension.cxx11_abi is not None
        if is_bound or (name in _COMPANIONS and extension.cuda is not None):
            yield extension


def _find_files(stack: Stack) -> Mapping[str, str]:
    """The local versions in the names of locked wheels, where all agree."""
    found = {}
    for package in stack.locked or ():
        names = [unquote(a.filename) for a in package.artifacts if a.is_wheel]
        locals_ = {name.split("-")[1].partition("+")[2] for name in names if name.count("-") > 1}
        # uv writes a dot for what a file name has as an underscore.
        if len(locals_) == 1:
            found[package.name] = f"+{locals_.pop()}"
    return found


def _parse_extension(package: str, version: str, text: str) -> _Extension:
    torch = _TORCH.search(text)
    cuda = _CUDA.search(text)
    abi = _ABI.search(text)
    parts = [part for part in torch.groups() if part] if torch else []
    return _Extension(
        package=package,
        version=version,
        torch=numbers(".".join(parts)) if parts else None,
        cuda_major=int(cuda[1]) if cuda else None,
        cuda=numbers(f"{cuda[1]}.{cuda[2]}") if cuda and cuda[2] else None,
        cxx11_abi=abi[1].upper() == "TRUE" if abi else None,
    )


def _judge_extension(stack: Stack, extension: _Extension) -> Opinion:
    compared = (
        f"{extension.package} {extension.version}, built for {_say_target(extension)}, against "
        f"{_say_torch(stack)}"
    )
    faults = list(_find_faults(stack, extension))
    if faults:
        return Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason="; ".join(faults),
            remedy=f"the {extension.package} that was built for this torch, or build it anew",
            command=f"uv sync --reinstall-package {extension.package}",
            cited=stack.torch.cxx11_abi.sources if extension.cxx11_abi is not None else (),
        )
    doubts = list(_find_doubts(stack, extension))
    if doubts:
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason="; ".join(doubts))
    cited = stack.torch.cxx11_abi.sources if extension.cxx11_abi is not None else ()
    return Opinion(compared=compared, fit=Fit.FITS, reason="it is this one", cited=cited)


def _find_faults(stack: Stack, extension: _Extension) -> Iterator[str]:
    torch = stack.torch
    release = parse_numbers(torch.release)
    if extension.torch is not None and (release is None or extension.torch != release.series):
        yield f"it was compiled for torch {extension.torch} (“undefined symbol”)"
    abi = torch.cxx11_abi.value
    if extension.cxx11_abi is not None and abi is not None and extension.cxx11_abi != abi:
        yield f"it has the {_say_abi(is_new=extension.cxx11_abi)}, torch the {_say_abi(is_new=abi)}"
    if extension.cuda_major is None:
        return
    if torch.cuda.is_absent:
        yield "torch was built without CUDA"
    elif torch.cuda.value is not None:
        is_companion = extension.package in _COMPANIONS
        if extension.cuda_major != torch.cuda.value.major:
            yield f"it was compiled for CUDA {extension.cuda_major}, torch for {torch.cuda.value}"
        elif is_companion and extension.cuda and extension.cuda != torch.cuda.value.series:
            # torchvision and torchaudio refuse to be imported then.
            yield f"it was compiled for CUDA {extension.cuda}, torch for {torch.cuda.value}"


def _find_doubts(stack: Stack, extension: _Extension) -> Iterator[str]:
    torch = stack.torch
    if extension.cxx11_abi is not None and torch.cxx11_abi.value is None:
        yield torch.cxx11_abi.why
    if extension.cuda_major is not None and torch.cuda.value is None:
        yield torch.cuda.why


def _say_target(extension: _Extension) -> str:
    parts = []
    if extension.torch is not None:
        parts.append(f"torch {extension.torch}")
    if extension.cuda_major is not None:
        parts.append(f"CUDA {extension.cuda or extension.cuda_major}")
    if extension.cxx11_abi is not None:
        parts.append(f"the {_say_abi(is_new=extension.cxx11_abi)}")
    return ", ".join(parts)


def _say_torch(stack: Stack) -> str:
    torch = stack.torch
    abi = torch.cxx11_abi.value
    cuda = f", CUDA {torch.cuda.value}" if torch.cuda.value else ""
    said = f", {_say_abi(is_new=abi)}" if abi is not None else ""
    return f"torch {torch.version.value}{cuda}{said}"


def _say_abi(*, is_new: bool) -> str:
    return f"{'new' if is_new else 'old'} C++11 ABI"


RULE = Rule(
    name="extension-abi",
    purpose=Purpose.RUNNING,
    compares="torch, CUDA and C++11 ABI that compiled extensions were built for, against torch's",
    facts=(
        "framework.torch.version",
        "framework.torch.cuda",
        "framework.torch.cxx11-abi",
        "installed: local versions and origins",
        "lockfile: wheels",
    ),
    judge=_judge,
)
