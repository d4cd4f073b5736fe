"""The laws of one configuration: which phases its time has, how each of them grows, and the same for processor time. Used by forecasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from benchmarking.canary.families import FAMILIES, UNKNOWN, exponents_of
from benchmarking.canary.growth import Growth, GrowthPrior, Noise, fit, noise_prior, within_levels
from benchmarking.canary.table import Canary

Array: TypeAlias = Any

STARTUP = GrowthPrior(((0.93, 0.0, 0.01), (0.07, 1.0, 0.1)), free=0.5, offset="any", drift=0.0)
"""Start-up is constant unless the measurements insist (data that is downloaded before the script runs)."""

LOAD = GrowthPrior(((0.9, 1.0, 0.02), (0.1, 1.0, 0.12)), free=0.3, offset="any")
"""Loading is affine in bytes: requests and their latency, then throughput."""

CHECKPOINT = GrowthPrior(((0.6, 0.0, 0.01), (0.4, 1.0, 0.05)), free=0.5, offset="any")
"""Checkpoints cost by count: a fixed number of them, or one every so many steps."""

REST = GrowthPrior(((0.5, 0.0, 0.02), (0.5, 1.0, 0.05)), free=0.3, offset="any")
"""Time between the phases: some is constant, some goes with the data."""

_NEGLIGIBLE = 0.01
"""Share of the total below which time outside the phases is not worth a law of its own."""


@dataclass(frozen=True)
class Part:
    """One part of a quantity: its growth, or a constant where there is nothing to fit."""

    growth: Growth | None
    constant: float = 0.0

    def sample(self, x: float, size: int, rng: Any) -> Array:
        """Return draws (size,) at size x."""
        import numpy as np

        return np.full(size, self.constant) if self.growth is None else self.growth.sample(x, size, rng)


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
    steady = total == "total_s" and _steps_follow(used, x)
    exponents = FAMILIES["epochs"] if steady and family == UNKNOWN else exponents_of(family)
    timed = "train" in measured
    main = "train" if timed else "total"
    parts: dict[str, Part] = {}
    if whole is not None:
        rest = whole - sum(measured.values())
        if not timed:
            offset: str | float = "seconds" if "startup" in measured else (_startup_share(used, x) if total == "cpu_s" else "any")
            prior = GrowthPrior(exponents, free=0.3 if "startup" in measured else 0.05, offset=offset)
            parts["total"] = _part(x, np.maximum(rest, 1e-3 * whole), prior, noise("total"))
        elif float(np.median(rest / whole)) > _NEGLIGIBLE:
            parts["rest"] = _part(x, np.maximum(rest, 1e-3 * whole), REST, noise("rest"))
    for name, values in measured.items():
        law = {"startup": STARTUP, "load": LOAD, "checkpoint": CHECKPOINT}.get(name, GrowthPrior(exponents, free=0.6))
        parts[name] = _part(x_bytes if name == "load" else x, values, law, noise(name))
    return Laws(parts, main, timed, steady)


def _part(x: Array, values: Array, prior: GrowthPrior, noise: Noise) -> Part:
    if float(values.min()) <= 1e-4:
        return Part(None, float(values.mean()))
    return Part(fit(x, values, prior, noise))


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
