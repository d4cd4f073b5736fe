"""The full jobs that a race compares: draws of their time and cost, and whether their memory fits. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, OUT_OF_MEMORY, PREFIX, Canary
from benchmarking.forecasting.ladder.after_prefix import any_has_rest
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceSettings
from benchmarking.forecasting.ladder.run_costs import usd_per_second
from benchmarking.forecasting.model.billing import tables
from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.model.memory import peak_line
from benchmarking.forecasting.model.phases import Laws, cpu_laws, time_laws
from benchmarking.forecasting.model.prefix_draws import through
from benchmarking.forecasting.model.prefix_evidence import may_do
from benchmarking.forecasting.model.prefix_memory import peak_draws
from definitions.instances import instance_facts

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def objective_draws(groups: Mapping[str, Sequence[Canary]], settings: RaceSettings, seed: int) -> dict[str, dict[str, FloatArray]]:
    """Return draws (n,) of each objective by configuration.

    They are those of the forecasts themselves, so that a race and the table of its forecasts never contradict each other. Where all
    know it, they are without the time that other programs had the processor, which is not the configuration's own.

    Args:
        groups: canaries by configuration.
        settings: of the race; `n` is its number of draws.
        seed: of the draws.
    """
    question = Question(settings.billing, draws=settings.draws, seed=seed)
    found = {}
    fitted = fit_all(_alike_known(groups), 1.0)
    all_drawn = {name: draw(item, question) for name, item in fitted.items()}
    quiet = all("quiet_s" in drawn for drawn in all_drawn.values())
    for name, drawn in all_drawn.items():
        item, seconds = fitted[name], drawn["quiet_s" if quiet else "total_s" if "total_s" in drawn else "cpu_s"]
        # Without a price seconds are compared.
        cost = None if quiet else drawn.get("cost_usd")
        priced = (seconds + settings.billing.startup_s) * usd_per_second(item.canaries[0], settings) if cost is None else cost
        found[name] = {TIME: seconds, COST: priced}
    return found


def _alike_known(groups: Mapping[str, Sequence[Canary]]) -> Mapping[str, Sequence[Canary]]:
    """Return the runs without small jobs of one size beside beginnings, where others have none.

    What comes after the loop is the code's own: what one size leaves open of it must not count against the one that ran it.
    """
    begun = {name: [one for one in group if one.status == PREFIX] for name, group in groups.items() if any_has_rest(group)}
    small = {name: through([one for one in groups[name] if one.status == COMPLETED]) for name in begun}
    sizes = {round(one.fraction, 9) for each in small.values() for one in each}
    # How early a job stops is its configuration's own, and small jobs alone show it.
    if len(sizes) != 1 or all(small.values()) or any(may_do(each) is not None for each in begun.values()):
        return groups
    return {**groups, **begun}


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
    begun = [canary for canary in group if canary.status == PREFIX and canary.rss_bytes]
    if facts is not None and facts.memory_bytes and begun:
        peaks = peak_draws(begun, used, peak_line(used, 1.0) if used else None, 1000, np.random.default_rng(0))
        return peaks is None or float(np.quantile(peaks, 0.95)) <= facts.memory_bytes
    if facts is None or not facts.memory_bytes or len({canary.fraction for canary in used if canary.rss_bytes}) < 2:
        return True
    line = peak_line(used, 1.0)
    return line is None or float(np.quantile(line.draws(1000, np.random.default_rng(0)), 0.95)) <= facts.memory_bytes


def half_width(values: FloatArray) -> float:
    """Return half of the 80 % interval of draws (n,) as a share of their median."""
    import numpy as np

    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return float((high - low) / 2 / middle)


def quantile_of(values: FloatArray, share: float) -> float:
    """Return a quantile of draws (n,)."""
    import numpy as np

    return float(np.quantile(values, share))
