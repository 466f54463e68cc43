# ruff: noqa: INP001, T201
"""The smoke test: short, end to end, the same result each time. Ends with 0 if all is well.

Put your own check in the place of the one below: import what you use, run it once on a tiny input,
and compare what comes out with what has to come out. Seconds, not minutes: a search runs it often.
"""

import importlib.metadata
import sys


def main() -> int:
    """0 if the environment does its work, 1 if not."""
    broken = 0
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if not name or not distribution.version:
            print(f"broken metadata: {distribution}")
            broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
