"""``envtrack smoke``: good or bad, in the environment as it is."""

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Context, Place, open_context
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    LockfileOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out, say
from envtrack.errors import UsageProblem
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict

if TYPE_CHECKING:
    from envtrack.probe.checks import Report

EXIT_CODES = {
    Verdict.GOOD: 0,
    Verdict.BAD: 1,
    Verdict.DIFFERENT: 3,
    Verdict.UNTESTABLE: 3,
    Verdict.ABORTED: 4,
}
_STYLES = {Verdict.GOOD: "bold green", Verdict.BAD: "bold red"}


# Longer than other functions: each option is a parameter.
def smoke(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="-- COMMAND…", help="A command to run instead of the configured smoke test."
        ),
    ] = None,
    *,
    command: Annotated[
        str | None,
        option("--command", "-c", metavar="TEXT", help="The same as one text for `sh -c`."),
    ] = None,
    timeout: Annotated[
        str | None,
        option(
            "--timeout",
            metavar="TIME",
            help="The limit: 90s, 10m, 1h, or plain seconds; by default the configured one, "
            "or 10 minutes.",
        ),
    ] = None,
    check: Annotated[
        str | None,
        option("--check", metavar="NAME", help="Only the check of this name."),
    ] = None,
    record: Annotated[
        bool,
        option(
            "--record",
            help="Take the values that the smoke test computes for the expected ones, with the "
            "environment they come from.",
        ),
    ] = False,
    no_record: Annotated[bool, option("--no-record", help="Record nothing; only judge.")] = False,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Run the smoke test in the current environment and record its verdict.

    It runs in the lockfile's folder with the environment's programs first on PATH. Exit code 0 is
    good, 125 untestable; 126 and 127 mean that it could not run; anything else, a signal
    too, is bad. The verdict becomes a note on HEAD (`refs/notes/envtrack`) if the lockfile in
    the working tree is the one of HEAD.

    The command itself ends with 0 (good), 1 (bad), 3 (untestable) or 4 (could not run).
    """
    context = open_context(Place(directory=directory, lockfile=lockfile))
    text = choose_command(words or [], command, context)
    if check is not None:
        from envtrack.probe.checks import ask_for_one

        text = ask_for_one(text, check)
    head = context.repository.find_commit("HEAD")
    with tempfile.TemporaryDirectory(prefix="envtrack-report-") as scratch:
        path = Path(scratch) / "report.json"
        judgement = judge(context, text, timeout, report=path, is_recording=record)
        report = _read_report(path)
    if record:
        _write_expected(context, judgement, report)
    note = "" if no_record else _record(context, judgement, text, head, report)
    _put_out(judgement, text, note, report, Output(format=form, path=output, colour=color))
    raise SystemExit(EXIT_CODES[judgement.verdict])


def choose_command(words: list[str], command: str | None, context: Context) -> str:
    """The smoke test that is meant, for ``sh -c``.

    Raises:
        UsageProblem: it is said twice, or nowhere.
    """
    if words and command is not None:
        raise UsageProblem("--command and a command after `--` exclude each other")
    text = shlex.join(words) if words else (command or context.settings.smoke.command)
    if not text.strip():
        raise UsageProblem(
            "no smoke test is configured",
            hint="`envtrack init --smoke plain` writes one; or say it: `envtrack smoke -- COMMAND`",
        )
    return text


def judge(
    context: Context,
    command: str,
    timeout: str | None,
    *,
    report: Path | None = None,
    is_recording: bool = False,
) -> Judgement:
    """The verdict of a smoke test in the current environment.

    Args:
        context: where.
        command: for ``sh -c``.
        timeout: the limit as the user said it; ``None``: the configured one.
        report: where it says what its checks came to.
        is_recording: whether it takes its values for the expected ones.

    Raises:
        UsageProblem: `timeout` is no time.
    """
    from envtrack.config.durations import EXPECTED, parse_duration
    from envtrack.record.smoke import Trial, run_smoke

    settings, bench = context.settings.smoke, context.bench
    timeout_s = settings.timeout_s if timeout is None else parse_duration(timeout)
    if timeout_s is None:
        raise UsageProblem(f"--timeout: expected {EXPECTED}, not `{timeout}`")
    trial = Trial(
        command=command,
        timeout_s=timeout_s,
        timeout_is=settings.timeout_is,
        folder=bench.lockfile_folder,
        environment=bench.find_environment(),
        environ=bench.environ,
        report=report,
        is_recording=is_recording,
    )
    return run_smoke(trial, show=show)


def show(text: str) -> None:
    """Hands on what a command prints, to stderr."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _read_report(path: Path) -> "Report | None":
    from envtrack.probe.checks import read_report

    return read_report(path)


def _write_expected(context: Context, judgement: Judgement, report: "Report | None") -> None:
    """Puts the values beside the smoke test.

    Raises:
        UsageProblem: it has no named values, or is not good.
    """
    from envtrack.files import write_whole
    from envtrack.record.setting_up import EXPECTED

    if judgement.verdict is not Verdict.GOOD:
        raise UsageProblem(f"nothing is recorded: {judgement.reason}")
    if report is None or not report.values:
        raise UsageProblem(
            "nothing is recorded: this smoke test reports no values",
            hint="`envtrack init --smoke torch` writes one that does",
        )
    document = {
        "schema": 1,
        "environment": report.environment,
        "values": report.values,
    }
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(context.repository.root / EXPECTED, text)
    say(f"wrote {EXPECTED}: commit it, and list it under `smoke: files:` in .envtrack/config.yaml")


def _record(
    context: Context,
    judgement: Judgement,
    command: str,
    head: Oid | None,
    report: "Report | None",
) -> str:
    """The short name of the commit that carries the verdict; empty where none does."""
    from envtrack.compare.records import list_misfits, say_misfits
    from envtrack.record.operands import read_now
    from envtrack.record.verdicts import record_verdict

    now = read_now(context.bench)
    misfits = list_misfits(now)
    if misfits:
        said = say_misfits(context.bench.lockfile, misfits)
        say(f"not recorded: {said}; `uv sync` puts it right")
        return ""
    done = record_verdict(
        context.repository,
        judgement,
        head=head,
        machine=context.bench.here,
        lockfile=context.bench.lockfile,
        command=command,
        checks=None if report is None else {one.name: one.verdict for one in report.checks},
    )
    if isinstance(done, str):
        say(f"not recorded: {done}")
        return ""
    return done.short


def _put_out(
    judgement: Judgement, command: str, note: str, report: "Report | None", output: Output
) -> None:
    from envtrack.record.verdicts import hide_private
    from envtrack.report.look import Line, Look, render_blocks
    from envtrack.report.plain import show_json, show_markdown

    reason = hide_private(judgement.reason)
    checks = () if report is None else report.checks
    turned = [check.name for check in checks if check.verdict == "bad"]
    reason += f" (checks: {', '.join(turned)})" if turned else ""
    recorded = f"; recorded on {note}" if note else ""

    def text(look: Look) -> str:
        line = f"{judgement.verdict}: {reason}{recorded}"
        return render_blocks([Line(line, _STYLES.get(judgement.verdict, "bold yellow"))], look)

    document = {
        "schema": 1,
        "kind": "verdict",
        "verdict": judgement.verdict,
        "reason": reason,
        "exit_code": judgement.exit_code,
        "command": hide_private(command),
        "recorded_on": note or None,
        "checks": [{**check._asdict(), "said": hide_private(check.said)} for check in checks],
        "environment": {} if report is None else report.environment,
    }
    rendering = Rendering(
        text=text,
        json=lambda: show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n",
        markdown=lambda: f"**{judgement.verdict}**: {show_markdown(reason + recorded)}\n",
    )
    put_out(rendering, output)
