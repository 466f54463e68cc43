"""The tags in a wheel's file name, and what each asks of a machine (PEP 425, 600, 656, 703)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from envtrack.compat.versions import Numbers, numbers

_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_LINUX = re.compile(
    r"(?:(?P<legacy>manylinux1|manylinux2010|manylinux2014)"
    r"|(?P<libc>manylinux|musllinux)_(?P<major>\d{1,4})_(?P<minor>\d{1,4})|linux)_(?P<arch>\w+)"
)
_CPYTHON = re.compile(r"cp(?P<major>\d)(?P<minor>\d{1,4})")
_ANY_PYTHON = re.compile(r"py(?P<major>\d)(?P<minor>\d{0,4})")
_PARTS = 3  # python, ABI and platform stand at the end of the name
_LEAST_DASHES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One platform tag.

    Attributes:
        libc: ``glibc`` or ``musl``; empty: it asks for none.
        version: the least of it; ``None`` where none is asked for.
        architecture: ``x86_64``; empty: any.
        system: ``linux``, ``other``; empty: any.
    """

    libc: str = ""
    version: Numbers | None = None
    architecture: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelTags:
    """All tags of one wheel; it fits where one of each fits."""

    filename: str
    pythons: tuple[str, ...]
    abis: tuple[str, ...]
    platforms: tuple[Platform, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A CPython, as far as tags go: ``cp313t`` is 3.13, free-threaded."""

    version: Numbers
    is_free_threaded: bool = False

    @property
    def abi(self) -> str:
        """Its own ABI tag."""
        flag = "t" if self.is_free_threaded else ""
        return f"cp{self.version.major}{self.version.minor}{flag}"


def parse_wheel(filename: str) -> WheelTags | None:
    """The tags of a wheel's name; ``None`` where it is not of that form."""
    parts = filename.removesuffix(".whl").split("-")
    if not filename.endswith(".whl") or len(parts) <= _LEAST_DASHES:
        return None
    python, abi, platform = parts[-_PARTS:]
    return WheelTags(
        filename=filename,
        pythons=tuple(python.split(".")),
        abis=tuple(abi.split(".")),
        platforms=tuple(parse_platform(tag) for tag in platform.split(".")),
    )


def parse_platform(tag: str) -> Platform:
    """What a platform tag asks for."""
    if tag == "any":
        return Platform()
    found = _LINUX.fullmatch(tag)
    if found is None:
        return Platform(system="other")
    architecture = found["arch"]
    if found["legacy"]:
        version = numbers(_LEGACY[found["legacy"]])
        return Platform(libc="glibc", version=version, architecture=architecture, system="linux")
    if found["libc"]:
        return Platform(
            libc="musl" if found["libc"] == "musllinux" else "glibc",
            version=numbers(f"{found['major']}.{found['minor']}"),
            architecture=architecture,
            system="linux",
        )
    return Platform(architecture=architecture, system="linux")


def fits_python(wheel: WheelTags, interpreter: Interpreter) -> bool:
    """Whether some pair of its Python and ABI tags is one that this CPython takes."""
    return any(
        _fits_pair(python, abi, interpreter) for python in wheel.pythons for abi in wheel.abis
    )


def _fits_pair(python: str, abi: str, interpreter: Interpreter) -> bool:
    version = (interpreter.version.major, interpreter.version.minor)
    if found := _CPYTHON.fullmatch(python):
        wanted = (int(found["major"]), int(found["minor"]))
        # PEP 384: the stable ABI of an older 3.x; free-threaded builds have one of their own.
        if abi == ("abi3t" if interpreter.is_free_threaded else "abi3"):
            return wanted[0] == version[0] and wanted <= version
        return wanted == version and abi in {interpreter.abi, "none"}
    if found := _ANY_PYTHON.fullmatch(python):
        minor = int(found["minor"] or 0)
        return abi == "none" and int(found["major"]) == version[0] and minor <= version[1]
    return False


def fits_architecture(wheel: WheelTags, architecture: str) -> bool:
    """Whether one of its platforms is Linux on this CPU architecture, or any."""
    return any(_fits_architecture(one, architecture) for one in wheel.platforms)


def _fits_architecture(platform: Platform, architecture: str) -> bool:
    return platform.system != "other" and platform.architecture in {"", architecture}


def fits_libc(wheel: WheelTags, architecture: str, libc: str, version: Numbers) -> bool:
    """Whether one of its platforms for the architecture asks for no more than this C library."""
    return any(
        _fits_architecture(one, architecture)
        and (one.version is None or (one.libc == libc and one.version <= version))
        for one in wheel.platforms
    )
