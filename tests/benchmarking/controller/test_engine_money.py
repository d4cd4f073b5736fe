"""Engines within the limit of money: what is asked before one is ordered, and what the journal keeps of its bill."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.engine_order import EngineOrder
from benchmarking.controller.engine_money import EngineMoney
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from definitions.errors import UserError
from definitions.schema import Budget

ORDER = EngineOrder("net", Path("m.onnx"), (), "ml.g4dn.xlarge", Path("m.plan"), max_run_s=1800.0)


class Made:
    """An engine that takes so many seconds a try, priced at two dollars an hour."""

    def __init__(self, max_cost, seconds=(900.0,), price=2.0, funds=(0.0, 0.0)):
        self.seconds, self.written, self.ordered = seconds, [], 0
        self.money = EngineMoney(self.build, Budget(max_cost=max_cost), lambda name: price, self.record, lambda: funds)

    def record(self, kind, body):
        self.written.append((kind, body))

    def build(self, order, billed):
        self.ordered += 1
        for number, seconds in enumerate(self.seconds, 1):
            billed(f"e-{number}", order.instance_type, None)
            if seconds is None:
                raise KeyboardInterrupt
            billed(f"e-{number}", order.instance_type, seconds)

    def spent(self):
        state = ExperimentState(StateSetup({"max_rate_per_s": "max"}))
        for number, (kind, body) in enumerate(self.written, 1):
            state.apply(Record(number, float(number), kind, body))
        return state.money.spent_usd


def test_its_bill_counts_and_not_its_worst_case():
    made = Made(1.0)
    made.money(ORDER)
    assert [body["usd"] for _, body in made.written] == [1.0, 0.5]
    assert made.spent() == pytest.approx(0.5)
    made.money(ORDER)
    assert made.spent() == pytest.approx(0.5)  # the same job, of which the next controller hears again


def test_a_try_that_failed_earlier_is_paid_for_beside_the_next_one():
    made = Made(None, seconds=(360.0, 900.0))
    made.money(ORDER)
    assert made.spent() == pytest.approx(0.7)


def test_while_nobody_knows_its_bill_it_counts_at_its_worst():
    made = Made(1.0, seconds=(None,))
    with pytest.raises(KeyboardInterrupt):
        made.money(ORDER)
    assert made.spent() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("max_cost", "price", "funds", "words"),
    [
        (0.99, 2.0, (0.0, 0.0), "that costs up to $1.00, and of max_cost = 0.99 $0.00 are spent or in flight"),
        (2.0, 2.0, (0.75, 0.5), "of max_cost = 2 $1.25 are spent or in flight"),
        (9.0, None, (0.0, 0.0), "what that costs is not known"),
    ],
)
def test_one_that_may_pass_the_limit_is_not_ordered(max_cost, price, funds, words):
    made = Made(max_cost, price=price, funds=funds)
    with pytest.raises(UserError) as refused:
        made.money(ORDER)
    assert words in str(refused.value)
    assert (made.ordered, made.written) == (0, [])


def test_without_a_limit_an_unknown_price_is_no_obstacle():
    made = Made(None, price=None)
    made.money(ORDER)
    assert (made.written[-1][1]["usd"], made.written[-1][1]["billable_s"], made.spent()) == (None, 900.0, 0.0)
