"""What results say, as pure functions of arrays: best values, fronts, hypervolume, quantiles, named measurements.

`benchmarking.analysis.load(TAG)` gives what was measured as tables of pandas; it is `benchmarking.frames.load`.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    # It reads experiments, and stands above all that these functions know: found by who asks for it, imported by none of them.
    if name == "load":
        return importlib.import_module("benchmarking.frames").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
