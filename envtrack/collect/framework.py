"""The frameworks of the project's environment, read from their files and never imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.framework_deep import ask_frameworks
from envtrack.collect.framework_sites import Sites, read_sites
from envtrack.collect.jax_files import read_jax
from envtrack.collect.tensorflow_files import read_tensorflow
from envtrack.collect.torch_files import read_companion, read_torch
from envtrack.model.fact import Fact, FactState
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.collect.interface import Machine

_COMPANIONS = ("torchvision", "torchaudio")
_ALL = ("torch", "jax", "jaxlib", "tensorflow", *_COMPANIONS)


class FrameworkCollector:
    """Reads ``version.py``, metadata and a little of the libraries; asks only with ``--deep``."""

    layer = Layer.FRAMEWORK

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``framework.<name>.version`` and more of each that is there.

        Raises:
            OSError: site-packages can't be listed.

        Cost: a listing, a few small files, and one megabyte of torch's libraries.
        """
        sites = read_sites(machine)
        if not isinstance(sites, Sites):
            for name in _ALL:
                yield Fact(name=f"framework.{name}.version", state=sites)
            return
        states: dict[str, FactState] = {
            **read_torch(sites),
            **read_jax(sites),
            **read_tensorflow(sites),
        }
        for name in _COMPANIONS:
            states |= read_companion(sites, name)
        if machine.deep:
            states |= ask_frameworks(machine, sites)
        for part, state in states.items():
            yield Fact(name=f"framework.{part}", state=state)
