"""What may be asked of a study that is there: more of it, and larger budgets; what contradicts it is refused by name. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarking.studies.record import StudyFlags
from definitions.differences import differences
from definitions.errors import UserError
from definitions.resolve import Resolved
from definitions.schema import Budget
from definitions.settings import is_given_now


def check_flags(about: str, flags: StudyFlags, given: Mapping[str, Any]) -> None:
    """Raise `UserError` where options that were given now are others than the study's.

    Args:
        about: the study, for the message.
        flags: of the study.
        given: name of an option -> its value, only for those that were given.
    """
    others = [
        f"{name} {_text(value)}: it has {_text(getattr(flags, name))}" for name, value in given.items() if getattr(flags, name) != value
    ]
    if others:
        raise contradiction(about, others)


def contradiction(about: str, lines: Sequence[str]) -> UserError:
    """Return the error for what contradicts a study."""
    return UserError(
        f"{about} is another than what is asked for",
        "\n  ".join(lines),
        "leave that out; --num_seeds, --method and --benchmark add to a study, and budgets may be raised; or use another --experiment_tag",
    )


def agreed(about: str, stored: Resolved, now: Sequence[Resolved], workers_unless_given: Callable[[], int | None]) -> Resolved:
    """Return a benchmark's definition as it goes on: what was asked for now with the study's budget, raised where that was asked for.

    Args:
        about: the study, for messages.
        stored: the definition as the study has it.
        now: the definition as it was asked for, in its forms; the first that has the results of the stored one counts.
        workers_unless_given: returns how many workers the study has where it names no number; None where that is not known.

    Raises:
        UserError: it would have other results, other workers, or a lower budget.
    """
    found = next((one for one in now if not differences(stored.definition, one.definition)), None)
    if found is None:
        name = stored.definition.name
        lines = differences(stored.definition, now[0].definition)
        raise UserError(
            f"{about} measured {name} by another definition than is asked for now",
            "\n  ".join(lines),
            "all experiments of a tag are of one definition, so that they can be compared: leave that out, or use another --experiment_tag "
            "and compare the two: outrider compare TAG OTHER",
        )
    workers, wanted = stored.definition.n_workers, found.definition.n_workers
    if is_given_now(found.origins.get("n_workers", "")) and workers != wanted:
        there = workers_unless_given() if workers is None else workers
        if there != wanted:
            has = "none given" if there is None else f"none given, which is {there} here" if workers is None else str(there)
            raise contradiction(about, [f"n_workers {wanted}: it has {has}"])
    budget = raised(about, stored.definition.budget, found.definition.budget, found.origins)
    definition = found.definition.model_copy(update={"budget": budget, "n_workers": workers})
    return Resolved(definition, found.origins, found.backend)


def raised(about: str, stored: Budget, now: Budget, origins: Mapping[str, str]) -> Budget:
    """Return the study's budget with the limits that were given now; raises `UserError` where one is lower than it was.

    Args:
        about: the study, for the message.
        stored: the limits that the study has.
        now: the limits as they were resolved now.
        origins: where these came from, by dotted key; those of a file are passed over, as the study keeps its own.
    """
    given = [name for name in Budget.model_fields if is_given_now(origins.get(f"budget.{name}", ""))]
    lower = []
    for name in given:
        had, wanted = getattr(stored, name), getattr(now, name)
        if wanted is not None and had is not None and wanted < had:
            lower.append(f"{name} {wanted:g}: it has {had:g}, and budgets may only be raised")
    if lower:
        raise contradiction(about, lower)
    return stored.model_copy(update={name: getattr(now, name) for name in given})


def limit_given(definitions: Sequence[Resolved]) -> float | None:
    """Return the dollars for all experiments together that were given now; None where they were not."""
    given = [one.definition.budget.max_cost for one in definitions if is_given_now(one.origins.get("budget.max_cost", ""))]
    return next((limit for limit in given if limit is not None), None)


def _text(value: Any) -> str:
    return "none" if value in (None, {}, "") else str(value)
