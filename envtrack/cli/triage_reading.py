"""What both ways to triage share: the rules in force, the evidence, the forms of the result."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envtrack.cli.context import Place, open_here
from envtrack.cli.output import Rendering
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.triage.findings import Triage
    from envtrack.triage.rules import RuleBook


def read_book(root: Path | None) -> "RuleBook":
    """The rules for error messages.

    Args:
        root: the repository's top level; ``None``: outside of any.

    Raises:
        RigFailed: the installation is incomplete.
        ConfigProblem: a file of the repository says what it may not say.
    """
    from envtrack.config.triage_rules import describe_triage_rules, list_triage_files
    from envtrack.triage.rules import RuleBook, parse_rules

    documents = _read_shipped()
    if root is not None:
        documents += describe_triage_rules(list_triage_files(root))
    rules = {rule.id: rule for document in documents for rule in parse_rules(document)}
    return RuleBook(rules=tuple(rules.values()))


def _read_shipped() -> list[Mapping[str, Any]]:
    import yaml

    from envtrack.resources import find_resource

    # Ours are tested; eight times faster where PyYAML was built with libyaml, as its wheels are.
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    files = sorted(find_resource("triage").glob("*.yaml"))
    return [yaml.load(file.read_text(encoding="utf-8"), loader) for file in files]  # noqa: S506 - both are safe loaders


def look(found: "Triage", place: Place, *, is_probed: bool) -> "Triage":
    """The same with the evidence that this machine gives."""
    if not is_probed or found.root is None:
        return found
    from envtrack.cli.triage_evidence import add_evidence

    return add_evidence(found, place)


def find_root(place: Place) -> Path | None:
    """The top level of the repository around a place; a log can be read outside of any."""
    try:
        return open_here(place).root
    except UsageProblem:
        if place.lockfile is not None:
            raise
        return None


def render(found: "Triage") -> Rendering:
    """The result in each of its forms."""
    from envtrack.report.triage import (
        render_triage_json,
        render_triage_markdown,
        render_triage_text,
    )

    return Rendering(
        text=lambda look: render_triage_text(found, look),
        json=lambda: render_triage_json(found),
        markdown=lambda: render_triage_markdown(found),
    )
