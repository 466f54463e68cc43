"""``envtrack report``: the whole story as one HTML file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Place, open_context
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import DirectoryOption, LockfileOption, OutputOption
from envtrack.cli.output import Output, Rendering, put_out
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.report.html.page import Page

_MOST_COMMITS = 1000


def report(
    revision: Annotated[
        str, Argument(metavar="REV", help="The revision up to which history is told.")
    ] = "HEAD",
    *,
    number: Annotated[
        int,
        option("--max-count", "-n", metavar="N", help="At most so many commits of the lockfile."),
    ] = _MOST_COMMITS,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    output: OutputOption = None,
) -> None:
    """Write one HTML file that tells the whole story; it needs no network and no script.

    The timeline of layers over commits, any two records compared, searches with their culprits,
    what the policy and the doctor say, and the machines side by side. Everything is read from the
    repository; this machine is not looked at. Secrets and the names of homes are left out.
    """
    if output is None and sys.stdout.isatty():
        raise UsageProblem(
            "an HTML page is nothing for a terminal", hint="`envtrack report --output report.html`"
        )
    if number < 1:
        raise UsageProblem(f"--max-count {number}: at least one commit has to be told")
    from envtrack.report.html.page import render_page

    page = _gather(revision, Place(directory=directory, lockfile=lockfile), number)
    put_out(Rendering.same(render_page(page)), Output(path=output))


def _gather(revision: str, place: Place, most: int) -> "Page":
    from datetime import UTC, datetime

    from envtrack import __version__
    from envtrack.cli.report_gathering import choose_states, diagnose_all, judge_policy
    from envtrack.cli.report_sessions import read_stories
    from envtrack.record.fleet import read_fleet
    from envtrack.record.lanes import read_lanes
    from envtrack.record.states import read_states
    from envtrack.record.timeline import Scope
    from envtrack.report.html.page import Page

    context = open_context(place)
    repository, lockfile = context.repository, context.bench.lockfile
    head = repository.get_commit(revision)
    rules = context.settings.layers
    scope = Scope(lockfile=lockfile, machine="", revisions=(head.hex,), layer_rules=rules)
    searches, search_notes = read_stories(repository)
    stories = tuple(one for one in searches if one.lockfile == lockfile)
    lanes = read_lanes(repository, scope, head, most=most)
    chosen = choose_states(lanes, stories)
    states = read_states(
        repository, chosen, lockfile=lockfile, machines=lanes.machines, layer_rules=rules
    )
    fleet = read_fleet(repository, head.hex, lockfile=lockfile, here=context.bench.here)
    history, policy_notes = judge_policy(repository, head, lanes)
    diagnoses, doctor_notes = diagnose_all(fleet, place)
    return Page(
        project=Path(repository.root).name,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        head=repository.read_commit(head),
        lanes=lanes,
        states=tuple(states),
        stories=stories,
        history=history,
        fleet=fleet,
        diagnoses=diagnoses,
        notes=(*search_notes, *policy_notes, *doctor_notes),
    )
