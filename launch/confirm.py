"""Before real money is spent: checks what a first start needs, shows what may be spent, and asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from backends.registry import backend_class
from benchmarking.archive.folder import check_bills
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.sqlite_journal import has_records
from benchmarking.planning.concurrency import instance_types
from benchmarking.studies.record import StudyRecord
from definitions.errors import UserError
from definitions.program import command


def confirm(
    specs: Sequence[ExperimentSpec],
    *,
    study: StudyRecord | None = None,
    yes: bool,
    ask: Callable[[str], str] | None,
    say: Callable[[str], None],
) -> None:
    """Return if nothing real is spent, or if it was agreed to.

    Args:
        specs: the experiments.
        study: that they belong to; None where they are no study.
        yes: whether `--yes` was given.
        ask: asks a question and returns the answer; None where there is nobody to ask.
        say: writes to the person.

    Raises:
        UserError: no `max_cost`, something is missing for a first start, nobody to ask, or the answer was no.
    """
    for spec in specs:
        check_bills(spec, os.environ)
    paid = [spec for spec in specs if backend_class(spec.backend).expected_capabilities(os.environ).real_money]
    if not paid:
        return
    uncapped = [spec for spec in paid if spec.definition.budget.max_cost is None]
    if uncapped:
        raise UserError(f"{uncapped[0].title} spends real money", "no max_cost is given", "give --max_cost: dollars for all of them")
    check_first_starts(paid)
    if yes:
        return
    from launch.dry_run import describe

    say(describe(paid, os.environ, study))
    if ask is None:
        raise UserError("this spends real money", "there is no terminal to ask on", "give --yes to agree beforehand")
    if ask("Proceed? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was started")


def check_first_starts(specs: Sequence[ExperimentSpec]) -> None:
    """Refuse what cannot work before anything of it is started; who resumes has started before."""
    seen = set()
    for spec in specs:
        key = spec.definition.name, spec.backend
        if key in seen or has_records(spec.folder / "journal.sqlite"):
            continue
        seen.add(key)
        found = backend_class(spec.backend).problems(spec.definition, instance_types(spec.definition, spec.backend), os.environ)
        if found:
            lines = [f"{check.name}: {check.found}" + (f" ({check.advice})" if check.advice else "") for check in found]
            raise UserError(
                f"{spec.title}: {len(found)} {'thing is' if len(found) == 1 else 'things are'} missing for a first start",
                "\n  ".join(lines),
                f"`{command('doctor')}` with the same --benchmark and --backend shows all checks",
            )
