"""From the start of a job to its first line after `import torch`: forked by a warm worker, and in a new interpreter."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from _common import in_turn, load_line, median, p95, show, temporary_folder

SCRIPT = """
import {modules}
import time
at = time.monotonic()
from outrider_report import report
report(at=at)
"""


def side(folder: Path, preload: tuple[str, ...], modules: str) -> tuple[Callable[[], dict[str, float]], Callable[[], object]]:
    """Return what runs one job and measures it, and what ends the back-end.

    Args:
        folder: an empty one.
        preload: for a warm worker, or empty.
        modules: what the script imports.
    """
    import time

    from backends.events import Closed, Reported
    from backends.job_spec import JobSpec
    from backends.local.backend import LocalBackend

    folder.mkdir()
    script = folder / "train.py"
    script.write_text(SCRIPT.format(modules=modules))
    backend = LocalBackend(folder / "experiment", leases_dir=folder / "leases", preload=preload)
    names = iter(range(10_000))

    def measure() -> dict[str, float]:
        found: dict[str, float] = {}
        began = time.monotonic()
        backend.submit(JobSpec(f"job-{next(names)}", 0, 1, str(script), instance_type="local.1cpu"))
        while True:
            for event in backend.wait(120.0):
                if isinstance(event, Reported):
                    found["first_line_s"] = event.metrics["at"] - began
                elif isinstance(event, Closed):
                    return found | {"whole_s": time.monotonic() - began, "cpu_s": event.usage["cpu_s"]}

    return measure, backend.close


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--modules", default="torch", help="modules that the script imports and the worker preloads, with commas")
    given = parser.parse_args()
    preload = tuple(given.modules.split(","))
    with temporary_folder() as folder:
        warm, close_warm = side(folder / "warm", preload, given.modules)
        cold, close_cold = side(folder / "cold", (), given.modules)
        try:
            # A round that is not counted: the worker does its imports, and the files come into memory.
            in_turn(1, {"warm": warm, "cold": cold})
            found = in_turn(given.rounds, {"warm": warm, "cold": cold})
        finally:
            close_warm()
            close_cold()
    columns = {name: {key: [one[key] for one in rows] for key in rows[0]} for name, rows in found.items()}
    rows = [
        [name, median(values["first_line_s"]), p95(values["first_line_s"]), median(values["whole_s"]), median(values["cpu_s"])]
        for name, values in columns.items()
    ]
    show(f"import {given.modules} ({load_line()})", ["", "first line s", "p95 s", "whole job s", "cpu s of the job"], rows)
    first = {name: median(values["first_line_s"]) for name, values in columns.items()}
    print(f"\ntarget: 0.050 s and 50 times; warm {first['warm']:.4f} s, cold {first['cold']:.3f} s")
    print(f"ratio cold / warm {first['cold'] / first['warm']:.0f}")


if __name__ == "__main__":
    main()
