"""Before a launch spends real money: what may be spent is shown, and asked about."""

from __future__ import annotations

import os
from collections.abc import Callable

from backends.registry import backend_class
from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from launch.confirm import check_first_starts
from launch.launching.checks import check_controllers
from launch.launching.launching import Launching
from launch.launching.words import dry_run_text


def agree(plan: Launching, *, yes: bool, ask: Callable[[str], str] | None, say: Callable[[str], None]) -> None:
    """Return if nothing real is spent, or if it was agreed to.

    Args:
        plan: what would be launched.
        yes: whether `--yes` was given.
        ask: asks a question and returns the answer; None where there is nobody to ask.
        say: writes to the person.

    Raises:
        UserError: no `max_cost`, something is missing for a first start, nobody to ask, or the answer was no.
    """
    if plan.place.clients.emulated:
        return
    # Controllers cost money whatever their trials do.
    uncapped = next((spec for spec in plan.specs if spec.definition.budget.max_cost is None), None)
    if uncapped is not None:
        raise UserError(f"launch: {uncapped.title} spends real money", "no max_cost is given", "give --max_cost: dollars for all of them")
    check_first_starts(_elsewhere(plan))
    check_controllers(plan)
    if yes:
        return
    say(dry_run_text(plan))
    if ask is None:
        raise UserError("this spends real money", "there is no terminal to ask on", "give --yes to agree beforehand")
    if ask("Proceed? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was launched")


def missing(plan: Launching) -> str:
    """Return in words what trials and controllers lack for a first start, permissions among it; empty where nothing real is spent."""
    if plan.place.clients.emulated:
        return ""
    checks: tuple[Callable[[], None], ...] = (lambda: check_first_starts(_elsewhere(plan)), lambda: check_controllers(plan))
    found = []
    for check in checks:
        try:
            check()
        except UserError as error:
            found.append(str(error))
    return "\n".join(found)


def _elsewhere(plan: Launching) -> list[ExperimentSpec]:
    """Return the experiments whose trials are jobs of a service; what others need is in their controller."""
    return [spec for spec in plan.specs if backend_class(spec.backend).expected_capabilities(os.environ).survives_controller]
