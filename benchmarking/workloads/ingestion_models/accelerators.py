"""Accelerators that a pipeline can be measured for without one: batch, time of a step, size of a sample, utilisation that counts as fed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "mlcommons/storage, workload configurations of 2025-06 (https://github.com/mlcommons/storage)"
"""Where the figures are from."""


@dataclass(frozen=True)
class EmulatedAccelerator:
    """One model on one accelerator.

    Args:
        batch_size: samples of a step.
        compute_s: seconds of a step.
        sample_bytes: mean size of a sample as it is stored.
        threshold: share of the time that it has to compute for its storage to count as fast enough.
    """

    batch_size: int
    compute_s: float
    sample_bytes: int
    threshold: float

    @property
    def samples_per_s(self) -> float:
        """What it takes when it never waits."""
        return self.batch_size / self.compute_s

    def fed_by(self, samples_per_s: float) -> int:
        """Return how many of them a pipeline of this rate keeps busy enough.

        Args:
            samples_per_s: steady rate of the pipeline when nobody trains.
        """
        return int(samples_per_s / (self.samples_per_s * self.threshold))

    def size_note(self, mean_bytes: float) -> str:
        """Return in words that samples are not as large as this workload's; empty where they are within a factor of two.

        Args:
            mean_bytes: mean size of a sample, as it is stored.
        """
        if self.sample_bytes / 2 <= mean_bytes <= self.sample_bytes * 2:
            return ""
        return (
            f"samples have {mean_bytes:,.0f} bytes at the mean, those of the workload that is emulated {self.sample_bytes:,}: "
            "how many accelerators are fed holds for these samples, not for its own"
        )


ACCELERATORS: Mapping[str, EmulatedAccelerator] = {
    "h100_resnet50": EmulatedAccelerator(400, 0.224, 114_660, 0.90),
    "h100_unet3d": EmulatedAccelerator(7, 0.323, 146_600_628, 0.90),
    "h100_cosmoflow": EmulatedAccelerator(1, 0.0035, 2_828_486, 0.70),
}
"""All of them, by name."""
