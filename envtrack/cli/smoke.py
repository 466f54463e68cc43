"""``envtrack smoke``: good or bad, in the environment as it is."""

import json
import shlex
import sys
from typing import Annotated

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
    head = context.repository.find_commit("HEAD")
    judgement = judge(context, text, timeout)
    note = "" if no_record else _record(context, judgement, text, head)
    _put_out(judgement, text, note, Output(format=form, path=output, colour=color))
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


def judge(context: Context, command: str, timeout: str | None) -> Judgement:
    """The verdict of a smoke test in the current environment.

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
    )
    return run_smoke(trial, show=show)


def show(text: str) -> None:
    """Hands on what a command prints, to stderr."""
    sys.stderr.write(text)
    sys.stderr.flush()


def _record(context: Context, judgement: Judgement, command: str, head: Oid | None) -> str:
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
    )
    if isinstance(done, str):
        say(f"not recorded: {done}")
        return ""
    return done.short


def _put_out(judgement: Judgement, command: str, note: str, output: Output) -> None:
    from envtrack.record.verdicts import hide_private
    from envtrack.report.look import Line, Look, render_blocks
    from envtrack.report.plain import show_json, show_markdown

    reason = hide_private(judgement.reason)
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
    }
    rendering = Rendering(
        text=text,
        json=lambda: show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n",
        markdown=lambda: f"**{judgement.verdict}**: {show_markdown(reason + recorded)}\n",
    )
    put_out(rendering, output)
