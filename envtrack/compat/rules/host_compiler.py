"""The host compiler against what nvcc accepts."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.stack import HostCompiler, Stack
from envtrack.compat.tables import Compilers, Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    nvcc = stack.toolchain.nvcc
    if nvcc.value is None:
        yield Nothing("there is no nvcc, and running needs none" if nvcc.is_absent else nvcc.why)
        return
    for host in stack.toolchain.hosts:
        opinion = _judge_host(host, nvcc.value, tables)
        if opinion.fit is Fit.MISFIT and stack.toolchain.allows_unsupported:
            reason = f"{opinion.reason}; it is told to try (-allow-unsupported-compiler)"
            yield Opinion(
                compared=opinion.compared, fit=Fit.LIMITED, reason=reason, cited=opinion.cited
            )
        else:
            yield opinion


def _judge_host(host: HostCompiler, nvcc: Numbers, tables: Tables) -> Opinion:
    compared = f"{host} against what nvcc {nvcc} accepts"
    version = host.version.value
    if version is None or host.kind not in {"gcc", "clang"}:
        reason = host.version.why or f"{host.command} is neither gcc nor clang"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    rows = [row for row in tables.compilers if row.nvcc.series == nvcc.series]
    if not rows:
        reason = f"nvcc {nvcc} is not in the tables"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    return _judge_rows(compared, host.kind, version, rows)


def _judge_rows(compared: str, kind: str, version: Numbers, rows: list[Compilers]) -> Opinion:
    """Several rows are patch releases that differ; nvcc does not say which one it is."""
    spans = [(row, row.gcc if kind == "gcc" else row.clang) for row in rows]
    taking = [row for row, (first, last) in spans if first <= version.major <= last]
    first, last = spans[-1][1]
    cited = (spans[-1][0].cited,)
    if len(taking) == len(rows):
        reason = f"it accepts {kind} {first} to {last}"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=cited)
    if taking:
        reason = f"only some patch releases of this nvcc accept {kind} {version.major}"
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason, cited=cited)
    if version.major < first:
        return Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=f"it accepts {kind} from {first} on",
            remedy=f"{kind} {first} to {last}",
            command=_say_command(kind, last),
            cited=cited,
        )
    return Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"it accepts {kind} up to {last} (“unsupported GNU version”)"
        if kind == "gcc"
        else f"it accepts {kind} up to {last}",
        remedy=f"build with {kind} {last} or older, or with a newer toolkit",
        command=_say_command(kind, last),
        cited=cited,
    )


def _say_command(kind: str, major: int) -> str:
    plus = "g++" if kind == "gcc" else "clang++"
    return f"export CC={kind}-{major} CXX={plus}-{major}"


RULE = Rule(
    name="host-compiler",
    purpose=Purpose.BUILDING,
    compares="gcc or clang (by CC, CXX, CUDAHOSTCXX, -ccbin, PATH) against what nvcc accepts",
    facts=(
        "toolchain.nvcc.release",
        "toolchain.gcc.version",
        "toolchain.gxx.version",
        "toolchain.cc.version",
        "toolchain.cxx.version",
        "toolchain.cudahostcxx.version",
        "toolchain.nvcc-ccbin.version",
        "settings.NVCC_APPEND_FLAGS",
    ),
    judge=_judge,
)
