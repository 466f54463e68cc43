"""What of a lockfile is installed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a lockfile is installed, in uv's own terms.

    Attributes:
        extras: ``--extra``.
        groups: ``--group``.
        without_groups: ``--no-group``.
        all_extras: ``--all-extras``.
        all_groups: ``--all-groups``.
        all_packages: ``--all-packages``: every member of the workspace.
        package: ``--package``: one member instead of the root; empty: the root.
        default_groups: the groups installed without being asked for (``tool.uv.default-groups``).
    """

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    without_groups: tuple[str, ...] = ()
    all_extras: bool = False
    all_groups: bool = False
    all_packages: bool = False
    package: str = ""
    default_groups: tuple[str, ...] = ("dev",)

    def as_uv_arguments(self) -> tuple[str, ...]:
        """The options of ``uv sync`` that ask for this; default groups come from the project."""
        arguments = [f"--extra={name}" for name in self.extras]
        arguments += [f"--group={name}" for name in self.groups]
        arguments += [f"--no-group={name}" for name in self.without_groups]
        arguments += ["--all-extras"] * self.all_extras
        arguments += ["--all-groups"] * self.all_groups
        arguments += ["--all-packages"] * self.all_packages
        if self.package:
            arguments.append(f"--package={self.package}")
        return tuple(arguments)
