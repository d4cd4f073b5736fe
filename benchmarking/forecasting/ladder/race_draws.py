"""The full jobs that a race compares: draws of their time and cost, and whether their memory fits. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, OUT_OF_MEMORY, Canary
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceSettings
from benchmarking.forecasting.ladder.run_costs import usd_per_second
from benchmarking.forecasting.model.billing import tables
from benchmarking.forecasting.model.memory import rss_growth
from benchmarking.forecasting.model.phases import Laws, cpu_laws, time_laws
from benchmarking.forecasting.model.shared_exponent import sample_together
from definitions.instances import instance_facts

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def objective_draws(groups: Mapping[str, Sequence[Canary]], settings: RaceSettings, seed: int) -> dict[str, dict[str, FloatArray]]:
    """Return draws (n,) of each objective by configuration.

    A difference of two configurations is taken draw by draw: what they share, the exponent of their code, is the same in each draw.

    Args:
        groups: canaries by configuration.
        settings: of the race; `n` is its number of draws.
        seed: of the draws.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    laws = {name: laws_of(group) for name, group in groups.items()}
    # The growing parts of all configurations, drawn together.
    mains = [name for name, law in laws.items() if law.growth is not None]
    growths = [growth for name in mains if (growth := laws[name].growth) is not None]
    drawn = dict(zip(mains, sample_together(growths, 1.0, settings.draws, rng), strict=True))
    found = {}
    for name, law in laws.items():
        # The other parts (start-up, loading, checkpoints, what is between them) are each configuration's own.
        total = drawn.get(name, 0.0) + sum(
            part.growth.sample(1.0, settings.draws, rng, noise=False) if part.growth is not None else part.constant
            for key, part in law.parts.items()
            if key != law.main or part.growth is None
        )
        seconds = np.maximum(total * np.ones(settings.draws), 1e-9)
        # Cost is time through the price; it is never extrapolated itself.
        found[name] = {TIME: seconds, COST: (seconds + settings.billing.startup_s) * usd_per_second(groups[name][0], settings)}
    return found


def laws_of(group: Sequence[Canary]) -> Laws:
    """Return the laws of a configuration's wall time, or of its processor time where wall time was not measured.

    Raises:
        ValueError: neither was measured.
    """
    return _laws_of(tuple(canary for canary in group if canary.status == COMPLETED))


@lru_cache(maxsize=4096)
def _laws_of(used: tuple[Canary, ...]) -> Laws:
    found = time_laws(used, 1.0) or cpu_laws(used, 1.0)
    if found is None:
        raise ValueError(f"{used[0].configuration if used else 'a configuration'}: no time was measured")
    return found


def fits(group: Sequence[Canary]) -> bool:
    """Return whether the full job's memory fits: measured on two rungs or more, its 95 % bound must not pass the capacity."""
    import numpy as np

    if any(canary.status == OUT_OF_MEMORY for canary in group):
        return False
    facts = instance_facts(group[0].instance_type, tables()) if group[0].instance_type else None
    used = [canary for canary in group if canary.status == COMPLETED]
    if facts is None or not facts.memory_bytes or len({canary.fraction for canary in used if canary.rss_bytes}) < 2:
        return True
    growth = rss_growth(used, 1.0)
    return growth is None or float(np.quantile(growth.sample(1.0, 1000, np.random.default_rng(0)), 0.95)) <= facts.memory_bytes


def half_width(values: FloatArray) -> float:
    """Return half of the 80 % interval of draws (n,) as a share of their median."""
    import numpy as np

    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return float((high - low) / 2 / middle)
