"""The one spelling of a package's name."""

from __future__ import annotations

import re
from functools import lru_cache

_RUNS = re.compile(r"[-_.]+")


@lru_cache(maxsize=20_000)
def normalise(name: str) -> str:
    """The name in its normal form: lower case, one hyphen for each run of `-`, `_` and `.`.

    That is PEP 503's rule; `packaging` has it too, behind imports of 20 ms.
    """
    return _RUNS.sub("-", name).lower()
