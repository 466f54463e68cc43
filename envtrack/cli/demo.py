"""``envtrack demo``: the main job on the bundled example, from nothing, in seconds."""

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

from envtrack.cli.grammar import option
from envtrack.cli.options import ColourOption, FormatOption, OutputOption
from envtrack.cli.output import Colour, Format, Output, say
from envtrack.errors import UsageProblem


def demo(
    keep: Annotated[
        Path | None,
        option(
            "--keep",
            metavar="FOLDER",
            help="Build the example in this new folder and leave it there.",
        ),
    ] = None,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Build the bundled example in a temporary folder and find what broke it; needs no network."""
    from envtrack.cli.running import catch_signals

    catch_signals()
    if keep is not None and keep.exists():
        raise UsageProblem(f"{keep}: is there already", hint="name a folder that does not exist")
    scratch = Path(keep.absolute() if keep else tempfile.mkdtemp(prefix="envtrack-demo-"))
    try:
        _run(scratch, Output(format=form, path=output, colour=color), is_kept=keep is not None)
    finally:
        if keep is None:
            shutil.rmtree(scratch, ignore_errors=True)


def _run(scratch: Path, shape: Output, *, is_kept: bool) -> None:
    from envtrack.bisect.demo import SMOKE, bisect_example, build_example, seal
    from envtrack.cli.progress import Progress
    from envtrack.cli.running import put_out_answer
    from envtrack.git.repository import open_repository

    started = time.monotonic()
    environ = seal(os.environ, scratch)
    example = build_example(scratch, environ)
    say(
        f"built {example.folder}: {example.commits} commits, {example.lock_commits} of them on "
        f"uv.lock ({time.monotonic() - started:.1f} s)"
    )
    say(f"envtrack bisect {example.good} --smoke '{SMOKE}'")
    progress = Progress(open_repository(example.folder, environ), is_verbose=False)
    try:
        answer = bisect_example(example, environ, watcher=progress, told=progress.names)
    finally:
        progress.finish()
    put_out_answer(answer, shape)
    kept = f"kept: {example.folder}" if is_kept else "removed again; `--keep FOLDER` keeps it"
    say(f"all of it took {time.monotonic() - started:.1f} s; the example is {kept}")
    if answer.outcome.exit_code:
        raise SystemExit(answer.outcome.exit_code)
