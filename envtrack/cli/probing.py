"""The options of all commands that try environments."""

from typing import Annotated

from envtrack.cli.grammar import option
from envtrack.model.verdict import Verdict

SmokeOption = Annotated[
    str | None,
    option(
        "--smoke",
        "-s",
        metavar="COMMAND",
        help="The smoke test, for `sh -c`, run in the lockfile's folder; by default that of "
        "the configuration. 0 is good, 125 can't be tested, 126 and 127 stop the search, all "
        "else is bad.",
    ),
]
SmokeFromOption = Annotated[
    str | None,
    option(
        "--smoke-from",
        metavar="REV",
        help="Take the files that the smoke test names from this revision; `each`: every "
        "commit has its own. By default they are taken from the working tree as it is.",
    ),
]
TimeoutOption = Annotated[
    str | None,
    option("--timeout", metavar="DURATION", help="The smoke test's limit: `90s`, `10m`, `1h`."),
]
TimeoutIsOption = Annotated[
    Verdict | None,
    option("--timeout-is", help="What passing the limit means: bad or untestable."),
]
MatchOption = Annotated[
    str | None,
    option(
        "--match",
        metavar="REGEX",
        help="Only a failure whose output has this is the hunted one; by default it is known by "
        "its exception and place, its failed tests or its signal at the bad end.",
    ),
]
AnyFailureOption = Annotated[
    bool, option("--any-failure", help="Every failure counts, however it fails.")
]
PackageOnlyOption = Annotated[
    bool, option("--package-only", help="Stop at the package; do not go on to its release.")
]
PythonOption = Annotated[
    str | None,
    option("--python", "-p", metavar="REQUEST", help="Hold this Python for all probes: `3.11`."),
]
ExtraOption = Annotated[
    list[str] | None, option("--extra", metavar="NAME", help="Install this extra too.")
]
GroupOption = Annotated[
    list[str] | None, option("--group", metavar="NAME", help="Install this group too.")
]
AllExtrasOption = Annotated[bool, option("--all-extras", help="Install every extra.")]
AllGroupsOption = Annotated[bool, option("--all-groups", help="Install every dependency group.")]
AllPackagesOption = Annotated[
    bool, option("--all-packages", help="Install every member of the workspace.")
]
KeepOption = Annotated[bool, option("--keep", help="Keep the worktree of the search.")]
VerboseOption = Annotated[
    bool, option("--verbose", "-v", help="Show the end of the running probe's log.")
]
