"""One question that only an account can answer: what is asked, what is assumed meanwhile, and how it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.emulator.smoke.account import Account, Observations


@dataclass(frozen=True)
class Probe:
    """One question.

    Args:
        name: in a word or two.
        asks: the question.
        assumed: what the emulator does meanwhile.
        source: why it does so.
        run: looks at an endpoint; None where nobody can bring it about.
        billed_s: instance-seconds that a look is billed for at most.
    """

    name: str
    asks: str
    assumed: str
    source: str
    run: Callable[[Account], Observations] | None
    billed_s: float = 0.0

    def cost_usd(self, usd_per_hour: float) -> float:
        """Return what a look costs at most, in dollars."""
        return self.billed_s / 3600.0 * usd_per_hour


def billed_s(probes: Sequence[Probe]) -> float:
    """Return the instance-seconds that looks at all of them are billed for at most."""
    return sum(probe.billed_s for probe in probes)
