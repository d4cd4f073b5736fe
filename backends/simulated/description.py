"""What the simulated back-end tells about itself."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from definitions.backend_description import BackendDescription, DataAccess
from definitions.fields import Number, Text
from definitions.ingestion import INPUT_MODES
from definitions.parts import Overrides


class SimulatedBlock(Overrides):
    """What differs on the simulated back-end, and its options."""

    table: Text | None = Field(None, description="CSV of measured runs: configuration keys, elapsed_s, metrics")
    start_delay_s: Annotated[Number, Field(ge=0)] | None = Field(None, description="mean seconds between submission and start")
    failure_rate: Annotated[Number, Field(ge=0, le=1)] | None = Field(None, description="probability that an attempt fails")


class SimulatedDescription(BackendDescription[SimulatedBlock]):
    """Measured runs, replayed on a virtual clock."""

    name: ClassVar[str] = "simulated"
    implementation: ClassVar[str] = "backends.simulated.backend:SimulatedBackend"
    runs_commands: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    runs_programs: ClassVar[bool] = False
    block = SimulatedBlock
    paths: ClassVar[tuple[str, ...]] = ("table",)
    nominal: ClassVar[bool] = True
    data_access: ClassVar[DataAccess] = DataAccess.NOTHING
    input_modes: ClassVar[tuple[str, ...]] = INPUT_MODES
    sampled_modes: ClassVar[tuple[str, ...]] = INPUT_MODES
    default_instance_type: ClassVar[str | None] = "local.1cpu"
    default_max_run_s: ClassVar[float | None] = None


DESCRIPTION = SimulatedDescription()
