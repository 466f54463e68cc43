"""``envtrack doctor``: does this stack fit together?"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.context import Place
from envtrack.cli.grammar import Argument, option
from envtrack.cli.options import (
    ColourOption,
    DirectoryOption,
    FormatOption,
    FullOption,
    LockfileOption,
    MachineOption,
    OutputOption,
)
from envtrack.cli.output import Colour, Format, Output, Rendering, put_out
from envtrack.model.finding import Purpose

if TYPE_CHECKING:
    from envtrack.cli.doctor_inputs import Subject
    from envtrack.compat.plan import Plan
    from envtrack.model.finding import Diagnosis

_PLANNED = "Planned instead of what is there"


class For(StrEnum):
    """What the stack has to fit for."""

    ALL = "all"
    RUNNING = "running"
    BUILDING = "building"


# Longer than other functions: each option is a parameter.
def doctor(
    what: Annotated[
        str,
        Argument(
            metavar="WHAT",
            help="`now`: this machine; a revision, or REVISION@MACHINE; a snapshot file.",
        ),
    ] = "now",
    *,
    packages: Annotated[
        list[str] | None,
        option(
            "--with",
            metavar="NAME==VERSION",
            help="Another version of a package, such as torch==2.6.0+cu126.",
            panel=_PLANNED,
        ),
    ] = None,
    driver: Annotated[
        str | None,
        option(
            "--driver",
            metavar="VERSION",
            help="Another NVIDIA driver, such as 550.54.15.",
            panel=_PLANNED,
        ),
    ] = None,
    gpus: Annotated[
        list[str] | None,
        option("--gpu", metavar="MODEL", help="Another GPU, such as H100.", panel=_PLANNED),
    ] = None,
    capability: Annotated[
        str | None,
        option(
            "--compute-capability",
            metavar="X.Y",
            help="The compute capability of the GPUs, for models that no table knows.",
            panel=_PLANNED,
        ),
    ] = None,
    gcc: Annotated[
        str | None,
        option("--gcc", metavar="VERSION", help="Another host compiler.", panel=_PLANNED),
    ] = None,
    nvcc: Annotated[
        str | None,
        option("--nvcc", metavar="RELEASE", help="Another CUDA toolkit.", panel=_PLANNED),
    ] = None,
    purpose: Annotated[
        For, option("--for", help="Judge only what running, or building extensions, needs.")
    ] = For.ALL,
    directory: DirectoryOption = None,
    lockfile: LockfileOption = None,
    machine: MachineOption = None,
    full: FullOption = False,
    form: FormatOption = Format.TEXT,
    output: OutputOption = None,
    color: ColourOption = Colour.AUTO,
) -> None:
    """Judge whether the layers of a stack fit together, and what to do where they do not.

    Driver against CUDA runtime, GPUs against compiled architectures, nvcc against torch, gcc
    against nvcc, glibc against wheels, and more: `docs/doctor.md` lists the rules.

    Ends with 1 if something does not fit, else with 0. What can't be told is no misfit.
    """
    from envtrack.cli.doctor_inputs import read_subject
    from envtrack.compat.plan import Plan, parse_planned, parse_requirement

    plan = Plan(
        packages=dict(parse_requirement(text) for text in packages or ()),
        driver=parse_planned(driver, "--driver") if driver else None,
        gpus=tuple(gpus or ()),
        capability=parse_planned(capability, "--compute-capability") if capability else None,
        gcc=parse_planned(gcc, "--gcc") if gcc else None,
        nvcc=parse_planned(nvcc, "--nvcc") if nvcc else None,
    )
    place = Place(directory=directory, lockfile=lockfile, machine=machine)
    diagnosis = _diagnose(read_subject(what, place), plan, purpose)
    _put_out(diagnosis, Output(format=form, path=output, colour=color, is_full=full))
    if diagnosis.has_misfit:
        raise SystemExit(1)


def _diagnose(subject: "Subject", plan: "Plan", purpose: For) -> "Diagnosis":
    from envtrack.cli.doctor_inputs import read_tables
    from envtrack.compat.facts import read_stack
    from envtrack.compat.judge import judge_stack
    from envtrack.compat.plan import apply_plan

    stack = read_stack(subject.snapshot, lock=subject.lock, locked=subject.locked)
    planned = "".join(f", with {line}" for line in plan.lines)
    return judge_stack(
        apply_plan(stack, plan),
        read_tables(),
        subject=f"{subject.name}{planned}",
        purposes=Purpose if purpose is For.ALL else (Purpose(purpose),),
        notes=subject.notes,
    )


def _put_out(diagnosis: "Diagnosis", output: Output) -> None:
    from envtrack.report.doctor import (
        render_diagnosis_json,
        render_diagnosis_markdown,
        render_diagnosis_text,
    )

    rendering = Rendering(
        text=lambda look: render_diagnosis_text(diagnosis, look),
        json=lambda: render_diagnosis_json(diagnosis),
        markdown=lambda: render_diagnosis_markdown(diagnosis),
    )
    put_out(rendering, output)
