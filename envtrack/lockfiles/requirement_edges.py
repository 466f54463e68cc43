"""Edges of a lock's graph, from the requirement strings in which many formats write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement

from envtrack.lockfiles.tables import OddValueError
from envtrack.model.lock import Dependency
from envtrack.model.names import normalise


def read_pypi_edges(texts: Iterable[str]) -> Iterator[Dependency]:
    """Edges of PEP 508 strings.

    Raises:
        OddValueError: one of them is none.
    """
    for text in texts:
        try:
            wanted = Requirement(text)
        except InvalidRequirement as error:
            raise OddValueError(f"a dependency can't be read: `{text[:80]}`") from error
        yield Dependency(
            name=normalise(wanted.name),
            extras=tuple(sorted(normalise(extra) for extra in wanted.extras)),
            marker=str(wanted.marker or ""),
        )


def read_conda_edges(texts: Iterable[str]) -> Iterator[Dependency]:
    """Edges of conda's specifications, ``libblas >=3.9``; what the machine must have is none."""
    for text in texts:
        name = text.partition(" ")[0].partition("[")[0]
        if name and not name.startswith("__"):
            yield Dependency(name=name.lower())
