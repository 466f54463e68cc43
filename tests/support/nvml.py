"""An NVML that can refuse in each of its documented ways.

Codes and words are nvidia-ml-py 13.615's own table of ``nvmlReturn_t``.
"""
# ruff: noqa: ARG002, N802, N815 - the names and parameters are NVML's

from __future__ import annotations

from dataclasses import dataclass, field, replace

from envtrack.collect.interface import GpuInfo
from envtrack.collect.nvml_functions import Handle, Text
from envtrack.model.fact import Known, Unknown

CODES = {
    "UNINITIALIZED": (1, "Uninitialized"),
    "INVALID_ARGUMENT": (2, "Invalid Argument"),
    "NOT_SUPPORTED": (3, "Not Supported"),
    "NO_PERMISSION": (4, "Insufficient Permissions"),
    "ALREADY_INITIALIZED": (5, "Already Initialized"),
    "NOT_FOUND": (6, "Not Found"),
    "INSUFFICIENT_SIZE": (7, "Insufficient Size"),
    "INSUFFICIENT_POWER": (8, "Insufficient External Power"),
    "DRIVER_NOT_LOADED": (9, "Driver Not Loaded"),
    "TIMEOUT": (10, "Timeout"),
    "IRQ_ISSUE": (11, "Interrupt Request Issue"),
    "LIBRARY_NOT_FOUND": (12, "NVML Shared Library Not Found"),
    "FUNCTION_NOT_FOUND": (13, "Function Not Found"),
    "CORRUPTED_INFOROM": (14, "Corrupted infoROM"),
    "GPU_IS_LOST": (15, "GPU is lost"),
    "RESET_REQUIRED": (16, "GPU requires restart"),
    "OPERATING_SYSTEM": (17, "The operating system has blocked the request."),
    "LIB_RM_VERSION_MISMATCH": (18, "RM has detected an NVML/RM version mismatch."),
    "IN_USE": (19, "In use by another client"),
    "MEMORY": (20, "Insufficient Memory"),
    "NO_DATA": (21, "No data"),
    "VGPU_ECC_NOT_SUPPORTED": (22, "The requested vgpu operation is not available"),
    "INSUFFICIENT_RESOURCES": (23, "Insufficient Resources"),
    "FREQ_NOT_SUPPORTED": (24, "Frequency Not Supported"),
    "ARGUMENT_VERSION_MISMATCH": (25, "Argument Version Mismatch"),
    "DEPRECATED": (26, "Deprecated"),
    "NOT_READY": (27, "Not Ready"),
    "GPU_NOT_FOUND": (28, "GPU Not Found"),
    "INVALID_STATE": (29, "Invalid State"),
    "RESET_TYPE_NOT_SUPPORTED": (30, "Reset Type Not Supported"),
    "UNKNOWN": (999, "Unknown Error"),
}


def unknown(name: str) -> Unknown:
    return Unknown(f"{CODES[name][1].rstrip('.')} ({name})")


class NvmlError(Exception):
    """As ``pynvml.NVMLError``: made from a code, says its words."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return next((words for code, words in CODES.values() if code == self.value), "odd code")


@dataclass
class Memory:
    total: int


@dataclass
class PciInfo:
    busId: Text


@dataclass
class FakeNvml:
    """A machine with two GPUs; `refuse` says by function, or function and index, what it answers."""

    refuse: dict[str, str] = field(default_factory=dict)
    broken: dict[str, Exception] = field(default_factory=dict)
    count: int = 2
    mig: int = 0
    cuda: int = 12040
    persistence: int = 1
    as_bytes: bool = False

    NVMLError = NvmlError
    NVML_ERROR_NOT_SUPPORTED = 3
    NVML_ERROR_NOT_FOUND = 6
    NVML_ERROR_LIBRARY_NOT_FOUND = 12

    def __dir__(self) -> list[str]:
        return [f"NVML_ERROR_{name}" for name in CODES]

    def __getattr__(self, name: str) -> int:
        if name.startswith("NVML_ERROR_"):
            return CODES[name.removeprefix("NVML_ERROR_")][0]
        raise AttributeError(name)

    def _check(self, function: str, handle: object = "") -> None:
        for name in (function, f"{function} {handle}"):
            if name in self.refuse:
                raise NvmlError(CODES[self.refuse[name]][0])
            if name in self.broken:
                raise self.broken[name]

    def _text(self, text: str) -> Text:
        return text.encode() if self.as_bytes else text

    def nvmlInit(self) -> None:
        self._check("Init")

    def nvmlSystemGetDriverVersion(self) -> Text:
        self._check("DriverVersion")
        return self._text("550.54.15")

    def nvmlSystemGetCudaDriverVersion(self) -> int:
        self._check("CudaDriverVersion")
        return 12030

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        self._check("CudaDriverVersion_v2")
        return self.cuda

    def nvmlDeviceGetCount(self) -> int:
        self._check("Count")
        return self.count

    def nvmlDeviceGetHandleByIndex(self, index: int, /) -> Handle:
        self._check("Handle", index)
        return index

    def nvmlDeviceGetName(self, handle: Handle, /) -> Text:
        self._check("Name", handle)
        return self._text("NVIDIA A100-SXM4-80GB")

    def nvmlDeviceGetCudaComputeCapability(self, handle: Handle, /) -> tuple[int, int]:
        self._check("Capability", handle)
        return 8, 0

    def nvmlDeviceGetMemoryInfo(self, handle: Handle, /) -> Memory:
        self._check("Memory", handle)
        return Memory(total=85899345920)

    def nvmlDeviceGetPciInfo(self, handle: Handle, /) -> PciInfo:
        self._check("Pci", handle)
        return PciInfo(busId=self._text(f"00000000:{0x17 + handle:02X}:00.0"))

    def nvmlDeviceGetMigMode(self, handle: Handle, /) -> list[int]:
        self._check("Mig", handle)
        return [self.mig, 1 - self.mig]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Handle, /) -> int:
        self._check("MaxMig", handle)
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Handle, index: int, /) -> Handle:
        self._check("MigDevice", index)
        if index not in {0, 3, 6}:
            raise NvmlError(CODES["NOT_FOUND"][0])
        return index

    def nvmlDeviceGetPersistenceMode(self, handle: Handle, /) -> int:
        self._check("Persistence", handle)
        return self.persistence


A100 = GpuInfo(
    index=0,
    model=Known("NVIDIA A100-SXM4-80GB"),
    compute_capability=Known("8.0"),
    memory_mib=Known(81920),
    pci_id=Known("0000:17:00.0"),
    mig=Known("off"),
    mig_devices=Known(0),
    persistence=Known("on"),
)
SECOND = replace(A100, index=1, pci_id=Known("0000:18:00.0"))
