"""How a set is cut into parts, and which samples are in which file. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from definitions.datasets import GeneratedDataset, TableDataset

_SAMPLES = 256
"""Samples of a part, about: enough that starting it costs nothing, few enough that an interruption loses little."""


@dataclass(frozen=True)
class Parts:
    """The parts of a set.

    Args:
        samples: of the set; `per_file`: samples of a file, but of the last one.
        files_per_part: files of a part.
    """

    samples: int
    per_file: int
    files_per_part: int

    @property
    def count(self) -> int:
        """Number of parts."""
        return -(-self.file_count // self.files_per_part)

    @property
    def file_count(self) -> int:
        """Number of files, without copies."""
        return -(-self.samples // self.per_file)

    def files(self, number: int) -> range:
        """Return the numbers of a part's files."""
        return range(number * self.files_per_part, min((number + 1) * self.files_per_part, self.file_count))

    def of_file(self, file: int) -> range:
        """Return the numbers of a file's samples."""
        return range(file * self.per_file, min((file + 1) * self.per_file, self.samples))


def fixed_per_file(spec: GeneratedDataset) -> int | None:
    """Return how many samples are in a file; None where the size of a shard decides."""
    if isinstance(spec, TableDataset):
        # As even as can be: ten rows in four partitions are 3, 3, 3 and 1.
        return -(-spec.rows // spec.partitions)
    return 1 if spec.layout == "files" else spec.samples_per_shard


def fitting_per_file(shard_bytes: int, sample_bytes: float) -> int:
    """Return how many samples of this mean size fill a shard, at least one."""
    return max(1, int(shard_bytes // max(1.0, sample_bytes)))


def parts_of(spec: GeneratedDataset, samples: int, per_file: int) -> Parts:
    """Return the parts of a set of so many samples, with so many a file."""
    return Parts(samples, per_file, 1 if isinstance(spec, TableDataset) else max(1, _SAMPLES // per_file))
