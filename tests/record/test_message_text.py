"""Comments in messages: where they go, whatever git was told about comments."""

from __future__ import annotations

import pytest

from envtrack.record.message_text import add_comments, strip_comments

SCISSORS = "------------------------ >8 ------------------------"
STATUS = "# Please enter the commit message\n#\n# On branch main\n#\n"


def add(text: str, *, comment: str = "#", cleanup: str = "") -> str:
    return add_comments(text, ("What:", "", "Env-Reason: "), comment=comment, cleanup=cleanup)


OURS = "# What:\n#\n# Env-Reason: \n#\n"


def test_an_empty_message_keeps_a_line_to_write_on_and_one_that_parts_it() -> None:
    assert add(f"\n{STATUS}") == f"\n\n{OURS}{STATUS}"


def test_a_message_stands_before_the_comments_with_a_line_between() -> None:
    assert add(f"subject\n\nbody\n\n{STATUS}") == f"subject\n\nbody\n\n{OURS}{STATUS}"


def test_trailers_that_are_there_and_those_to_come_are_one_paragraph() -> None:
    text = f"subject\n\nSigned-off-by: Ada <a@b.example>\n{STATUS}"
    filled = add(text).replace("# Env-Reason: ", "Env-Reason: new")
    assert strip_comments(filled, "#").strip() == (
        "subject\n\nSigned-off-by: Ada <a@b.example>\nEnv-Reason: new"
    )


def test_a_subject_that_looks_like_a_trailer_is_none() -> None:
    assert add(f"fix: it\n\n{STATUS}") == f"fix: it\n\n{OURS}{STATUS}"


def test_a_comment_of_a_template_stays_below_ours() -> None:
    assert add(f"\n# Our house's rules\n{STATUS}") == f"\n\n{OURS}# Our house's rules\n{STATUS}"


def test_the_scissors_of_verbose_stay_below() -> None:
    diff = f"# {SCISSORS}\n# Do not modify\ndiff --git a/x b/x\n+# not a comment\n"
    assert add(f"\n{STATUS}{diff}") == f"\n\n{OURS}{STATUS}{diff}"


def test_where_all_above_the_scissors_is_kept_ours_stand_below() -> None:
    text = f"subject\n\n# {SCISSORS}\n# Do not modify\n# Ignored.\n#\n# On branch main\n"
    added = add(text, cleanup="scissors")
    assert added.startswith(f"subject\n\n# {SCISSORS}\n# Do not modify\n# Ignored.\n#\n# What:\n")
    assert added.endswith("# Env-Reason: \n#\n# On branch main\n")
    assert strip_comments(added, "#") == "subject\n"


@pytest.mark.parametrize("cleanup", ["verbatim", "whitespace"])
def test_nothing_is_added_where_git_keeps_comments(cleanup: str) -> None:
    text = f"subject\n\n{STATUS}"
    assert add(text, cleanup=cleanup) == text


def test_nothing_is_added_where_git_wrote_no_comments() -> None:
    assert add("subject\n\nbody\n") == "subject\n\nbody\n"
    assert add("") == ""


@pytest.mark.parametrize(
    ("setting", "mark"), [(";", ";"), ("auto", ";"), ("auto", "#"), ("//", "//"), ("//", "#")]
)
def test_the_mark_is_the_one_that_git_wrote(setting: str, mark: str) -> None:
    status = STATUS.replace("#", mark)
    text = f"{'# is no comment here' if mark == ';' else 'subject'}\n\n{status}"
    assert add(text, comment=setting) == text.replace(status, OURS.replace("#", mark) + status)


def test_the_mark_is_seen_at_the_scissors() -> None:
    text = f"\n; On branch main\n; {SCISSORS}\n; Do not modify\ndiff\n+line\n"
    assert "; Env-Reason: \n" in add(text, comment="auto")
