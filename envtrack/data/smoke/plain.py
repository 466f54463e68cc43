# mypy: ignore-errors
"""The smoke test: short, end to end, the same result each time. Ends with 0 if all is well.

Put your own checks in the place of these: import what you use, run it once on a tiny input, and
compare what comes out with what has to come out. Seconds, not minutes: a search runs it often.
"""

import importlib.metadata
import json
import os
import platform
import sys
import time
import traceback
from pathlib import Path

ENVIRONMENT = {"python": platform.python_version()}


def metadata():
    """Every installed distribution says its name and version."""
    broken = [one for one in importlib.metadata.distributions() if not one.metadata["Name"]]
    assert not broken, f"broken metadata: {broken}"


CHECKS = (metadata,)
