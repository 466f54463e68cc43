"""``envtrack hooks``: the git hooks that record this machine beside each lockfile commit."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Place, open_here
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import DirectoryOption

if TYPE_CHECKING:
    from envtrack.git.hooks import HookChange, HooksFolder
    from envtrack.git.hooks_status import HookStatus
    from envtrack.git.hooks_trial import Trial

SCHEMA = 1


class StatusFormat(StrEnum):
    """The forms of ``hooks status``."""

    TEXT = "text"
    JSON = "json"


def install(
    force: Annotated[
        bool,
        option(
            "--force",
            help="Also write into a hooks folder outside the repository, which others may share.",
        ),
    ] = False,
    pre_push: Annotated[
        bool,
        option("--pre-push", help="Also judge the commits of each push by the upgrade policy."),
    ] = False,
    files: Annotated[
        bool,
        option(
            "--files",
            help="Write files into the hooks folder also where git (2.54 and newer) runs hooks of "
            "its configuration: an older git, as in a graphical client, runs no others.",
        ),
    ] = False,
    directory: DirectoryOption = None,
) -> None:
    """Put the hooks where git looks for them; hooks that are there are kept and run too."""
    from envtrack.git.hooks import find_hooks_folder
    from envtrack.git.hooks_install import put_hooks

    repository = open_here(Place(directory=directory))
    changes = put_hooks(
        repository,
        interpreter=sys.executable,
        by_files=files,
        force=force,
        with_push=pre_push,
    )
    _print_changes(changes)
    folder = find_hooks_folder(repository)
    is_file = any(change.path.parent == folder.path for change in changes)
    if folder.setting and is_file and not folder.is_outside:
        print(f"{folder.path} is in the working tree: the hooks name a Python of this machine only")


def uninstall(directory: DirectoryOption = None) -> None:
    """Take the hooks away and put back what was there before, byte for byte."""
    from envtrack.git.hooks_install import take_hooks

    _print_changes(take_hooks(open_here(Place(directory=directory))))


def status(
    form: Annotated[
        StatusFormat, option("--format", "-f", help="The form of the result.")
    ] = StatusFormat.TEXT,
    directory: DirectoryOption = None,
) -> None:
    """Say where git looks for hooks and whether ours work: they are tried by a commit.

    The commit is made in a repository that is thrown away, with this one's configuration: once with
    your PATH, and once with that of a graphical client. Hooks of others are not started.

    Exit code 1: git would not run them all, or they do not record.
    """
    from envtrack.git.hooks import find_hooks_folder
    from envtrack.git.hooks_status import HookState, read_hooks_status, try_commits

    repository = open_here(Place(directory=directory))
    folder = find_hooks_folder(repository)
    hooks = read_hooks_status(repository)
    trials = try_commits(repository, hooks)
    match form:
        case StatusFormat.TEXT:
            print(render_status_text(folder, hooks, trials), end="")
        case StatusFormat.JSON:
            print(render_status_json(folder, hooks, trials), end="")
    is_whole = all(hook.state is HookState.INSTALLED for hook in hooks)
    if not is_whole or not all(trial.works for trial in trials):
        raise SystemExit(1)


def run(
    name: Annotated[str, Argument(metavar="HOOK")],
    given: Annotated[
        list[str] | None, Argument(metavar="ARGUMENT", help="What git passes to the hook.")
    ] = None,
) -> None:
    """What a hook does, for a line in a hook of your own; only a broken policy makes it fail."""
    from envtrack.record.hook import main

    code = main([name, *(given or ())])
    if code:
        raise SystemExit(code)


def render_status_text(
    folder: "HooksFolder", hooks: tuple["HookStatus", ...], trials: tuple["Trial", ...]
) -> str:
    """A line where git looks, one a hook with what has to be known about it, one a trial."""
    because = f" (core.hooksPath = {folder.setting})" if folder.setting else ""
    lines = [f"git looks in {folder.path}{because}"]
    for hook in hooks:
        lines.append(f"{hook.name:<18} {hook.state}")
        if hook.legacy is not None:
            lines.append(f"{'':<18} the hook from before is kept in {hook.legacy.name}")
        if hook.remark:
            lines.append(f"{'':<18} {hook.remark}")
    lines += [_describe_trial(trial, trials[0]) for trial in trials]
    return "\n".join([*lines, ""])


def _describe_trial(trial: "Trial", first: "Trial") -> str:
    said = f": {trial.said}" if trial.said else ""
    verdict = f"works{said}" if trial.works else f"does not record{said}"
    if trial is first:
        return f"tried by a commit in a throw-away repository: {verdict}"
    if first.works and not trial.works:
        verdict = f"PATH too small{said}"
    return f"tried as a graphical client has it, PATH={trial.path}: {verdict}"


def render_status_json(
    folder: "HooksFolder", hooks: tuple["HookStatus", ...], trials: tuple["Trial", ...]
) -> str:
    """The status as JSON, schema 1; paths that are no UTF-8 come as escapes."""
    document = {
        "schema": SCHEMA,
        "kind": "hooks",
        "folder": str(folder.path),
        "core.hooksPath": folder.setting or None,
        "outside": folder.is_outside,
        "hooks": [
            {
                "name": hook.name,
                "path": str(hook.path),
                "state": hook.state.value,
                "legacy": _text(hook.legacy),
                "remark": hook.remark,
            }
            for hook in hooks
        ],
        "trials": [trial._asdict() for trial in trials],
    }
    return json.dumps(document, indent=2) + "\n"


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _print_changes(changes: tuple["HookChange", ...]) -> None:
    for change in changes:
        print(f"{change.name:<18} {change.action}: {change.path}")
        if change.remark:
            print(f"{'':<18} {change.remark}")
