"""Before real money is spent: shows what may be spent, and asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from backends.registry import backend_class
from benchmarking.experiment import ExperimentSpec
from definitions.errors import UserError


def confirm(specs: Sequence[ExperimentSpec], *, yes: bool, ask: Callable[[str], str] | None, say: Callable[[str], None]) -> None:
    """Return if nothing real is spent, or if it was agreed to.

    Args:
        specs: the experiments.
        yes: whether `--yes` was given.
        ask: asks a question and returns the answer; None where there is nobody to ask.
        say: writes to the person.

    Raises:
        UserError: no `max_cost`, nobody to ask, or the answer was no.
    """
    paid = [spec for spec in specs if backend_class(spec.backend).foretell(os.environ).real_money]
    if not paid:
        return
    uncapped = [spec for spec in paid if spec.definition.budget.max_cost is None]
    if uncapped:
        raise UserError(f"{uncapped[0].title} spends real money", "no max_cost is given", "give --max_cost: dollars for all of them")
    if yes:
        return
    from launch.dry_run import describe

    say(describe(paid, os.environ))
    if ask is None:
        raise UserError("this spends real money", "there is no terminal to ask on", "give --yes to agree beforehand")
    if ask("Proceed? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was started")
