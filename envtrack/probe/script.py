"""The script that ``git bisect run`` runs: short, plain sh."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Final

from envtrack.config.settings import Stale
from envtrack.probe.plan import Plan, SessionFiles

SKIP: Final = "ENVTRACK_SKIP"
"""Names the exit code for what can't be judged: of 128 or more, so that git stops and we go on."""

_SCRIPT = r"""#!/bin/sh
# envtrack session @ID@: judges the commit that is checked out in the current folder.
# It ends in 0 (good), 1 (bad), 125 (untestable: git skips it) or 128 (the rig failed: git stops),
# and in nothing else. By hand, from the top level of a clean working tree:
#   git bisect start @BAD@ @GOOD@ -- @PATHS@
#   git bisect run @SCRIPT@
session=@SESSION@
smoke=$(cat "$session/smoke") || exit 128
scratch=${ENVTRACK_SCRATCH:-"$session/by-hand"}
top=$(pwd -P)

# `git bisect run` hands on its own GIT_DIR: uv, the smoke test and their git must not see it.
for name in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
unset CONDA_PREFIX PYTHONHOME UV_PROJECT UV_FROZEN UV_LOCKED UV_NO_SYNC UV_WORKING_DIR VIRTUAL_ENV

# Runs a command within the session's limits and kills all that it started when they have passed;
# reads what it said, looks at what it did, keeps the log and the verdict. Prints a verdict's number
# (at once, if this environment with this code was judged before), or how to go on.
step() { @PYTHON@ -m envtrack.probe.step "$session" "$top" "$@"; }
leave() {
    trap - EXIT HUP INT TERM
    case $1 in
    0 | 1) exit "$1" ;;
    # A session that drives the search takes over from git where a commit can't be judged.
    125) exit "${@SKIP@:-125}" ;;
    esac
    step end
    exit 128
}
trap 'leave 128' EXIT HUP INT TERM

# Install, in a fresh environment.
export UV_PROJECT_ENVIRONMENT="$scratch/env" UV_PYTHON_DOWNLOADS="${UV_PYTHON_DOWNLOADS:-never}"
answer=$(step install uv sync @MODE@ @OPTIONS@) || leave 128
@STALE@[ "$answer" = ready ] || leave "$answer"

# Judge.
export VIRTUAL_ENV="$scratch/env" PATH="$scratch/env/bin:$PATH" UV_NO_SYNC=1
answer=$(step judge /bin/sh -c "$smoke") || leave 128
leave "$answer"
"""

_STALE = r"""if [ "$answer" = stale ]; then
    answer=$(step install-stale @COMMAND@ @OPTIONS@) || leave 128
fi
"""

_WHEN_STALE = {
    Stale.SKIP: "",
    Stale.FROZEN: _STALE.replace("@COMMAND@", "uv sync --frozen"),
    # Without either, uv brings the lockfile up to date first.
    Stale.RELOCK: _STALE.replace("@COMMAND@", "uv sync"),
}


def render_script(plan: Plan, files: SessionFiles) -> str:
    """The script of a session, as text."""
    options = ["--no-progress", *plan.selection.as_uv_arguments()]
    options += [f"--python={plan.python}"] if plan.python else []
    values = {
        "SKIP": SKIP,
        "OPTIONS": shlex.join(options),
        # Nothing but the environment of a composed lockfile is tried: no project fits it.
        "MODE": "--frozen" if plan.is_composed else "--locked",
        "ID": plan.id,
        "BAD": plan.bad[:10],
        "GOOD": plan.good[:10],
        # A comment ends with its line, whatever is in a path.
        "PATHS": shlex.join(plan.paths).replace("\n", "?"),
        "SCRIPT": shlex.quote(str(files.script)).replace("\n", "?"),
        "SESSION": shlex.quote(str(files.folder)),
        "PYTHON": shlex.join(_python()),
    }
    text = _SCRIPT.replace("@STALE@", _WHEN_STALE[plan.stale])
    # In one pass, so that a path that looks like a place holder stays a path.
    return re.sub("@([A-Z_]+)@", lambda found: values[found[1]], text)


def _python() -> tuple[str, ...]:
    """Our own interpreter for our own part, deaf to what is set up for the project's.

    ``-P``: a `json.py` in the tree is none of ours. ``-E``: nor one on PYTHONPATH, unless that is
    where envtrack itself was found. UTF-8 mode: paths come back as they went out in any locale.
    """
    home = Path(__file__).resolve().parents[2]
    listed = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    by_path = any(entry and Path(entry).resolve() == home for entry in listed)
    return (sys.executable, "-P", *(() if by_path else ("-E",)), "-X", "utf8")
