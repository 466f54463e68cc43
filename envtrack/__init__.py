"""envtrack: what changed in the environment, and which change broke it.

In Python: `take_snapshot` and `read_snapshot`; see docs/python-api.md. They are imported when they
are first used, so that ``import envtrack`` costs a script nothing.
"""

# Not from typing, whose import takes longer than all the rest; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from envtrack.api import TakenSnapshot, read_snapshot, take_snapshot
    from envtrack.errors import EnvtrackError
    from envtrack.model.fact import Absent, Known, Unknown

__version__ = "0.1.0"
__all__ = [
    "Absent",
    "EnvtrackError",
    "Known",
    "TakenSnapshot",
    "Unknown",
    "__version__",
    "read_snapshot",
    "take_snapshot",
]

_MODULES = {
    "Absent": "envtrack.model.fact",
    "EnvtrackError": "envtrack.errors",
    "Known": "envtrack.model.fact",
    "TakenSnapshot": "envtrack.api",
    "Unknown": "envtrack.model.fact",
    "read_snapshot": "envtrack.api",
    "take_snapshot": "envtrack.api",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return __all__
