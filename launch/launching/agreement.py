"""Before a launch spends real money: what may be spent is shown, and asked about."""

from __future__ import annotations

from collections.abc import Callable

from definitions.errors import UserError
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
        UserError: no `max_cost`, nobody to ask, or the answer was no.
    """
    if plan.place.clients.emulated:
        return
    # Controllers cost money whatever their trials do.
    uncapped = next((spec for spec in plan.specs if spec.definition.budget.max_cost is None), None)
    if uncapped is not None:
        raise UserError(f"launch: {uncapped.title} spends real money", "no max_cost is given", "give --max_cost: dollars for all of them")
    if yes:
        return
    say(dry_run_text(plan))
    if ask is None:
        raise UserError("this spends real money", "there is no terminal to ask on", "give --yes to agree beforehand")
    if ask("Proceed? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was launched")
