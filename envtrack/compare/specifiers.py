"""Version specifiers and requirements by what they mean: one thing has many spellings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

from envtrack.compare.selectors import normalise_marker


@lru_cache(maxsize=2_000)
def find_meaning(specifiers: str) -> Hashable:
    """Equal for ``~=3.12.0``, ``==3.12.*`` and ``>=3.12.0, <3.13``; text that is none is itself.

    Pre-releases at the ends of a series are passed over: uv does so for Pythons, and writes one
    or the other of the three by its own version.
    """
    try:
        return _find_interval(SpecifierSet(specifiers))
    except ValueError:  # none, or numbers of thousands of digits
        return specifiers


@lru_cache(maxsize=2_000)
def find_requirement_meaning(text: str) -> Hashable:
    """Equal for requirements that ask for the same; text that is none is itself."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return text
    return (
        requirement.name,
        frozenset(requirement.extras),
        requirement.url,
        find_meaning(str(requirement.specifier)),
        normalise_marker(str(requirement.marker or ""), frozenset()),
    )


def _find_interval(specifiers: Iterable[Specifier]) -> Hashable:
    """The highest lower end, the lowest upper end, and what is no end."""
    plain = [part for specifier in specifiers for part in _split(specifier)]
    # `>` is a narrower end than `>=` of the same version, and `<` than `<=`.
    lower = max(
        ((_version(p), p.operator == ">") for p in plain if p.operator[0] == ">"), default=None
    )
    upper = min(
        ((_version(p), p.operator == "<=") for p in plain if p.operator[0] == "<"), default=None
    )
    return lower, upper, frozenset(part for part in plain if part.operator[0] not in "<>")


def _split(specifier: Specifier) -> Iterator[Specifier]:
    """A series (``==3.12.*``, ``~=3.12.0``) as its two ends; all else as it is."""
    text = specifier.version
    if specifier.operator == "~=":
        release = Version(text).release[:-1]
    elif specifier.operator == "==" and text.endswith(".*"):
        text = text.removesuffix(".*")
        release = Version(text).release
    else:
        yield specifier
        return
    epoch = Version(text).epoch
    after = ".".join(map(str, (*release[:-1], release[-1] + 1)))
    yield Specifier(f">={text}")
    yield Specifier(f"<{epoch}!{after}" if epoch else f"<{after}")


def _version(specifier: Specifier) -> Version:
    return Version(specifier.version)
