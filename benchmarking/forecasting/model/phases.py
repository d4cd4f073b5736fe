"""The laws of one configuration: which phases its time has, how each of them grows, and the same for processor time. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.analysis.measurements import PHASES
from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import column_of, sizes, sizes_in_bytes, startup_share, steps_follow, value_of
from benchmarking.forecasting.model.growth_prior import DRIFT, GrowthPrior, drift_of
from benchmarking.forecasting.model.noise import Noise, noise_prior
from benchmarking.forecasting.model.power_law import Growth, fit
from benchmarking.forecasting.model.priors import FAMILIES, UNKNOWN, exponents_of

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

STARTUP = GrowthPrior(((0.93, 0.0, 0.01), (0.07, 1.0, 0.1)), free=0.5, offset="any", drift=0.0)
"""Start-up is constant unless the measurements insist (data that is downloaded before the script runs)."""

LOAD = GrowthPrior(((0.9, 1.0, 0.02), (0.1, 1.0, 0.12)), free=0.3, offset="any")
"""Loading is affine in bytes: requests and their latency, then throughput. So is fetching all beforehand; listing is affine in objects."""

CHECKPOINT = GrowthPrior(((0.6, 0.0, 0.01), (0.4, 1.0, 0.05)), free=0.5, offset="any")
"""Checkpoints cost by count: a fixed number of them, or one every so many steps."""

REST = GrowthPrior(((0.5, 0.0, 0.02), (0.5, 1.0, 0.05)), free=0.3, offset="any")
"""Time between the phases: some is constant, some goes with the data."""

_OF_PHASES = {"startup": STARTUP, "list": LOAD, "download": LOAD, "load": LOAD, "checkpoint": CHECKPOINT}

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

    def sample(self, x: float, size: int, rng: Generator, *, noise: bool = True) -> FloatArray:
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


def time_laws(canaries: Sequence[Canary], at: float, noise: Callable[[str], Noise] | None = None) -> Laws | None:
    """Return the laws of a configuration's wall time; None where no time was measured.

    Args:
        canaries: completed runs of one configuration.
        at: nominal fraction that is forecast.
        noise: prior of the noise of a part, e.g. learnt from other configurations.
    """
    phases = {name: f"{name}_s" for name in PHASES}
    return _laws(canaries, at, phases, "total_s", noise or (lambda name: noise_prior()))


def cpu_laws(canaries: Sequence[Canary], at: float, noise: Callable[[str], Noise] | None = None) -> Laws | None:
    """Return the laws of a configuration's processor time; None where it was not measured. Its phases come from `about`."""
    phases = {name: f"{name}_cpu_s" for name in PHASES}
    return _laws(canaries, at, phases, "cpu_s", noise or (lambda name: noise_prior()))


def _laws(canaries: Sequence[Canary], at: float, columns: Mapping[str, str], total: str, noise: Callable[[str], Noise]) -> Laws | None:
    import numpy as np

    # Step 1: the runs that have what most runs have.
    usual = [
        column for column in (*columns.values(), total) if 2 * sum(value_of(one, column) is not None for one in canaries) >= len(canaries)
    ]
    # A run that lacks what most have says less than it would cost to do without that in all of them.
    used = [one for one in canaries if all(value_of(one, column) is not None for column in usual)] or list(canaries)
    measured = {name: values for name, column in columns.items() if (values := column_of(used, column)) is not None}
    whole = column_of(used, total)
    if whole is None and "train" not in measured:
        used = [canary for canary in canaries if value_of(canary, total) is not None]
        if not used:
            return None
        whole, measured = column_of(used, total), {}
    # Step 2: what is known beforehand of how the main part grows: by the family of the algorithm, or linear where steps go with the data.
    x = sizes(used, at)
    x_bytes = sizes_in_bytes(used, at)
    family = used[0].family
    by_steps = steps_follow(used, x)
    steady = by_steps and total == "total_s"
    exponents = FAMILIES["epochs"] if steady and family == UNKNOWN else exponents_of(family)
    timed = "train" in measured
    main = "train" if timed else "total"
    parts: dict[str, Part] = {}
    # Step 3: what the timed phases leave of the total. Without a timer of the fit phase it is the main part.
    if whole is not None:
        rest = whole - sum(measured.values())
        if not timed:
            hint = startup_share(used) if total == "cpu_s" else None
            offset: str | float = "seconds" if "startup" in measured else ("any" if hint is None else hint)
            rest = np.maximum(rest, 1e-3 * whole)
            prior = GrowthPrior(exponents, free=0.3 if "startup" in measured else 0.05, offset=offset, drift=_drift(x, rest, by_steps))
            parts["total"] = _part(x, rest, prior, noise("total"))
        elif float(np.median(rest / whole)) > _NEGLIGIBLE:
            parts["rest"] = _part(x, np.maximum(rest, 1e-3 * whole), REST, noise("rest"))
    # Step 4: each timed phase by its own law, loading by bytes.
    for name, values in measured.items():
        law = _OF_PHASES.get(name, GrowthPrior(exponents, free=0.6, drift=_drift(x, values, by_steps)))
        parts[name] = _part(x_bytes if name in ("load", "download") else x, values, law, noise(name))
    return Laws(parts, main, timed, steady)


def _part(x: FloatArray, values: FloatArray, prior: GrowthPrior, noise: Noise) -> Part:
    # Of what takes no time the logarithm says nothing: it counts as a constant.
    if float(values.min()) <= 1e-4:
        return Part(None, float(values.mean()))
    return Part(fit(x, values, prior, noise))


def _drift(x: FloatArray, values: FloatArray, by_steps: bool) -> float:
    # A step works on its batch, whatever the size of the data.
    return DRIFT if by_steps else drift_of(float(values[x >= 0.9 * x.max()].mean()))
