"""Records of random bytes."""

from __future__ import annotations

import random

from benchmarking.datasets.made_sample import MadeSample, key_of
from definitions.datasets import BytesDataset


class RandomRecords:
    """Makes records by seed and number alone."""

    def __init__(self, spec: BytesDataset) -> None:
        self._spec, self.samples = spec, spec.samples
        self.classes: int | None = None

    def sample(self, index: int) -> MadeSample:
        """Return the record of this number."""
        spec = self._spec
        source = random.Random(f"{spec.seed}/{index}")
        size = max(1, round(spec.size * source.uniform(1 - spec.spread, 1 + spec.spread))) if spec.spread else spec.size
        return MadeSample(key_of(index, spec.samples), "", None, (source.randbytes(size),), "bin")
