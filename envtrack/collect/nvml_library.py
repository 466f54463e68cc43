"""What NVML says through nvidia-ml-py (the module ``pynvml``), each refusal in its own place.

Names and return codes are those of NVML's API reference (``nvmlReturn_t``) and of nvidia-ml-py
13.615. NVML makes no CUDA context. Nothing is asked that flickers (clocks, temperatures, free
memory) or that names one piece of hardware (UUID, serial number). It may hang: who asks does so in
a process of its own, which `main` is.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from envtrack.collect.interface import GpuInfo, NvmlReport
from envtrack.collect.nvml_wire import render_answer
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from envtrack.collect.nvml_functions import Handle, Nvml, Text

_MIB = 1024 * 1024
_MAJOR = 1000  # cuDriverGetVersion: 1000 * major + 10 * minor
_T = TypeVar("_T")


def main() -> None:
    """Asks NVML and writes the answer to stdout."""
    nvml = cast("Nvml", importlib.import_module("pynvml"))
    sys.stdout.write(render_answer(read_nvml_report(nvml)))


def read_nvml_report(nvml: Nvml) -> NvmlReport | Absent | Unknown:
    """NVML's report; absent: no such library; unknown: why it can't be asked, in its own words.

    One GPU that is lost, or a field that a model does not have, hides nothing else.
    """
    return _Reader(nvml).read()


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What NVML answered instead: its code (``nvmlReturn_t``; -1 for none) and its words."""

    code: int
    said: Unknown


class _Reader:
    """Asks one function after the other; what one of them refuses is a fact of its own."""

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml

    def read(self) -> NvmlReport | Absent | Unknown:
        begun = self._ask(lambda n: n.nvmlInit())
        if isinstance(begun, _Refusal):
            is_missing = begun.code == self._nvml.NVML_ERROR_LIBRARY_NOT_FOUND
            return Absent() if is_missing else begun.said
        return NvmlReport(
            driver_version=self._state(lambda n: n.nvmlSystemGetDriverVersion(), _read_text),
            cuda_version=self._read_cuda_version(),
            gpus=self._read_gpus(),
        )

    def _ask(self, call: Callable[[Nvml], _T]) -> _T | _Refusal:
        try:
            return call(self._nvml)
        except self._nvml.NVMLError as error:
            code = getattr(error, "value", -1)
            return _Refusal(code, Unknown(self._name_error(code, str(error))))
        except AttributeError:
            return _Refusal(-1, Unknown("this nvidia-ml-py has no such function"))
        except (OSError, ValueError) as error:
            return _Refusal(-1, Unknown(f"NVML's answer can't be read: {type(error).__name__}"))

    def _name_error(self, code: int, words: str) -> str:
        """``GPU is lost (GPU_IS_LOST)``: the words differ by version, the code's name does not."""
        names = (name for name in dir(self._nvml) if name.startswith("NVML_ERROR_"))
        name = next((name for name in names if getattr(self._nvml, name) == code), "")
        said = words.rstrip(". ")
        return f"{said} ({name.removeprefix('NVML_ERROR_')})" if name else said

    def _state(
        self, call: Callable[[Nvml], _T], show: Callable[[_T], str | int | None]
    ) -> FactState:
        answer = self._ask(lambda n: show(call(n)))
        if isinstance(answer, _Refusal):
            return answer.said
        return (
            Unknown("NVML's answer is not one of those it documents")
            if answer is None
            else Known(answer)
        )

    def _read_cuda_version(self) -> FactState:
        newer = self._state(lambda n: n.nvmlSystemGetCudaDriverVersion_v2(), _read_version)
        if isinstance(newer, Known):
            return newer
        # _v2 asks libcuda, which a container may lack; the first form needs the driver alone.
        older = self._state(lambda n: n.nvmlSystemGetCudaDriverVersion(), _read_version)
        return older if isinstance(older, Known) else newer

    def _read_gpus(self) -> tuple[GpuInfo | Unknown, ...]:
        count = self._ask(lambda n: n.nvmlDeviceGetCount())
        if isinstance(count, _Refusal):
            # None at all would say that there is no GPU.
            return (count.said,)
        return tuple(self._read_gpu(index) for index in range(count))

    def _read_gpu(self, index: int) -> GpuInfo | Unknown:
        handle = self._ask(lambda n: n.nvmlDeviceGetHandleByIndex(index))
        if isinstance(handle, _Refusal):
            return handle.said
        mig = self._read_mig(handle)
        return GpuInfo(
            index=index,
            model=self._state(lambda n: n.nvmlDeviceGetName(handle), _read_text),
            compute_capability=self._state(
                lambda n: n.nvmlDeviceGetCudaComputeCapability(handle),
                lambda pair: f"{pair[0]}.{pair[1]}",
            ),
            memory_mib=self._state(
                lambda n: n.nvmlDeviceGetMemoryInfo(handle), lambda memory: memory.total // _MIB
            ),
            pci_id=self._state(
                lambda n: n.nvmlDeviceGetPciInfo(handle), lambda info: read_pci_id(info.busId)
            ),
            mig=mig,
            mig_devices=self._count_mig_devices(handle, mig),
            persistence=self._state(lambda n: n.nvmlDeviceGetPersistenceMode(handle), _SWITCH.get),
        )

    def _read_mig(self, handle: Handle) -> FactState:
        """The current mode, not the one that a reset would bring; absent where there is none."""
        answer = self._ask(lambda n: n.nvmlDeviceGetMigMode(handle)[0])
        if not isinstance(answer, _Refusal):
            return Known("on" if answer else "off")
        is_none = answer.code == self._nvml.NVML_ERROR_NOT_SUPPORTED
        return Absent() if is_none else answer.said

    def _count_mig_devices(self, handle: Handle, mig: FactState) -> FactState:
        if mig != Known("on"):
            return Known(0) if isinstance(mig, Known) else mig
        most = self._ask(lambda n: n.nvmlDeviceGetMaxMigDeviceCount(handle))
        if isinstance(most, _Refusal):
            return most.said
        count = 0
        for index in range(most):
            found = self._find_mig_device(handle, index)
            if isinstance(found, Unknown):
                return found
            count += found
        return Known(count)

    def _find_mig_device(self, handle: Handle, index: int) -> bool | Unknown:
        """Whether there is one at this place: indices have gaps."""
        found = self._ask(lambda n: n.nvmlDeviceGetMigDeviceHandleByIndex(handle, index))
        if not isinstance(found, _Refusal):
            return True
        return False if found.code == self._nvml.NVML_ERROR_NOT_FOUND else found.said


_SWITCH = {1: "on", 0: "off"}


def _read_text(text: Text) -> str:
    return text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text


def _read_version(number: int) -> str | None:
    """12040 is ``12.4``, 12100 is ``12.10``; 0 stands for none."""
    return f"{number // _MAJOR}.{number % _MAJOR // 10}" if number >= _MAJOR else None


def read_pci_id(text: Text) -> str:
    """``0000:1a:00.0`` as sysfs has it; NVML's domain has eight digits since version 3."""
    domain, colon, rest = _read_text(text).lower().partition(":")
    is_long = len(domain) == len("00000000") and domain.startswith("0000")
    return f"{domain[4:] if is_long else domain}{colon}{rest}"
