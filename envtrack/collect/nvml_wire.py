"""A report of NVML's as JSON: it comes from a process of its own."""

from __future__ import annotations

import json
from typing import Any

from envtrack.collect.interface import GpuInfo, NvmlReport
from envtrack.model.fact import Absent, FactState, Known, Unknown

_STATES = (
    "model",
    "compute_capability",
    "memory_mib",
    "pci_id",
    "mig",
    "mig_devices",
    "persistence",
)


def render_answer(answer: NvmlReport | Absent | Unknown) -> str:
    """One line of ASCII: ``null`` for an absent library, ``{"unknown": reason}``, or the report."""
    if not isinstance(answer, NvmlReport):
        return json.dumps(_render_state(answer))
    document = {
        "driver_version": _render_state(answer.driver_version),
        "cuda_version": _render_state(answer.cuda_version),
        "gpus": [_render_gpu(gpu) for gpu in answer.gpus],
    }
    return json.dumps(document)


def parse_answer(text: str) -> NvmlReport | Absent | Unknown:
    """What `render_answer` wrote.

    Raises:
        ValueError: it is something else.
    """
    document = json.loads(text)
    if document is None:
        return Absent()
    try:
        if "unknown" in document:
            return Unknown(str(document["unknown"]))
        return NvmlReport(
            driver_version=_parse_state(document["driver_version"]),
            cuda_version=_parse_state(document["cuda_version"]),
            gpus=tuple(_parse_gpu(gpu) for gpu in document["gpus"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a report: {error}") from error


def _render_gpu(gpu: GpuInfo | Unknown) -> Any:  # noqa: ANN401 - JSON
    if isinstance(gpu, Unknown):
        return _render_state(gpu)
    return {"index": gpu.index, **{name: _render_state(getattr(gpu, name)) for name in _STATES}}


def _parse_gpu(value: Any) -> GpuInfo | Unknown:  # noqa: ANN401 - JSON
    if "unknown" in value:
        return Unknown(str(value["unknown"]))
    states = {name: _parse_state(value[name]) for name in _STATES}
    return GpuInfo(index=int(value["index"]), **states)


def _render_state(state: FactState) -> Any:  # noqa: ANN401 - JSON
    match state:
        case Known(value):
            return value
        case Absent():
            return None
        case Unknown(reason):
            return {"unknown": reason}


def _parse_state(value: Any) -> FactState:  # noqa: ANN401 - JSON
    if value is None:
        return Absent()
    if isinstance(value, dict):
        return Unknown(str(value["unknown"]))
    if isinstance(value, (str, int)):
        return Known(value)
    raise TypeError(f"{value!r} is no state")
