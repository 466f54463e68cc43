"""Random histories with one planted culprit, and commits that can't be tested, by fixed seeds."""

from __future__ import annotations

import random

import pytest

from tests.bisect.conftest import Make
from tests.support.history import Script, project_text


def random_script(chance: random.Random) -> tuple[Script, str]:
    """A linear history with one planted culprit, and what it is called."""
    script = Script().add("good", "1.0")
    length, by_code = 9, chance.random() < 0.4
    guilty = chance.randrange(1, length if by_code else length + 1)
    fresh = {major: iter(range(1, 16)) for major in "123"}
    locked, code = "1.0", 0
    for number in range(1, length + 1):
        name = f"n{number}"
        if number == guilty and by_code:
            code = 1
            script.add(name, code=1)
            continue
        major = "2" if number >= guilty and not by_code else "1"
        kind = (
            "lock"
            if number in {guilty, length}
            else chance.choice(["lock", "code", "skip", "stale"])
        )
        if number == length or kind == "lock":
            locked = f"{major}.{next(fresh[major])}"
            script.add(name, locked)
        elif kind == "skip":
            locked = f"3.{next(fresh['3'])}"
            script.add(name, locked)
        elif kind == "stale":
            locked = f"{major}.{next(fresh[major])}"
            wrong = project_text(locked).replace('">=3.11"', '">=3.10"')
            script.add(name, locked, files={"pyproject.toml": wrong})
        else:
            script.add(name, code=code)
    return script, f"n{guilty}"


@pytest.mark.parametrize("seed", range(3))
def test_random_histories_never_get_a_wrong_unqualified_answer(make: Make, seed: int) -> None:
    script, guilty = random_script(random.Random(seed))
    bench = make(script)
    answer = bench.find_all("good", f"n{len(script.commits) - 1}")
    if answer["outcome"] == "found":
        assert bench.culprit(answer) == guilty
    else:
        assert guilty in bench.possible(answer)
        assert "good" not in bench.possible(answer)
