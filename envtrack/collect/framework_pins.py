"""Which CUDA libraries a framework was published to run with: its ``Requires-Dist`` lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.collect.requirement_lines import Judge, Need, parse_needs, target_environment
from envtrack.model.fact import FactState, Known

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from envtrack.collect.framework_sites import Sites

# Packages that only stand for others: cuda-toolkit[cublas,…]==13.0.3 is a list of nvidia-* wheels.
_LISTS = frozenset({"cuda-toolkit"})
_PREFIXES = ("nvidia-", "cuda-", "triton", "pytorch-triton", "rocm", "jax-cuda", "jax-rocm")


def read_pins(sites: Sites, name: str, extras: Sequence[str] = ()) -> dict[str, FactState]:
    """Package → specifier (``==9.1.0.70``), for this platform and Python.

    Args:
        sites: where to look.
        name: the distribution whose needs they are.
        extras: under which it names them, if not for everyone: JAX's ``with-cuda``.
    """
    judge = Judge(target_environment(sites.layout))
    return {
        need.name: Known(need.specifier)
        for need in _needs(sites, judge, name, extras)
        if need.specifier and need.name.startswith(_PREFIXES)
    }


def _needs(sites: Sites, judge: Judge, name: str, extras: Sequence[str]) -> Iterator[Need]:
    found = sites.read(name)
    if found is None:
        return
    for need in parse_needs(found.requires):
        if judge.is_needed(need, extras):
            yield need
            if need.name in _LISTS and name not in _LISTS:
                yield from _needs(sites, judge, need.name, need.extras)
