"""A made-up table of learning curves for the scripts that compare methods: our back-end replays it, and Syne Tune's simulator too."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from backends.simulated.table import Run

RATES = tuple(10 ** (-4 + 4 * k / 19) for k in range(20))
WIDTHS = tuple(8 * k for k in range(1, 11))
FULL = 9
SPACE = {"rate": {"ordinal": list(RATES)}, "width": {"ordinal": list(WIDTHS)}}


class Curves:
    """200 configurations with `full` levels each: losses that fall towards a floor of their own, and times that grow with the width.

    Args:
        full: levels.
        kind: `clean`, or `crossing`: high rates are ahead at first and lose in the end; `noisy`: each report is off by some noise.
        seed: of the noise and of the optimum's place.
    """

    def __init__(self, full: int = FULL, kind: str = "clean", seed: int = 0) -> None:
        self.full = full
        source = random.Random(f"{kind}-{seed}")
        best_rate, best_width = source.uniform(-3, -1), source.uniform(20, 70)
        self.rows: dict[tuple[float, int], list[tuple[float, float, float]]] = {}
        for rate in RATES:
            for width in WIDTHS:
                off = (math.log10(rate) - best_rate) ** 2 / 3 + ((width - best_width) / 40) ** 2
                floor = off + source.gauss(0, 0.05)
                speed = 0.6 + (0.3 * (math.log10(rate) + 4) if kind == "crossing" else 0.0)
                noise = 0.1 if kind == "noisy" else 0.01
                step_s = 1.0 + width / 80
                self.rows[rate, width] = [
                    (k * step_s, floor + 2.0 * k**-speed + source.gauss(0, noise), width / 80 + source.gauss(0, 0.01))
                    for k in range(1, full + 1)
                ]

        # Made once, as they are of a table read from a file.
        self._runs = {key: _run(row) for key, row in self.rows.items()}

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run:
        """Return the run of a configuration."""
        return self._runs[configuration["rate"], configuration["width"]]

    def final(self, configuration: Mapping[str, Any]) -> float:
        """Return a configuration's loss at the full level."""
        return self.rows[configuration["rate"], configuration["width"]][-1][1]


def _run(row: Sequence[tuple[float, float, float]]) -> Run:
    reports = [(at, {"epoch": k, "loss": loss, "size": size}) for k, (at, loss, size) in enumerate(row, 1)]
    return Run(reports, row[-1][0])
