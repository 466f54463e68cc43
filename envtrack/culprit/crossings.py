"""What two crossings say: the old code in the new environment, and the new code in the old one."""

from __future__ import annotations

from envtrack.culprit.said import Said
from envtrack.model.attribution import Attribution

_TABLE = {
    (Said.FAILS, Said.PASSES): Attribution.ENVIRONMENT,
    (Said.PASSES, Said.FAILS): Attribution.CODE,
    (Said.FAILS, Said.FAILS): Attribution.EITHER,
    (Said.PASSES, Said.PASSES): Attribution.BOTH,
}


def attribute(*, environment_alone: Said, code_alone: Said) -> Attribution:
    """What is to blame for a commit that fails, with a predecessor that passes.

    Args:
        environment_alone: the old code in the new environment.
        code_alone: the new code in the old environment.
    """
    return _TABLE.get((environment_alone, code_alone), Attribution.UNKNOWN)
