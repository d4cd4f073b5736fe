"""What it costs to make engines for trials, within the same limit of money: asked before each is ordered, and kept in the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.engine_order import Billed, EngineOrder
from benchmarking.controller.budget import affordable, cost_usd
from definitions.errors import UserError
from definitions.schema import Budget

Record = Callable[[str, Mapping[str, Any]], None]
Funds = Callable[[], tuple[float, float]]
"""Returns the dollars that are spent, and those that are reserved for what runs."""


class EngineMoney:
    """Makes engines, and keeps what they cost.

    Args:
        build: makes one, and tells of its jobs.
        budget: of the experiment.
        price: dollars of an hour of an instance type in training; None where that is not known.
        record: writes down `engine` records, each durable when it returns; `funds`: tells what there is. Both may be replaced: once there
            is a loop, they are the loop's.
    """

    def __init__(
        self,
        build: Callable[[EngineOrder, Billed], None],
        budget: Budget,
        price: Callable[[str], float | None],
        record: Record,
        funds: Funds,
    ) -> None:
        self._build, self._budget, self._price = build, budget, price
        self.record, self.funds = record, funds

    def __call__(self, order: EngineOrder) -> None:
        """Make an engine.

        Raises:
            UserError: it is dearer at worst than what is left, or its price is not known where money is limited; or as `build` raises.
        """
        spent, reserved = self.funds()
        worst = cost_usd(order.max_run_s, self._price(order.instance_type), 1)
        if not affordable(self._budget, spent_usd=spent, reserved_usd=reserved, worst_usd=worst):
            costs = "what that costs is not known" if worst is None else f"that costs up to ${worst:.2f}"
            raise UserError(
                f"model {order.model} as trt: its engine would be made on {order.instance_type} in up to {order.max_run_s:g} s",
                f"{costs}, and of max_cost = {self._budget.max_cost:g} ${spent + reserved:.2f} are spent or in flight",
                "raise max_cost, or use another platform",
            )

        def billed(job: str, instance_type: str, seconds: float | None) -> None:
            usd = cost_usd(order.max_run_s if seconds is None else seconds, self._price(instance_type), 1)
            self.record("engine", {"job": job, "model": order.model, "instance_type": instance_type, "billable_s": seconds, "usd": usd})

        self._build(order, billed)
