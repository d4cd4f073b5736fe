"""What makes a job smaller: levels that are jobs of their own, or that one job passes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from definitions.fields import KEEP_WHOLE, Number, Positive, Seconds, Text
from definitions.model import Model


class PerJob(Model):
    """Each level is a job of its own, e.g. a fraction of the data, given to the script as `--<argument>`."""

    kind: Literal["per_job"]
    argument: Text
    ladder: tuple[Annotated[Number, KEEP_WHOLE], ...] = (0.01, 0.03, 0.1)
    family: Text | None = Field(
        None, description="of the algorithm, where it is known how it grows: epochs, linear, trees, sort, kernel, ..."
    )
    full: Annotated[Number, Field(gt=0), KEEP_WHOLE] = 1.0
    # Without defaults of their own, so that definitions which do not name them are what they were before there were any.
    width: Annotated[Number, Field(gt=0, le=1)] | None = Field(
        None,
        description="half of the 80 % interval of its forecast, as a share of the median, at which a prefix of the job is stopped"
        " (default: 0.15)",
    )
    prefix_s: Seconds | None = Field(
        None, description="most seconds that a prefix runs (default: 300, and a tenth of what the whole job is forecast to take)"
    )
    steps: Positive | None = Field(
        None, description="steps that a prefix has behind it at least, beyond the first unsteady ones (default: 3)"
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if not self.ladder or any(level <= 0 or level > self.full for level in self.ladder):
            raise ValueError(f"each level of the ladder must be above 0 and at most full = {self.full}")
        if list(self.ladder) != sorted(set(self.ladder)):
            raise ValueError("the ladder must ascend")
        return self


class Prefix(PerJob):
    """A canary is the beginning of the full job, which is stopped as soon as its progress tells what the whole of it takes.

    The script says how far it is (`outrider_report.progress`). Where `argument` is given, small jobs at the levels of the ladder show what
    the beginning cannot: evaluation and checkpoints at the end, work after the loop.
    """

    kind: Literal["prefix"]  # type: ignore[assignment] # the tag of the union; all else is as in its base
    argument: Text | None = None  # type: ignore[assignment] # a script without it has no small jobs, and needs none
    ladder: tuple[Annotated[Number, KEEP_WHOLE], ...] = (0.01, 0.03)


class Progressive(Model):
    """One job passes many levels, e.g. epochs, and reports each as `reported_as`; it may be told its last one as `--<argument>`."""

    kind: Literal["progressive"]
    argument: Text | None = Field(
        None,
        description="name of the script's argument that is given the last level; without it the script goes as far as it does by itself",
    )
    reported_as: Text
    full: Positive
    # Without a default of its own, as above.
    counts_from: Literal[0, 1] | None = Field(
        None,
        description="what the script calls its first level (default 1); with 0 one is added to what it reports, prints or writes to files, "
        "as levels count what is done; what `metrics` finds by a library's name is counted anyway",
    )

    @property
    def from_zero(self) -> str | None:
        """What the level is reported as, where the script calls its first one 0; else None."""
        return self.reported_as if self.counts_from == 0 else None


Fidelity = Annotated[PerJob | Prefix | Progressive, Field(discriminator="kind")]
