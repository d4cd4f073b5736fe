"""What makes a job smaller: levels that are jobs of their own, or that one job passes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from definitions.fields import KEEP_WHOLE, Number, Positive, Text
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

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if not self.ladder or any(level <= 0 or level > self.full for level in self.ladder):
            raise ValueError(f"each level of the ladder must be above 0 and at most full = {self.full}")
        if list(self.ladder) != sorted(set(self.ladder)):
            raise ValueError("the ladder must ascend")
        return self


class Progressive(Model):
    """One job passes many levels, e.g. epochs, and reports each as `reported_as`; it may be told its last one as `--<argument>`."""

    kind: Literal["progressive"]
    argument: Text | None = Field(
        None,
        description="name of the script's argument that is given the last level; without it the script goes as far as it does by itself",
    )
    reported_as: Text
    full: Positive


Fidelity = Annotated[PerJob | Progressive, Field(discriminator="kind")]
