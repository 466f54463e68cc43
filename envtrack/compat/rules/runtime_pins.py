"""The ``nvidia-*`` packages against what the installed torch requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.readings import read_text
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Cited, Tables
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.model.finding import Fit, Purpose

_PIN = "framework.torch.pins."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pin:
    """One package that torch requires, and in which version."""

    package: str
    wanted: Numbers
    cited: Cited | None = None


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    torch = stack.torch
    if torch.version.value is None:
        yield Nothing(torch.version.why)
    elif torch.cuda.is_absent:
        yield Nothing("torch was built without CUDA")
    elif torch.version.is_planned:
        yield Nothing("what the planned torch requires is installed with it")
    else:
        yield from _judge_pins(stack, tuple(_find_pins(stack, tables)))


def _find_pins(stack: Stack, tables: Tables) -> Iterator[_Pin]:
    """By its own metadata; by the tables for the default build where that is not recorded."""
    names = [name for name in stack.facts if name.startswith(_PIN)]
    for name in sorted(names):
        text = read_text(stack.facts, name).value or ""
        wanted = parse_numbers(text.removeprefix("=="))
        package = name.removeprefix(_PIN)
        if text.startswith("==") and "*" not in text and wanted and package.startswith("nvidia-"):
            yield _Pin(package=package, wanted=wanted)
    release = tables.find_release(stack.torch.release)
    is_default = release is not None and stack.torch.tag in {"", release.default}
    if names or release is None or not is_default or stack.is_condas_torch:
        return
    for component, wanted in release.pins.items():
        major = stack.torch.cuda.value.major if stack.torch.cuda.value else 0
        for package in (f"nvidia-{component}-cu{major}", f"nvidia-{component}"):
            if package in stack.packages:
                yield _Pin(package=package, wanted=wanted, cited=release.cited)


def _judge_pins(stack: Stack, pins: tuple[_Pin, ...]) -> Iterator[Answer]:
    name = f"torch {stack.torch.version.value}"
    if not pins:
        yield Nothing(f"no requirement of {name} on an nvidia-* package is known")
        return
    opinions = [one for pin in pins if (one := _judge_pin(stack, name, pin))]
    yield from opinions
    if not opinions:
        compared = f"{len(pins)} nvidia-* packages against what {name} requires"
        cited = tuple({pin.cited: None for pin in pins if pin.cited})
        yield Opinion(compared=compared, fit=Fit.FITS, reason="each is as required", cited=cited)


def _judge_pin(stack: Stack, name: str, pin: _Pin) -> Opinion | None:
    text = stack.find_version(pin.package)
    found = parse_numbers(text)
    cited = (pin.cited,) if pin.cited else ()
    if found == pin.wanted:
        return None
    compared = f"{pin.package} {text or 'not there'} against {pin.wanted}, required by {name}"
    if found is None:
        return _judge_missing(stack, compared, cited)
    if found.major != pin.wanted.major:
        fit, reason = Fit.MISFIT, "another major version has other file names: it is not found"
    elif found < pin.wanted:
        fit, reason = Fit.MISFIT, "an older library lacks symbols that torch was linked with"
    else:
        fit = Fit.LIMITED
        reason = "a newer one of the same major mostly works, and nobody tested it with this torch"
    return Opinion(
        compared=compared,
        fit=fit,
        reason=reason,
        remedy=f"install {pin.package} {pin.wanted}",
        command=_say_command(stack, pin),
        cited=cited,
    )


def _judge_missing(stack: Stack, compared: str, cited: tuple[Cited, ...]) -> Opinion | None:
    """Conda and system packages bring CUDA under other names."""
    if not stack.are_installed or "torch" not in stack.packages or stack.is_condas_torch:
        return None
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason="torch loads it from this package",
        remedy="install the environment anew",
        command="uv sync --reinstall-package torch",
        cited=cited,
    )


def _say_command(stack: Stack, pin: _Pin) -> str:
    locked: Mapping[str, str | None] = {p.name: p.version for p in stack.locked or ()}
    if parse_numbers(locked.get(pin.package) or "") == pin.wanted:
        return "uv sync"
    return f'uv pip install "{pin.package}=={pin.wanted}"'


RULE = Rule(
    name="runtime-pins",
    purpose=Purpose.RUNNING,
    compares="the nvidia-* packages against the versions that the installed torch requires",
    facts=("framework.torch.pins.<package>", "framework.torch.version", "installed: nvidia-*"),
    judge=_judge,
)
