"""The arguments of the load script, checked: what cannot be meant is refused before a request is sent."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .arrivals import CONSTANT, POISSON, read_trace
from .search import FULL_RUNG
from .users import SEED_RAMP, UserStage, parse_ramp

SEARCH, OPEN, USERS, MODELS = "search", "open", "users", "models"
TRACE = "trace"


@dataclass(frozen=True)
class LoadOptions:
    """What is asked; see `parse_options` for what each means. `trace`: (n,) seconds, of arrivals that a file tells."""

    load: str
    slo_ms: float
    percentile: float
    rate: float
    duration_s: float
    arrivals: str
    trace: tuple[float, ...]
    popularity: float
    payload: str
    payloads: int
    batch: int
    timeout_s: float
    warm_s: float
    cold: str
    seed: int
    connections: int
    judged: str
    probe_s: float
    search_s: float
    client_processes: int
    rungs: int
    stages: int
    ramp: tuple[UserStage, ...]
    cycles: int

    @property
    def slo_s(self) -> float:
        """The limit of latency in seconds."""
        return self.slo_ms / 1000


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the load script's arguments."""
    parser = argparse.ArgumentParser(description="Puts load on an inference endpoint and reports what it carries.", allow_abbrev=False)
    parser.add_argument("--load", default=SEARCH, choices=(SEARCH, OPEN, USERS, MODELS), help="what is asked of the endpoint")
    parser.add_argument("--slo_ms", type=float, default=100.0, help="limit of latency, from the intended start")
    parser.add_argument("--percentile", type=float, default=99.0, help="of requests that keep it, above 0 and below 100")
    parser.add_argument(
        "--rate", type=float, default=0.0, help="requests a second of an open load, or of the first probe; 0: a trace's own, or found"
    )
    parser.add_argument("--duration_s", type=float, default=20.0, help="of an open load")
    parser.add_argument("--arrivals", default=POISSON, help="poisson, constant, or a file with a time in seconds a line")
    parser.add_argument("--popularity", type=float, default=0.0, help="exponent of Zipf's law by which targets are drawn; 0: uniformly")
    parser.add_argument("--payload", default="json", help="json or binary tensors")
    parser.add_argument("--payloads", type=int, default=1, help="how many different ones are sent, drawn by seed")
    parser.add_argument("--batch", type=int, default=1, help="rows of a request")
    parser.add_argument("--timeout_s", type=float, default=10.0, help="a request that takes longer is an error, and failures count as this")
    parser.add_argument("--warm_s", type=float, default=120.0, help="for how long a target may say that it is not ready, before the load")
    parser.add_argument("--cold", default="none", choices=("none", "asked"), help="asked: targets are not called before the load")
    parser.add_argument("--seed", type=int, default=0, help="of arrivals, targets and payloads")
    parser.add_argument("--connections", type=int, default=1000, help="to the endpoint at most")
    parser.add_argument(
        "--judged", default="all", choices=("all", "warm"), help="requests that must keep the limit: all, or not those that loaded"
    )
    parser.add_argument(
        "--probe_s",
        type=float,
        default=20.0,
        help="of a probe; up to three times as long where that decides it, or the percentile needs more requests",
    )
    parser.add_argument("--search_s", type=float, default=0.0, help="after which no further probe begins; 0: no limit")
    parser.add_argument("--rungs", type=int, default=FULL_RUNG, help="of a search: to a factor of 2, 20 %%, 10 %%, 5 %%")
    parser.add_argument("--stages", type=int, default=0, help="of the ramp of users; 0: all")
    parser.add_argument("--ramp", default=SEED_RAMP, help="USERS@SECONDS or USERS@SECONDS@SPAWN_PER_S, commas between stages")
    parser.add_argument(
        "--cycles", type=int, default=0, help="loads of copies that displace others, after max models, by which a leak shows"
    )
    parser.add_argument("--client_processes", type=int, default=1, help="that share one schedule")
    return parser


def parse_options(arguments: Sequence[str] | None = None) -> LoadOptions:
    """Return the options; arguments that are not known here, e.g. the keys of a deployment, are passed over.

    Raises:
        SystemExit: a value that cannot be meant, named with what is right.
    """
    asked, _ = make_parser().parse_known_args(arguments)
    _check(asked)
    trace: tuple[float, ...] = ()
    if asked.arrivals not in (POISSON, CONSTANT):
        asked.arrivals, trace = TRACE, read_trace(Path(asked.arrivals))
    ramp = parse_ramp(asked.ramp)
    if not 0 <= asked.stages <= len(ramp):
        raise SystemExit(f"stages {asked.stages}: the ramp has {len(ramp)}; ask for 1 to {len(ramp)}, or 0 for all")
    return LoadOptions(**{**vars(asked), "trace": trace, "ramp": ramp[: asked.stages or len(ramp)]})


def _check(asked: argparse.Namespace) -> None:
    for name in ("slo_ms", "rate", "popularity", "search_s"):
        value = getattr(asked, name)
        if not (math.isfinite(value) and value >= 0):
            raise SystemExit(f"{name} {value:g}: it is a finite number, 0 or above")
    for name in ("duration_s", "timeout_s", "probe_s"):
        value = getattr(asked, name)
        if not (math.isfinite(value) and value > 0):
            raise SystemExit(f"{name} {value:g}: it is a finite number above 0")
    if not 0 < asked.percentile < 100:
        raise SystemExit(f"percentile {asked.percentile:g}: it lies above 0 and below 100; no number of requests shows that none is slower")
    if asked.rate == 0 and asked.load == OPEN and asked.arrivals in (POISSON, CONSTANT):
        raise SystemExit("rate 0: an open load needs a rate above 0; only a trace has one of its own")
    if not 1 <= asked.rungs <= FULL_RUNG:
        raise SystemExit(f"rungs {asked.rungs}: a search has 1 to {FULL_RUNG}")
    if asked.cycles < 0:
        raise SystemExit(f"cycles {asked.cycles}: 0 or more")
    for name in ("connections", "client_processes"):
        if getattr(asked, name) < 1:
            raise SystemExit(f"{name} {getattr(asked, name)}: at least 1")
