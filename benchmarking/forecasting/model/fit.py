"""Fits all configurations of one code together: noise and exponents are learnt across them. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarking.analysis.measurements import PHASES
from benchmarking.forecasting.data.canary import COMPLETED, OUT_OF_MEMORY, PREFIX, Canary
from benchmarking.forecasting.model.machine_load import alone, delayed_share, under_load
from benchmarking.forecasting.model.memory import PeakLine, gpu_growth, peak_line
from benchmarking.forecasting.model.noise import Noise, noise_prior, repeat_noise
from benchmarking.forecasting.model.phases import Laws, Part, cpu_laws, time_laws
from benchmarking.forecasting.model.power_law import Growth
from benchmarking.forecasting.model.prefix_draws import has_rest, small_known, through
from benchmarking.forecasting.model.shared_exponent import share_exponents

_TEACHERS = 20
"""Most other configurations that noise is learnt from: more would teach nothing more."""

_LOADED = 0.08
"""Scatter of wall over processor time from which on a machine counts as shared with others."""

_SHARED = 0.05
"""Share of a run's time that other programs had from which on its time without them is looked at."""

_QUIETER = 0.6
"""One clock's exponent informs another's where its noise is below this share of the other's: then they do not share their noise."""


@dataclass(frozen=True)
class Fitted:
    """One configuration's canaries and the laws that fit them.

    Args:
        canaries: all of them; `used`: the completed ones; `out_of_memory`: fractions at which memory did not suffice.
        at: nominal fraction that is forecast.
        time, cpu: laws of wall and processor time; `rss`, `gpu`: of peak memory; None where not measured.
        quiet: laws of wall time without what other programs had of it; None where a run does not tell, or none had to share.
        lent: small jobs of other configurations of the same code that ran through their loops, where this one has none of its own.
    """

    canaries: tuple[Canary, ...]
    used: tuple[Canary, ...]
    out_of_memory: tuple[float, ...]
    at: float
    time: Laws | None
    cpu: Laws | None
    rss: PeakLine | None
    gpu: Growth | None
    lent: tuple[Canary, ...] = ()
    quiet: Laws | None = None

    @property
    def prefixes(self) -> list[Canary]:
        """The prefixes of the full job that told what is left of it."""
        return [canary for canary in self.canaries if canary.status == PREFIX and has_rest(canary)]

    @property
    def name(self) -> str:
        """The configuration."""
        return self.canaries[0].configuration

    @property
    def instance_type(self) -> str:
        """The instance type; empty where it is not known."""
        return self.canaries[0].instance_type

    @property
    def instance_count(self) -> int:
        """The number of instances."""
        return self.canaries[0].instance_count


def fit_all(groups: Mapping[str, Sequence[Canary]], at: float) -> dict[str, Fitted]:
    """Return the fitted configurations.

    Args:
        groups: canaries by configuration, all of one code where they have one family.
        at: nominal fraction that is forecast.
    """
    # Step 1: the noise of each part, as the repeats of other configurations show it.
    completed = {name: [canary for canary in group if canary.status == COMPLETED] for name, group in groups.items()}
    wall = _noises(completed, {name: f"{name}_s" for name in (*PHASES, "total")})
    cpu = _noises(completed, {"train": "train_cpu_s", "total": "cpu_s"})
    # Step 2: each configuration by itself.
    found = {}
    seen = [canary for group in completed.values() for canary in through(group)]
    # Of one size nobody knows whether what comes after the loop grows: that tells no other configuration anything.
    seen = seen if len({round(canary.fraction, 9) for canary in seen}) > 1 else []
    for name, group in groups.items():
        used = completed[name]
        found[name] = Fitted(
            canaries=tuple(group),
            used=tuple(used),
            out_of_memory=tuple(canary.fraction for canary in group if canary.status == OUT_OF_MEMORY),
            at=at,
            time=time_laws(used, at, _for(wall, name)) if used else None,
            cpu=cpu_laws(used, at, _for(cpu, name)) if used else None,
            rss=peak_line(used, at) if used else None,
            gpu=gpu_growth(used, at) if used else None,
            quiet=_quiet_laws(used, at, _for(wall, name)),
            lent=() if small_known(used) else tuple(one for one in seen if one.family == group[0].family),
        )
    # Step 3: exponents, which one code has in common.
    return _shared(found)


def _quiet_laws(used: Sequence[Canary], at: float, noise: Callable[[str], Noise]) -> Laws | None:
    """Return the laws of wall time without what other programs had of it; None where a run does not tell, or none had to share."""
    shares = [delayed_share(canary) for canary in used]
    if not used or any(share is None for share in shares) or max(share or 0.0 for share in shares) < _SHARED:
        return None
    return time_laws([alone(canary) for canary in used], at, noise)


def _noises(groups: Mapping[str, Sequence[Canary]], columns: Mapping[str, str]) -> dict[str, dict[str, tuple[float, int]]]:
    return {part: repeat_noise(groups, column) for part, column in columns.items()} if len(groups) > 1 else {}


def _for(noises: Mapping[str, Mapping[str, tuple[float, int]]], name: str) -> Callable[[str], Noise]:
    """Return the prior of the noise of each part for one configuration, learnt from the repeats of some others."""

    def prior(part: str) -> Noise:
        others = (one for other, one in noises.get(part, {}).items() if other != name)
        return noise_prior(others=list(islice(others, _TEACHERS)))

    return prior


def _shared(fitted: Mapping[str, Fitted]) -> dict[str, Fitted]:
    """Return the same with exponents learnt across configurations, and between the two clocks of one configuration."""
    found = dict(fitted)
    for kind in ("time", "cpu"):
        for names in _alike(found, kind):
            # One code is one family, with the same main part, timed alike.
            growths = [_laws(found[name], kind).growth for name in names]
            for name, growth in zip(names, share_exponents([one for one in growths if one is not None]), strict=True):
                found[name] = _with_growth(found[name], kind, growth)
    # Wall and processor time of one configuration grow alike, so the quieter clock informs the other.
    for name, one in found.items():
        found[name] = _across_clocks(one)
    return found


def _alike(fitted: Mapping[str, Fitted], kind: str) -> list[list[str]]:
    groups: dict[tuple[object, ...], list[str]] = {}
    for name, one in fitted.items():
        laws = getattr(one, kind)
        if laws is not None and laws.growth is not None:
            groups.setdefault((one.canaries[0].family, laws.main, laws.timed, laws.steady), []).append(name)
    return list(groups.values())


def _laws(one: Fitted, kind: str) -> Laws:
    laws: Laws = getattr(one, kind)
    return laws


def _with_growth(one: Fitted, kind: str, growth: Growth) -> Fitted:
    laws = _laws(one, kind)
    changed = laws.with_main(Part(growth))
    return dataclasses.replace(one, time=changed) if kind == "time" else dataclasses.replace(one, cpu=changed)


def _across_clocks(one: Fitted) -> Fitted:
    wall = one.time.growth if one.time is not None else None
    cpu = one.cpu.growth if one.cpu is not None else None
    if wall is None or cpu is None or one.time is None or one.cpu is None:
        return one
    # A timed wall clock teaches processor time that is only known in total, or much noisier.
    if one.time.timed and (not one.cpu.timed or wall.noise_sd() < _QUIETER * cpu.noise_sd()):
        return _with_growth(one, "cpu", _informed(cpu, wall))
    # On a machine shared with others wall time is processor time, stretched by the load.
    loaded = under_load(one.used, one.time, one.cpu, _LOADED)
    if loaded.loaded:
        return dataclasses.replace(one, time=loaded)
    if cpu.noise_sd() < _QUIETER * wall.noise_sd():
        return _with_growth(one, "time", _informed(wall, cpu))
    return one


def _informed(growth: Growth, by: Growth) -> Growth:
    return share_exponents([growth, by])[0]
