"""Asks the NVIDIA driver's user-space library, in a process of its own.

A wedged driver puts whoever asks into uninterruptible sleep, where no signal reaches it: a thread
that slept so would keep our process, and a commit that waits for it, from ever ending.
"""

from __future__ import annotations

import sys
import threading
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envtrack.collect.interface import NvmlReport
from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.collect.interface import Asks

MISSING = Unknown("nvidia-ml-py is not installed")
_LIBRARY = "libnvidia-ml.so.1"
_MODULE = "pynvml"
_LIMIT_BYTES = 1024 * 1024
# -I -S: nothing of the user's runs first; what is needed is appended, and shadows nothing.
_CODE = (
    "import sys; sys.path += sys.argv[1:]; from envtrack.collect.nvml_library import main; main()"
)
# glibc's own, and where WSL keeps the driver of Windows.
_FOLDERS = ("lib64", "usr/lib64", "lib", "usr/lib", "usr/lib/wsl/lib")

_Answer: TypeAlias = NvmlReport | Absent | Unknown


class NvmlLibrary:
    """Asks NVML once, for all collectors; see `ReadsNvml`.

    Where no ``libnvidia-ml.so.1`` is on the loader's path nothing is started at all. Where
    nvidia-ml-py is missing nvidia-smi is asked instead.

    Args:
        environ: the environment in which the library is loaded: ``LD_LIBRARY_PATH`` counts.
        ask: asks programs.
        limit_s: seconds after which it is given up, whatever the asker would wait.
        root: the root of the file system.
        module_path: where ``pynvml`` is, to be imported by the process that asks; found among our
            own modules if not given. Tests have a module of their own.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        ask: Asks,
        limit_s: float,
        root: Path = Path("/"),
        module_path: Path | None = None,
    ) -> None:
        self._environ = {**environ, "LC_ALL": "C"}
        self._ask_program = ask
        self._limit_s = limit_s
        self._root = root
        self._module_path = module_path
        self._lock = threading.Lock()
        self._answer: _Answer | None = None

    def __call__(self, *, timeout_s: float = 5.0) -> _Answer:
        """Its report; absent: no such library; unknown: the reason, in NVML's own words."""
        with self._lock:
            if self._answer is None:
                self._answer = self._ask(min(timeout_s, self._limit_s))
            return self._answer

    def _ask(self, timeout_s: float) -> _Answer:
        has_library = _has_library(self._root, self._environ)
        module = self._module_path or _find_module()
        if module is None:
            from envtrack.collect.nvml_program import ask_nvidia_smi

            answer = ask_nvidia_smi(self._ask_program, timeout_s=timeout_s)
            if isinstance(answer, Absent) and has_library:
                return MISSING
            return answer
        return self._ask_library(module, timeout_s) if has_library else Absent()

    def _ask_library(self, module: Path, timeout_s: float) -> _Answer:
        from envtrack.abandon import run_or_abandon
        from envtrack.collect.nvml_wire import parse_answer
        from envtrack.errors import RigFailed

        package = Path(__file__).parents[2]
        command = (sys.executable, "-I", "-S", "-c", _CODE, str(module), str(package))
        try:
            done = run_or_abandon(
                command,
                timeout_s=timeout_s,
                env=self._environ,
                cwd=Path("/"),
                limit_bytes=_LIMIT_BYTES,
            )
        except RigFailed:
            return Unknown("the process that asks NVML can't be started")
        if done is None:
            return Unknown("NVML timed out")
        if done.code != 0:
            return Unknown(f"the process that asked NVML ended with {done.code}")
        try:
            return parse_answer(done.text)
        except ValueError:
            return Unknown("the process that asked NVML gave no report")


def _find_module() -> Path | None:
    """The folder that holds ``pynvml``, without importing it."""
    spec = PathFinder.find_spec(_MODULE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    return folder.parent if spec.submodule_search_locations else folder


def _has_library(root: Path, environ: Mapping[str, str]) -> bool:
    """Whether the loader would find NVML (ld.so(8)); when in doubt, it would."""
    named = environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    folders = [root / folder.lstrip("/") for folder in named if folder.startswith("/")]
    folders += [root / folder for folder in _FOLDERS]
    if any(_is_there(folder / _LIBRARY) for folder in (*folders, *_multiarch(root))):
        return True
    try:
        # The names of all libraries that ldconfig found stand in it as they are.
        return _LIBRARY.encode() in (root / "etc/ld.so.cache").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the loader can't look there either
        return False


def _multiarch(root: Path) -> Iterator[Path]:
    for folder in ("lib", "usr/lib"):
        yield from (root / folder).glob("*-linux-gnu*")
