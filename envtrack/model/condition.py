"""What makes a commit good or bad, where it is not the smoke test's exit code alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How a finished smoke test is judged.

    Attributes:
        invert: what is sought is the commit that *fixed* it: the good end fails, the bad end
            passes.
        metric: the name of a figure that decides in place of the exit code; empty: none does.
        metric_file: a JSON file that holds it, from the lockfile's folder; empty: it is said in the
            output.
        threshold: what is too much: ``>12``, ``<0.9``, ``12``, or with ``%`` relative to the good
            end; empty: see the next two.
        good_metric: what is known to be good; ``None``: it is measured at the good end.
        bad_metric: what is known to be bad; ``None``: it is measured at the bad end.
        metric_runs: how often the smoke test is run for one verdict, if a metric decides.
    """

    invert: bool = False
    metric: str = ""
    metric_file: str = ""
    threshold: str = ""
    good_metric: float | None = None
    bad_metric: float | None = None
    metric_runs: int = 3

    @property
    def needs_ends(self) -> bool:
        """Whether nobody can judge before the ends were measured."""
        is_said = self.bad_metric is not None and self.good_metric is not None
        is_absolute = bool(self.threshold) and not self.threshold.endswith("%")
        return bool(self.metric) and not is_said and not is_absolute
