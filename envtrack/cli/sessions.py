"""``envtrack bisect resume|status|log|show|script``: searches that were begun."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.cli.bisect import SessionArgument
from envtrack.cli.context import Place, open_here
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output
from envtrack.cli.probing import VerboseOption
from envtrack.cli.running import run_to_answer
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.probe.plan import SessionFiles


def resume(
    session: SessionArgument = "",
    verbose: VerboseOption = False,
    directory: DirectoryOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Go on with a search that was stopped; no finished probe is run again."""
    from envtrack.bisect.session import clean_up_after_others, find_session

    repository = open_here(Place(directory=directory))
    files = find_session(repository, session, unfinished=True)
    clean_up_after_others(repository)
    shape = Output(format=form, path=output, colour=color, is_full=full)
    run_to_answer(repository, files, shape, is_verbose=verbose)


def status(session: SessionArgument = "", directory: DirectoryOption = None) -> None:
    """Show where a search stands."""
    from envtrack.probe.plan import read_plan
    from envtrack.probe.store import Store

    files = _find(session, directory)
    plan = read_plan(files)
    seen = Store(files.store).list(plan.id)
    judged = [one for one in seen if one.judgement and one.judgement.verdict != "aborted"]
    running = sum(1 for one in seen if one.judgement is None)
    print(f"session {plan.id}")
    print(f"  good {plan.good[:10]}  bad {plan.bad[:10]}  lockfile {plan.lockfile}")
    print(f"  smoke test: {plan.smoke}")
    print(f"  {len(judged)} commits judged, {running} under way")
    if files.answer.exists():
        print(f"  finished: {json.loads(files.answer.read_text())['message']}")
    elif _is_running(files):
        print("  running")
    else:
        print(f"  stopped: `envtrack bisect resume {plan.id}` goes on")
    print(f"  {files.folder}")


def log(session: SessionArgument = "", directory: DirectoryOption = None) -> None:
    """Show every verdict of a search with its reason and log, then git's own replayable log."""
    from envtrack.probe.plan import read_plan
    from envtrack.probe.store import Store

    files = _find(session, directory)
    for seen in Store(files.store).list(read_plan(files).id):
        verdict = seen.judgement.verdict if seen.judgement else "running"
        reason = seen.judgement.reason if seen.judgement else ""
        if seen.same_as is not None:
            reason = f"the same environment and code as {seen.same_as.short}"
        print(f"{seen.commit.hex} {verdict:<10} {seen.seconds:7.1f} s  {reason}")
        if seen.log:
            print(f"    {seen.log}")
    if files.bisect_log.exists():
        print(files.bisect_log.read_text("utf-8", "backslashreplace"), end="")


def show(
    session: SessionArgument = "",
    directory: DirectoryOption = None,
    form: FormatOption = Format.TEXT,
) -> None:
    """Show the answer of a finished search."""
    files = _find(session, directory)
    if not files.answer.exists():
        raise UsageProblem(
            f"session {files.folder.name} has no answer yet",
            hint=f"`envtrack bisect resume {files.folder.name}` goes on",
        )
    kept = {
        Format.TEXT: files.answer_text,
        Format.JSON: files.answer,
        Format.MARKDOWN: files.answer_markdown,
    }
    print(kept[form].read_text("utf-8"), end="")


def script(session: SessionArgument = "", directory: DirectoryOption = None) -> None:
    """Print the script that `git bisect run` runs."""
    files = _find(session, directory)
    print(files.script.read_text("utf-8"), end="")


def _find(session: str, directory: Path | None) -> "SessionFiles":
    from envtrack.bisect.session import find_session

    return find_session(open_here(Place(directory=directory)), session)


def _is_running(files: "SessionFiles") -> bool:
    from envtrack.errors import RigFailed
    from envtrack.files import lock_file

    try:
        with lock_file(files.lock, wait_s=0, busy="running"):
            return False
    except RigFailed:
        return True
