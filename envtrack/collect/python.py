"""The Python of the project's environment, told from its files and never by starting it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.layout import Layout, read_layout
from envtrack.collect.python_tags import find_platform_tag, read_user_site
from envtrack.collect.python_tools import read_tools
from envtrack.collect.reading import error_reason, read_text
from envtrack.model.fact import Absent, Fact, FactState, Known, Unknown
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from envtrack.collect.interface import Machine

_IMPLEMENTATIONS = {"python": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}
# _sysconfigdata_<ABI flags>_<platform>_<multiarch>.py; conda adds others of another form.
_BUILD_DATA = re.compile(r"_sysconfigdata_(?P<flags>[a-z]*)_(?P<os>[a-z0-9]+)_(?P<arch>.*)\.py")
_NOT_READABLE = Unknown("not to be read without starting the interpreter")


class PythonCollector:
    """Reads ``pyvenv.cfg``, ``conda-meta`` and the names of folders and files; asks uv."""

    layer = Layer.PYTHON

    def collect(self, machine: Machine) -> Iterator[Fact]:
        """``python.environment`` (its kind), ``python.tool.…``, and more where there is one.

        The version is the one that the environment was made with: if the base interpreter is
        upgraded in place, as distributions do, ``pyvenv.cfg`` still names the old one.
        """
        layout = read_layout(machine.environment)
        states: dict[str, FactState] = {}
        if isinstance(layout, Layout):
            states = {
                "environment": _find_kind(layout),
                "interpreter": _resolve_interpreter(layout),
                **_read_identity(layout),
                **_read_config(layout),
            }
            states["platform-tag"] = find_platform_tag(machine, states["platform"])
            states.update(read_user_site(machine, layout, states["version"]))
        else:
            states["environment"] = layout
        states.update(read_tools(machine, layout))
        for part, state in states.items():
            yield Fact(name=f"python.{part}", state=state)


def _find_kind(layout: Layout) -> FactState:
    if layout.is_conda:
        return Known("conda")
    if layout.has_config:
        if "uv" in layout.config:
            return Known("uv venv")
        return Known("virtualenv" if "virtualenv" in layout.config else "venv")
    if layout.interpreter and layout.libraries:
        return Known("system")
    return Unknown("a folder without pyvenv.cfg, conda-meta or an interpreter")


def _resolve_interpreter(layout: Layout) -> FactState:
    """Where ``bin/python`` leads to in the end."""
    if layout.interpreter is None:
        return Absent()
    try:
        return Known(os.path.realpath(layout.interpreter, strict=True))
    except FileNotFoundError:
        return Unknown("link to a file that is gone")
    except OSError as error:
        return Unknown(error_reason(error))


def _read_config(layout: Layout) -> dict[str, FactState]:
    """What only ``pyvenv.cfg`` says; nothing without one. ``prompt`` is a matter of taste."""
    if not layout.has_config:
        return {}
    config = layout.config
    return {
        "home": Known(config["home"]) if config.get("home") else Absent(),
        "uv": Known(config["uv"]) if config.get("uv") else Absent(),
        "system-site-packages": _switch(config, "include-system-site-packages", default=True),
        "relocatable": _switch(config, "relocatable", default=False),
    }


def _switch(config: Mapping[str, str], key: str, *, default: bool) -> FactState:
    """A switch as Python's own ``site`` reads it: it sees the system's packages unless told."""
    return Known(config[key].lower() == "true" if key in config else default)


def _read_identity(layout: Layout) -> dict[str, FactState]:
    conda = _read_conda_python(layout.folder) if layout.is_conda else {}
    library = next(iter(layout.libraries), None)
    family = library.family if library else "python"
    said = layout.config.get("implementation", "")
    version = conda.get("version") or layout.version or (library.version if library else "")
    implementation = said or (_IMPLEMENTATIONS[family] if library else "")
    build = _find_build_data(layout)
    flags = build["flags"] if build else (library.flags if library else "")
    states: dict[str, FactState] = {
        "version": Known(version) if version else _NOT_READABLE,
        "implementation": Known(implementation) if implementation else _NOT_READABLE,
        "abi": _abi(implementation, version, flags),
        "platform": Known(build["arch"] or build["os"]) if build else _NOT_READABLE,
    }
    if "build" in conda:
        states["build"] = Known(conda["build"])
    return states


def _abi(implementation: str, version: str, flags: str) -> FactState:
    """``cp313t``: PEP 425's tag of CPython; others name theirs in no file."""
    numbers = version.split(".")[:2]
    if implementation.lower() != "cpython" or len(numbers) != len(("major", "minor")):
        return _NOT_READABLE
    return Known(f"cp{''.join(numbers)}{flags}")


def _find_build_data(layout: Layout) -> dict[str, str] | None:
    """What the name of the base's ``_sysconfigdata`` file says: ABI flags and platform."""
    if layout.interpreter is None or not layout.libraries:
        return None
    base = Path(os.path.realpath(layout.interpreter)).parent.parent
    for library in layout.libraries:
        for path in sorted((base / "lib" / library.folder.name).glob("_sysconfigdata_*.py")):
            found = _BUILD_DATA.fullmatch(path.name)
            if found and found["os"] in {"linux", "darwin", "freebsd", "emscripten", "wasi"}:
                return found.groupdict()
    return None


def _read_conda_python(environment: Path) -> dict[str, str]:
    """Version and build of the package ``python``, from its record's name or, failing that, text.

    python-dateutil and python_abi begin the same: the name is all but the last two parts.
    """
    for path in sorted((environment / "conda-meta").glob("python-*.json")):
        name, _, rest = path.stem.partition("-")
        version, _, build = rest.partition("-")
        if name == "python" and version[:1].isdigit() and "-" not in build:
            return {"version": version, "build": build} if build else _read_record(path)
    return {}


def _read_record(path: Path) -> dict[str, str]:
    text = read_text(path, limit_bytes=16 * 1024 * 1024)
    try:
        record = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return {key: str(record[key]) for key in ("version", "build") if record.get(key)}
