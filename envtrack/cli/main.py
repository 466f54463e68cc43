"""The one boundary: every way a command can end becomes an exit code and at most a few lines."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from envtrack.errors import EnvtrackError

_INTERRUPTED = 130
_CRASHED = 4
_BROKEN_PIPE = 128 + 13  # as a shell tells of SIGPIPE
# A command makes many small values and few circles: looking for those takes a tenth of its time.
_GC_THRESHOLD = 50_000


def run() -> None:
    """Console script: runs the command line and ends the process with its exit code."""
    gc.set_threshold(_GC_THRESHOLD)
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """The exit code of a command line.

    0 done; 1 found, and it is bad; 2 wrong usage or bad input; 3 inconclusive; 4 the rig failed
    (an unexpected error included); 130 interrupted. With ``--debug`` an error shows its traceback.
    """
    _survive_odd_terminals()
    if list(arguments) in (["--version"], ["-V"]):
        from envtrack import __version__

        print(f"envtrack {__version__}")
        return 0
    debug = "--debug" in arguments
    try:
        return _call(arguments)
    except EnvtrackError as error:
        if debug:
            raise
        say_error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        say_error("interrupted", "")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:
        if debug:
            raise
        from envtrack.cli.crash import write_crash_log

        path = write_crash_log(error, arguments)
        say_error(f"unexpected error: {error!r}", f"the log {path} is ready for a bug report")
        return _CRASHED


def say_error(message: str, hint: str) -> None:
    """One line on stderr, and one for the hint if there is one."""
    print(f"envtrack: {message}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)


def _call(arguments: Sequence[str]) -> int:
    try:
        if not _run_plainly([word for word in arguments if word != "--debug"]):
            from envtrack.cli.app import run_with_typer

            run_with_typer(list(arguments))
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0


def _run_plainly(words: Sequence[str]) -> bool:
    """Runs a line that needs no Typer; whether it was one."""
    from envtrack.cli.commands import find_command

    if words and words[0] in {"-h", "--help"}:
        from envtrack.cli.overview import render_overview

        sys.stdout.write(render_overview())
        return True
    found = None if _is_completing() else find_command(tuple(words))
    if found is None:
        return False
    from envtrack.cli.quick import read_quickly

    command, rest = found
    function = command.load()
    values = read_quickly(function, rest)
    if values is None:
        return False
    function(**values)
    return True


def _is_completing() -> bool:
    """Whether a shell asks for completions: Typer answers it."""
    return "_ENVTRACK_COMPLETE" in os.environ


def _survive_odd_terminals() -> None:
    r"""A terminal that knows no UTF-8 shows ``\u2192`` instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
