"""JAX as its installed files describe it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from envtrack.collect.framework_pins import read_pins
from envtrack.model.fact import Absent, FactState, Known

if TYPE_CHECKING:
    from envtrack.collect.framework_sites import Sites

# jax-cuda12-plugin, jax-cuda13-pjrt, jax-rocm60-plugin: the platform's number is in the name.
_PART = re.compile(r"jax-(?P<platform>(?P<maker>cuda|rocm)(?P<number>\d+))-(?P<part>plugin|pjrt)")
# jaxlib until 0.4.26 held CUDA itself: 0.4.23+cuda12.cudnn89.
_LOCAL = re.compile(r"cuda(?P<cuda>\d+)(?:\.cudnn(?P<cudnn>\d+))?")
_EXTRA = "with-cuda"


def read_jax(sites: Sites) -> dict[str, FactState]:
    """``jax.version``, ``jaxlib.version``, ``jaxlib.local``, ``jax.plugin.cuda12`` and more.

    ``jax.cuda`` is a major number (``12``): a plugin runs with every CUDA of its major from the
    lower bounds on that ``jax.pins.<package>`` are.
    """
    states = {"jax.version": sites.version("jax"), "jaxlib.version": sites.version("jaxlib")}
    if states["jax.version"] == states["jaxlib.version"] == Absent():
        return states
    numbers: dict[str, set[str]] = {"cuda": set(), "rocm": set()}
    for name in sorted(sites.infos):
        if not (found := _PART.fullmatch(name)):
            continue
        states[f"jax.{found['part']}.{found['platform']}"] = sites.version(name)
        numbers[found["maker"]].add(found["number"])
        if found["part"] == "plugin":
            pins = read_pins(sites, name, (_EXTRA,))
            states |= {f"jax.pins.{package}": pin for package, pin in pins.items()}
    states |= _read_local(states["jaxlib.version"], numbers["cuda"])
    for maker, found_numbers in numbers.items():
        numbers_text = ", ".join(sorted(found_numbers))
        states[f"jax.{maker}"] = Known(numbers_text) if found_numbers else Absent()
    return states


def _read_local(version: FactState, cudas: set[str]) -> dict[str, FactState]:
    text = str(version.value) if isinstance(version, Known) else ""
    local = text.partition("+")[2]
    states: dict[str, FactState] = {"jaxlib.local": Known(local) if local else Absent()}
    if found := _LOCAL.match(local):
        cudas.add(found["cuda"])
        if found["cudnn"]:
            states["jaxlib.cudnn"] = Known(".".join(found["cudnn"]))
    return states
