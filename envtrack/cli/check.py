"""``envtrack check``: the upgrade policy on a commit, a range, or what is staged."""

import os
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import ColourOption, DirectoryOption, OutputOption
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out
from envtrack.errors import CommandFailed, UsageProblem

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.breach import Judged


class CheckFormat(StrEnum):
    """The forms of ``check``."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"
    GITLAB = "gitlab"


# Longer than other functions: each option is a parameter.
def check(
    revision: Annotated[
        str | None,
        Argument("REVISION", "A commit, or a range such as main..HEAD; by default what is staged."),
    ] = None,
    *,
    staged: Annotated[
        bool, option("--staged", help="What the next commit will do: for pre-commit.")
    ] = False,
    message: Annotated[
        Path | None,
        option(
            "--message",
            metavar="FILE",
            help="The next commit's message, for commit-msg: with it the rules are judged that a "
            "trailer can answer.",
        ),
    ] = None,
    directory: DirectoryOption = None,
    form: Annotated[
        CheckFormat, option("--format", "-f", help="The form of the result.")
    ] = CheckFormat.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Judge changes of lockfiles by the repository's upgrade policy.

    The rules stand in `.envtrack/policies/*.yaml`; without one the default policy holds: one layer
    at a time, no credentials in a lockfile, no rebuilt release. Of a range the policy of its older
    end counts, so that no range loosens its own rules.

    Exit code 1: a rule is broken that counts; 2: the policy itself is wrong.
    """
    if revision is not None and (staged or message is not None):
        raise UsageProblem("a revision, or what is staged: not both")
    from envtrack.git.repository import open_repository

    folder = (Path.cwd() / (directory or "")).resolve()
    repository = open_repository(folder, dict(os.environ))
    if revision is None:
        judged = _check_staged(repository, message)
    else:
        judged = _check_commits(repository, revision)
    _put_out(judged, form, output, color)
    if judged.is_broken:
        raise SystemExit(1)


def _check_staged(repository: "Repository", message: Path | None) -> "Judged":
    from envtrack.record.check import check_staged

    if repository.is_bare:
        raise UsageProblem("a bare repository has nothing staged", hint="`envtrack check OLD..NEW`")
    text = None if message is None else _read_message(message)
    return check_staged(repository, message=text)


def _read_message(path: Path) -> str:
    try:
        return path.read_text("utf-8", "backslashreplace")
    except OSError as error:
        raise UsageProblem(f"{path}: can't be read: {error.strerror}") from error


def _check_commits(repository: "Repository", revision: str) -> "Judged":
    from envtrack.git.steps import list_range
    from envtrack.record.check import judge, make_case
    from envtrack.record.policy_files import read_policies_at, read_settings_at
    from envtrack.record.policy_steps import read_commit_steps

    if revision.startswith("-"):
        raise UsageProblem(f"`{revision}` is no revision")
    older, dots, newer = revision.partition("..")
    if revision.count("...") or not (newer or not dots):
        raise UsageProblem(f"`{revision}`: a range is OLD..NEW")
    end = repository.get_commit(newer if dots else revision)
    start = repository.get_commit(older) if dots else repository.find_commit(f"{end.hex}^")
    settings = read_settings_at(repository, end)
    case = make_case(repository, settings)
    try:
        span = f"{start.hex}..{end.hex}" if dots and start else end.hex
        commits = list_range(repository, span, case.pathspecs)
    except CommandFailed as error:
        raise UsageProblem(f"{revision}: git knows no such range") from error
    steps = [step for commit in commits for step in read_commit_steps(case, commit)]
    today = datetime.now(UTC).date()
    return judge(read_policies_at(repository, start, end), steps, today=today)


def _put_out(judged: "Judged", form: CheckFormat, path: Path | None, colour: Colour) -> None:
    from envtrack.report import check as report

    others = {
        CheckFormat.GITHUB: report.render_check_github,
        CheckFormat.GITLAB: report.render_check_gitlab,
    }
    if form in others:
        rendering = Rendering.same(others[form](judged))
        shape = Format.TEXT
    else:
        rendering = Rendering(
            text=lambda look: report.render_check_text(judged, look),
            json=lambda: report.render_check_json(judged),
            markdown=lambda: report.render_check_markdown(judged),
        )
        shape = Format(form.value)
    put_out(rendering, Output(format=shape, path=path, colour=colour))
    sys.stdout.flush()
