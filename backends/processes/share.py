"""What a job takes of its machine: the share that its instance type names, and what it holds of it while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class MachineShare:
    """A share of a machine; `memory_bytes` is None where it is not limited."""

    cores: int
    gpus: int
    memory_bytes: int | None


class HeldShare(Protocol):
    """Cores and GPUs that a job holds while it runs."""

    @property
    def cores(self) -> tuple[int, ...]:
        """Numbers of the cores."""

    @property
    def gpus(self) -> tuple[str, ...]:
        """Names of the GPUs, as `CUDA_VISIBLE_DEVICES` has them."""

    def release(self) -> None:
        """Give everything back; a second call does nothing."""
