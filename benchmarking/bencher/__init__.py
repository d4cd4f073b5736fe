"""Files of SageMaker Bencher: read, and turned into a definition with a note for each key that has no counterpart."""

from benchmarking.bencher.conversion import Converted, converted
from benchmarking.bencher.reading import BencherFile, read_bencher

__all__ = ["BencherFile", "Converted", "converted", "read_bencher"]
