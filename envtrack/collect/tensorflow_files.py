"""TensorFlow as its installed files describe it."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from envtrack.collect.framework_pins import read_pins
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, FactState, Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from envtrack.collect.framework_sites import Sites

_NAMES = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "intel-tensorflow",
    "tensorflow-cpu-aws",
    "tf-nightly",
    "tf-nightly-cpu",
    "tf-nightly-gpu",
)
_BUILD_INFO = "python/platform/build_info.py"
_EXTRA = "and-cuda"
_ODD = Unknown("build_info.py can't be understood")


def read_tensorflow(sites: Sites) -> dict[str, FactState]:
    """``tensorflow.version`` and what it was built for, by the facts' names.

    ``distribution`` (its name), ``cuda``, ``cudnn``, ``archs``, ``rocm``, ``compiler``,
    ``pins.<package>``. They stand in ``build_info.py``, which TensorFlow's build generates and
    ``tf.sysconfig.get_build_info()`` returns; it is read as text.
    """
    names = [name for name in _NAMES if name in sites.infos]
    package = sites.find("tensorflow")
    if not names:
        lost = Unknown("a folder tensorflow without metadata")
        return {"tensorflow.version": lost if package else Absent()}
    states: dict[str, FactState] = {
        "version": sites.version(names[0]),
        "distribution": Known(", ".join(names)),
        **(_read_build(package) if package else {}),
    }
    if isinstance(states.get("cuda"), Known):
        pins = read_pins(sites, names[0], (_EXTRA,))
        states |= {f"pins.{name}": pin for name, pin in pins.items()}
    return {f"tensorflow.{part}": state for part, state in states.items()}


def _read_build(package: Path) -> dict[str, FactState]:
    text = read_text(package / _BUILD_INFO)
    found = parse_build_info(text) if isinstance(text, str) else text
    if isinstance(found, (Absent, Unknown)):
        state = Unknown("it has no build_info.py") if isinstance(found, Absent) else found
        return dict.fromkeys(("cuda", "cudnn", "archs", "rocm", "compiler"), state)
    archs = found.get("cuda_compute_capabilities")
    compiler = found.get("cpu_compiler")
    return {
        "cuda": _text(found.get("cuda_version")),
        "cudnn": _text(found.get("cudnn_version")),
        "archs": _text(" ".join(map(str, archs)) if isinstance(archs, (list, tuple)) else archs),
        "rocm": _mark(found.get("is_rocm_build")),
        "compiler": _text(PurePosixPath(compiler).name if isinstance(compiler, str) else None),
    }


def parse_build_info(text: str) -> Mapping[str, object] | Missing:
    """``build_info = collections.OrderedDict([('cuda_version', '12.5.1'), …])`` as a mapping."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return _ODD
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
            try:
                return dict(ast.literal_eval(node.value.args[0]))
            except (ValueError, TypeError):
                return _ODD
    return _ODD


def _text(value: object) -> FactState:
    return Known(value) if isinstance(value, str) and value else Absent()


def _mark(value: object) -> FactState:
    return Known(value=True) if value is True else Absent()
