"""Which run of a race narrows a difference most per dollar. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, Canary
from benchmarking.forecasting.ladder.prefix_race import next_step
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.ladder.run_costs import is_quiet, usd_per_second
from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.expected_run import expected_run
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.model.machine_load import alone

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def runs_at(group: Sequence[Canary], level: float) -> int:
    """Return how often a configuration has run at a level."""
    return sum(abs(canary.fraction - level) < 1e-9 + 1e-6 * level for canary in group)


def highest_level(group: Sequence[Canary]) -> float:
    """Return the highest level that a configuration has run at; 0 before its first run."""
    return max((canary.fraction for canary in group), default=0.0)


def best_next_run(
    groups: Mapping[str, Sequence[Canary]], names: Sequence[str], logs: Mapping[str, FloatArray], settings: RaceSettings, seed: int
) -> tuple[str, float, int] | None:
    """Return the run of these configurations that is expected to take most variance per dollar from their difference.

    Args:
        groups: canaries by configuration.
        names: of the configurations that may run.
        logs: by configuration, draws (n,) of the log of the objective.
        settings: of the race.
        seed: of the draws.

    Returns:
        (configuration, level, repeat); None where all rungs are run.
    """
    if settings.prefixes:
        return next_step(groups, names, logs, settings)
    best: tuple[float, tuple[str, float, int]] | None = None
    for name in names:
        group = groups[name]
        now = float(logs[name].var())
        # A configuration climbs one rung, or repeats its highest: what lies below tells less of the full job for its price.
        top = highest_level(group)
        higher = next((level for level in settings.ladder if level > top * 1.001), None)
        options = [level for level in (higher, top) if level is not None and runs_at(group, level) < settings.repeats]
        for level in options:
            after, seconds = _expected_variance(group, level, settings, seed)
            usd = (seconds + settings.billing.startup_s) * usd_per_second(group[0], settings)
            # An expected variance is a draw itself: no run counts as worth nothing, or as harm.
            gain = max(now - min(after, now * 0.98), 1e-9) / max(usd, 1e-12)
            if best is None or gain > best[0]:
                best = gain, (name, level, runs_at(group, level))
    return None if best is None else best[1]


def _expected_variance(group: Sequence[Canary], level: float, settings: RaceSettings, seed: int) -> tuple[float, float]:
    """Return the variance of log time that is expected after one more run at a level, and the seconds of that run.

    Preposterior analysis in its plug-in form: the run that the fit expects is added, and the fit repeated.
    """
    import numpy as np

    used = tuple(canary for canary in group if canary.status == COMPLETED)
    if is_quiet(used):
        used = tuple(alone(canary) for canary in used)
    item = fit_all({used[0].configuration: used}, 1.0)[used[0].configuration]
    run = expected_run(item, level)
    after = fit_all({item.name: [*used, run]}, 1.0)[item.name]
    drawn = draw(after, Question(settings.billing, draws=800, seed=seed))
    total = drawn["total_s"] if "total_s" in drawn else drawn["cpu_s"]
    return float(np.log(np.maximum(total, 1e-9)).var()), float(run.total_s or run.train_s or 0.0)
