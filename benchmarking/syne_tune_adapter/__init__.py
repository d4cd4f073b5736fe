"""Outrider and Syne Tune together: our back-ends under Syne Tune's `Tuner`, and its benchmark definitions as ours.

For people who stay with Syne Tune's loop. Names are imported when asked for, as `import syne_tune` takes two seconds.
"""

from __future__ import annotations

from typing import Any

__all__ = ["OutriderBackend", "import_benchmark"]


def __getattr__(name: str) -> Any:
    if name == "OutriderBackend":
        from benchmarking.syne_tune_adapter.backend import OutriderBackend

        return OutriderBackend
    if name == "import_benchmark":
        from benchmarking.syne_tune_adapter.importing import import_benchmark

        return import_benchmark
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
