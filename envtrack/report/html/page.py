"""One HTML file that needs no other: no address is fetched, and it reads without its script.

Every value passes `show_plain` and the escaping of Jinja2 on its way into the page; the script
reads its data as JSON and sets text, never markup. Besides, the page itself forbids its browser to
load anything and to run any script or style but its own, by their hashes (Content Security Policy
Level 3, https://www.w3.org/TR/CSP3/).
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from envtrack.model.layer import Layer
from envtrack.model.timeline import Verdicts
from envtrack.report.check import say_judged
from envtrack.report.choice import choose_shown, say_origin
from envtrack.report.doctor import say_rule, say_verdict
from envtrack.report.html.embedded import make_embedded
from envtrack.report.html.narrowing import draw_narrowing
from envtrack.report.html.swim import count_layers, draw_swim
from envtrack.report.line import name_changes, say_change
from envtrack.report.machines import list_headings, say_fleet, say_standing, say_watched
from envtrack.report.plain import show_plain
from envtrack.resources import find_resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment

    from envtrack.model.finding import Diagnosis
    from envtrack.model.fleet import Fleet
    from envtrack.model.judged import JudgedHistory
    from envtrack.model.lanes import Lanes, State
    from envtrack.model.oid import Commit, Oid
    from envtrack.model.story import Story

_FOLDER: Final = "report"


class Page(NamedTuple):
    """What the report tells.

    Attributes:
        project: the name of the repository's folder.
        made_at: UTC, ISO 8601.
        version: envtrack's.
        head: the newest commit that is told.
        lanes: the history.
        states: those that can be compared on the page, newest first.
        stories: the searches, newest first.
        history: what the policy says; ``None``: it can't be read.
        fleet: the machines.
        diagnoses: what the doctor says of their newest records.
        notes: what could not be told and why, a line each.
    """

    project: str
    made_at: str
    version: str
    head: Commit
    lanes: Lanes
    states: tuple[State, ...]
    stories: tuple[Story, ...]
    history: JudgedHistory | None
    fleet: Fleet
    diagnoses: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()


class View(NamedTuple):
    """One view of the page; its template is ``<name>.html``.

    Attributes:
        name: the anchor.
        title: in the navigation.
        number: how much there is to see; ``None``: that says nothing.
    """

    name: str
    title: str
    number: int | None = None


def list_views(page: Page) -> tuple[View, ...]:
    """The views there is something to show in, in order."""
    views = [View("overview", "Overview"), View("timeline", "Timeline", len(page.lanes.columns))]
    if len(page.states) > 1:
        views.append(View("compare", "Compare"))
    if page.stories:
        views.append(View("searches", "Searches", len(page.stories)))
    if page.history is not None:
        views.append(View("policy", "Policy", len(page.history.judged.breaches)))
    if page.diagnoses:
        views.append(View("doctor", "Doctor"))
    views.append(View("machines", "Machines", len(page.fleet.machines)))
    return tuple(views)


def render_page(page: Page) -> str:
    """The file's content; see the module's docstring for what holds of it."""
    page = page._replace(lanes=_add_tried(page.lanes, page.stories))
    environment = _make_environment()
    style = _read("style.css") + "".join(_list_rules(len(page.lanes.machines)))
    script = _read("script.js")
    from markupsafe import Markup

    told = environment.get_template("page.html").render(
        page=page,
        views=list_views(page),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - likewise
        style_hash=_hash(style),
        script_hash=_hash(script),
        embedded=Markup(make_embedded(page.lanes.columns, page.states)),  # noqa: S704 - escaped
        layers=tuple(str(layer) for layer in Layer),
        swim=draw_swim(page.lanes),
    )
    return told.encode("utf-8", "backslashreplace").decode("utf-8")


def _make_environment() -> Environment:
    from jinja2 import ChainableUndefined, Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(find_resource(_FOLDER)),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # An answer may come from an older envtrack, and lack what a newer one has.
        undefined=ChainableUndefined,
        finalize=_show,
        auto_reload=False,
    )
    environment.globals |= {
        "choose_shown": choose_shown,
        "count_layers": count_layers,
        "say_judged": say_judged,
        "draw_narrowing": draw_narrowing,
        "list_headings": list_headings,
        "name_changes": name_changes,
        "say_change": say_change,
        "say_fleet": say_fleet,
        "say_origin": say_origin,
        "say_rule": say_rule,
        "say_standing": say_standing,
        "say_verdict": say_verdict,
        "say_watched": say_watched,
    }
    return environment


def _show(value: Any) -> Any:  # noqa: ANN401 - whatever a template puts out
    """Values as they may be shown; what is markup already came through here before."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return show_plain(value)
    return "" if value is None else value


def _read(name: str) -> str:
    return find_resource(f"{_FOLDER}/{name}").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _list_rules(machines: int) -> Iterator[str]:
    """A machine that is not ticked is not seen: without a script."""
    for number in range(machines):
        yield f"body:has(#pick-m{number}:not(:checked)) .m{number}{{display:none}}\n"


def _add_tried(lanes: Lanes, stories: tuple[Story, ...]) -> Lanes:
    """The history with what searches found of its commits; what was noted of one counts more."""
    tried: dict[Oid, dict[str, str]] = {}
    for story in reversed(stories):  # the newest counts
        for probed in () if story.is_composed or not story.machine else story.probes:
            seen = probed.observation
            if seen.judgement is not None:
                tried.setdefault(seen.commit, {})[story.machine] = str(seen.judgement.verdict)
    columns = tuple(
        column._replace(verdicts=tuple(_merge(column.verdicts, tried.get(column.commit.oid, {}))))
        for column in lanes.columns
    )
    machines = {machine for said in tried.values() for machine in said}
    return lanes._replace(columns=columns, machines=tuple(sorted({*lanes.machines, *machines})))


def _merge(noted: tuple[Verdicts, ...], tried: dict[str, str]) -> Iterator[Verdicts]:
    yield from noted
    known = {one.machine for one in noted}
    for machine, verdict in sorted(tried.items()):
        if machine not in known:
            yield Verdicts(machine=machine, last=verdict, count=1)
