"""The laws of one configuration: which phases its time has, how each of them grows, and the same for processor time. Used by forecasts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmarking.forecasting.data.table import Canary
from benchmarking.forecasting.model.power_law import DRIFT, Growth, GrowthPrior, Noise, drift_of, fit, noise_prior, within_levels
from benchmarking.forecasting.model.priors import FAMILIES, UNKNOWN, exponents_of

Array: TypeAlias = Any

STARTUP = GrowthPrior(((0.93, 0.0, 0.01), (0.07, 1.0, 0.1)), free=0.5, offset="any", drift=0.0)
"""Start-up is constant unless the measurements insist (data that is downloaded before the script runs)."""

LOAD = GrowthPrior(((0.9, 1.0, 0.02), (0.1, 1.0, 0.12)), free=0.3, offset="any")
"""Loading is affine in bytes: requests and their latency, then throughput."""

CHECKPOINT = GrowthPrior(((0.6, 0.0, 0.01), (0.4, 1.0, 0.05)), free=0.5, offset="any")
"""Checkpoints cost by count: a fixed number of them, or one every so many steps."""

REST = GrowthPrior(((0.5, 0.0, 0.02), (0.5, 1.0, 0.05)), free=0.3, offset="any")
"""Time between the phases: some is constant, some goes with the data."""

LOAD_FACTOR = GrowthPrior(((1.0, 0.0, 0.01),), free=0.5, offset="any", drift=0.0)
"""Load comes and goes, whatever the size of the work."""

_WAITS_MORE = 3.0
"""Standard errors by which wall over processor time differs between the smallest and the largest size where that is no matter of load."""

_ONE_THREAD, _MOSTLY_WAITS = 0.95, 2.0
"""Wall over processor time of one thread that works: at least the first, and at the median at most the second."""

_NEGLIGIBLE = 0.01
"""Share of the total below which time outside the phases is not worth a law of its own."""


@dataclass(frozen=True)
class Part:
    """One part of a quantity: its growth, or a constant where there is nothing to fit.

    Args:
        growth: None for a constant.
        constant: what it is without growth.
        load: of wall time that is known best as processor time, which `growth` is then of, how many times longer it takes.
    """

    growth: Growth | None
    constant: float = 0.0
    load: Growth | None = None

    def sample(self, x: float, size: int, rng: Any, *, noise: bool = True) -> Array:
        """Return draws (size,) at size x; `noise` says whether a new measurement's own noise is in them."""
        import numpy as np

        if self.growth is None:
            return np.full(size, self.constant)
        drawn = self.growth.sample(x, size, rng, noise=noise)
        return drawn if self.load is None else drawn * self.load.sample(x, size, rng, noise=noise)

    def noise_sd(self) -> float:
        """Return the standard deviation of a run's noise, on the log scale."""
        parts = [one.noise_sd() for one in (self.growth, self.load) if one is not None]
        return math.hypot(*parts)


@dataclass(frozen=True)
class Laws:
    """The parts whose sum a quantity is.

    Args:
        parts: by name; the order is that of the phases.
        main: name of the part whose exponent is shared between configurations.
        timed: whether the main part was measured by a timer of its own.
        steady: whether the number of steps goes with the data, so that the work is known to be linear.
    """

    parts: Mapping[str, Part]
    main: str
    timed: bool
    steady: bool = False

    @property
    def growth(self) -> Growth | None:
        """The growth whose exponent is shared."""
        return self.parts[self.main].growth

    @property
    def loaded(self) -> bool:
        """Whether others share the machine, so that a run is slowed as a whole."""
        return self.parts[self.main].load is not None

    def with_main(self, part: Part) -> Laws:
        """Return the same with another law of the main part."""
        return dataclasses.replace(self, parts={**self.parts, self.main: part})


def sizes(canaries: Sequence[Canary], at: float) -> tuple[Array, str]:
    """Return the measured sizes (n,) as shares of the job that is forecast, and what they were measured in.

    Rows count before bytes, and both before the nominal fraction; the full job's rows are those measured, scaled by the nominal fractions.

    Args:
        canaries: of one configuration.
        at: nominal fraction that is forecast.
    """
    return _relative(canaries, at, ("rows", "bytes"))


def sizes_in_bytes(canaries: Sequence[Canary], at: float) -> Array:
    """Return the measured sizes (n,) in bytes where they are known, else as `sizes` does."""
    return _relative(canaries, at, ("bytes", "rows"))[0]


def _relative(canaries: Sequence[Canary], at: float, measures: Sequence[str]) -> tuple[Array, str]:
    import numpy as np

    fractions = np.array([canary.fraction for canary in canaries])
    for name in measures:
        measured = [getattr(canary, name) for canary in canaries]
        if all(value is not None and value > 0 for value in measured):
            values = np.array(measured, dtype=float)
            # Whole files are read for a part of their rows: what hardly changes with the fraction says nothing of the full job's size.
            if math.log(values.max() / values.min()) < 0.5 * math.log(fractions.max() / fractions.min()):
                continue
            return values / (values.sum() / fractions.sum() * at), name
    return fractions / at, "fraction"


def time_laws(canaries: Sequence[Canary], at: float, noise: Callable[[str], Noise] | None = None) -> Laws | None:
    """Return the laws of a configuration's wall time; None where no time was measured.

    Args:
        canaries: completed runs of one configuration.
        at: nominal fraction that is forecast.
        noise: prior of the noise of a part, e.g. learnt from other configurations.
    """
    phases = {name: f"{name}_s" for name in ("startup", "load", "train", "checkpoint")}
    return _laws(canaries, at, phases, "total_s", noise or (lambda name: noise_prior()))


def cpu_laws(canaries: Sequence[Canary], at: float, noise: Callable[[str], Noise] | None = None) -> Laws | None:
    """Return the laws of a configuration's processor time; None where it was not measured. Its phases come from `about`."""
    phases = {name: f"{name}_cpu_s" for name in ("startup", "load", "train", "checkpoint")}
    return _laws(canaries, at, phases, "cpu_s", noise or (lambda name: noise_prior()))


def _laws(canaries: Sequence[Canary], at: float, columns: Mapping[str, str], total: str, noise: Callable[[str], Noise]) -> Laws | None:
    import numpy as np

    usual = [
        column for column in (*columns.values(), total) if 2 * sum(_value(one, column) is not None for one in canaries) >= len(canaries)
    ]
    # A run that lacks what most have says less than it would cost to do without that in all of them.
    used = [one for one in canaries if all(_value(one, column) is not None for column in usual)] or list(canaries)
    measured = {name: values for name, column in columns.items() if (values := column_of(used, column)) is not None}
    whole = column_of(used, total)
    if whole is None and "train" not in measured:
        used = [canary for canary in canaries if _value(canary, total) is not None]
        if not used:
            return None
        whole, measured = column_of(used, total), {}
    x, _ = sizes(used, at)
    x_bytes = sizes_in_bytes(used, at)
    family = used[0].family
    by_steps = _steps_follow(used, x)
    steady = by_steps and total == "total_s"
    exponents = FAMILIES["epochs"] if steady and family == UNKNOWN else exponents_of(family)
    timed = "train" in measured
    main = "train" if timed else "total"
    parts: dict[str, Part] = {}
    if whole is not None:
        rest = whole - sum(measured.values())
        if not timed:
            offset: str | float = "seconds" if "startup" in measured else (_startup_share(used, x) if total == "cpu_s" else "any")
            rest = np.maximum(rest, 1e-3 * whole)
            prior = GrowthPrior(exponents, free=0.3 if "startup" in measured else 0.05, offset=offset, drift=_drift(x, rest, by_steps))
            parts["total"] = _part(x, rest, prior, noise("total"))
        elif float(np.median(rest / whole)) > _NEGLIGIBLE:
            parts["rest"] = _part(x, np.maximum(rest, 1e-3 * whole), REST, noise("rest"))
    for name, values in measured.items():
        law = {"startup": STARTUP, "load": LOAD, "checkpoint": CHECKPOINT}.get(
            name, GrowthPrior(exponents, free=0.6, drift=_drift(x, values, by_steps))
        )
        parts[name] = _part(x_bytes if name == "load" else x, values, law, noise(name))
    return Laws(parts, main, timed, steady)


def under_load(canaries: Sequence[Canary], wall: Laws, cpu: Laws, least: float) -> Laws:
    """Return the laws of wall time, as processor time and load where the machine is shared with others.

    There, wall time scatters from run to run where processor time does not, and one slow run looks like growth. One thread's work takes
    at least its processor time; what several threads, or waiting for data, make of it changes with the size of the work, and is left to
    the law of wall time.

    Args:
        canaries: completed runs of one configuration.
        wall: laws of its wall time.
        cpu: laws of its processor time.
        least: scatter of the load, on the log scale, up to which the laws stay as they are.
    """
    # In a total the share of start-up, which waits more than the work does, falls as the data grows.
    main = _load_of(canaries, wall, cpu, wall.main) if wall.timed and cpu.timed and not wall.steady else None
    if main is None or main.noise_sd() <= least:
        return wall
    parts = dict(wall.parts)
    for name, part in cpu.parts.items():
        load = main if name == wall.main else _load_of(canaries, wall, cpu, name)
        if load is not None:
            parts[name] = Part(part.growth, load=load)
    return dataclasses.replace(wall, parts=parts)


def _load_of(canaries: Sequence[Canary], wall: Laws, cpu: Laws, name: str) -> Growth | None:
    """Return how many times its processor time a part takes in wall time; None where that is not a matter of load."""
    import numpy as np

    both = [laws.parts[name].growth for laws in (wall, cpu) if name in laws.parts]
    seconds, processor = (column_of(canaries, column) for column in (f"{name}_s", f"{name}_cpu_s"))
    if len(both) < 2 or both[0] is None or both[1] is None or seconds is None or processor is None or len(seconds) != len(both[0].x):
        return None
    x, ratio = both[0].x, seconds / np.maximum(processor, 1e-9)
    if len(ratio) < 3 or float(ratio.min()) < _ONE_THREAD or float(np.median(ratio)) > _MOSTLY_WAITS:
        return None
    low, high = np.log(ratio[x <= 1.1 * x.min()]), np.log(ratio[x >= 0.9 * x.max()])
    if min(len(low), len(high)) > 1:
        squares, freedom = within_levels(x, ratio)
        error = max(math.sqrt(squares / max(freedom, 1)), 0.02) * math.sqrt(1 / len(low) + 1 / len(high))
        if abs(float(high.mean() - low.mean())) > _WAITS_MORE * error:
            return None
    return fit(x, ratio, LOAD_FACTOR)


def _part(x: Array, values: Array, prior: GrowthPrior, noise: Noise) -> Part:
    if float(values.min()) <= 1e-4:
        return Part(None, float(values.mean()))
    return Part(fit(x, values, prior, noise))


def _drift(x: Array, values: Array, by_steps: bool) -> float:
    # A step works on its batch, whatever the size of the data.
    return DRIFT if by_steps else drift_of(float(values[x >= 0.9 * x.max()].mean()))


def _value(canary: Canary, column: str) -> float | None:
    found = getattr(canary, column, None)
    if found is None:
        found = canary.about.get(column)
    if found is None and column == "train_s" and canary.steps and canary.step_s:
        found = canary.steps * canary.step_s
    return None if found is None else float(found)


def column_of(canaries: Sequence[Canary], column: str) -> Array | None:
    """Return the measurements (n,) of a column; None where a run lacks it."""
    import numpy as np

    values = [_value(canary, column) for canary in canaries]
    return None if not values or any(value is None for value in values) else np.array(values, dtype=float)


def _steps_follow(canaries: Sequence[Canary], x: Array) -> bool:
    """Return whether the number of steps goes with the data, up to rounding: then the work of one pass is repeated, not grown."""
    import numpy as np

    steps = column_of(canaries, "steps")
    if steps is None or len(np.unique(x)) < 2 or float(steps.min()) < 5:
        return False
    per_size = steps / x
    centre = float(np.median(per_size))
    return bool((np.abs(per_size - centre) * x <= 1.5 + 0.02 * steps).all())


def _startup_share(canaries: Sequence[Canary], x: Array) -> str | float:
    """Return the share of start-up in the wall time, as a hint for processor time that was measured only in total."""
    import numpy as np

    startup, total = column_of(canaries, "startup_s"), column_of(canaries, "total_s")
    if startup is None or total is None:
        return "any"
    return round(float(np.exp(np.log(np.maximum(startup, 1e-6) / np.maximum(total, 1e-6)).mean())), 2)


def pooled_noise(canaries: Mapping[str, Sequence[Canary]], column: str) -> dict[str, tuple[float, int]]:
    """Return by configuration the squared deviations of log values between its repeats, and their degrees of freedom."""
    import numpy as np

    found = {}
    for name, group in canaries.items():
        values = column_of(group, column)
        if values is not None and len(values) > 1 and float(values.min()) > 1e-4:
            found[name] = within_levels(np.array([canary.fraction for canary in group]), values)
    return found
