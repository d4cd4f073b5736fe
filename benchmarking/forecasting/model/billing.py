"""What the full job will be billed: draws of its time, through the billing rule. Cost itself is never extrapolated. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from definitions.instance_tables import Tables, load_tables
from definitions.instances import Options, is_nominal, no_options, price_of

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Return the tables of instance facts and prices that come with Outrider, read once."""
    return load_tables()


@dataclass(frozen=True)
class Billing:
    """How time becomes money.

    Args:
        region: whose prices count.
        prices: dollars per instance-hour by instance type, over those of the price table.
        spot: spot prices are asked for; those are known only where `prices` has them.
        unit_s: seconds are billed in whole units of this many, but for local shares, which have a nominal price only.
        startup_s: seconds that are billed before the script runs (image and data download), per instance.
        options: of back-ends, some of which have prices there; a definition's `block`.
    """

    region: str
    prices: Mapping[str, float] = field(default_factory=dict)
    spot: bool = False
    unit_s: float = 1.0
    startup_s: float = 0.0
    options: Options = field(default=no_options, compare=False)

    @property
    def says_more(self) -> bool:
        """Whether bills differ from the time by more than whole seconds."""
        return self.startup_s > 0 or self.unit_s > 1.0

    def usd_per_hour(self, instance_type: str) -> float | None:
        """Return dollars per instance-hour; None where the price is unknown (never zero)."""
        if instance_type in self.prices:
            return self.prices[instance_type]
        if not instance_type:
            return None
        price = price_of(instance_type, self.region, spot=self.spot, tables=tables(), options=self.options)
        return None if price is None else price.usd_per_hour


def billable_draws(total_s: FloatArray, billing: Billing, instance_type: str = "", startup_s: float = 0.0) -> FloatArray:
    """Return draws of the billed seconds of each instance: with billed start-up, in whole billing units.

    Args:
        total_s: (n,) draws of the job's wall time.
        billing: the billing rule.
        instance_type: local shares are not billed in whole units, nor for anything but their own time.
        startup_s: billed start-up as it was measured, for where the rule names none.
    """
    import numpy as np

    if is_nominal(instance_type):
        return total_s
    return np.ceil((total_s + (billing.startup_s or startup_s)) / billing.unit_s) * billing.unit_s


def cost_draws(billable_s: FloatArray, usd_per_hour: float, instance_count: int) -> FloatArray:
    """Return draws of dollars.

    Args:
        billable_s: (n,) draws of the billed seconds of each instance.
        usd_per_hour: price of one instance.
        instance_count: instances, each billed.
    """
    return billable_s / 3600.0 * usd_per_hour * instance_count
