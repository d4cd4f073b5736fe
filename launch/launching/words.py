"""What `outrider launch` says: beforehand what would be launched and cost, afterwards how the run is looked after from anywhere."""

from __future__ import annotations

import math

from benchmarking.report.text import dollars, duration
from definitions.instances import price_of
from definitions.program import command
from definitions.quantities import size_text
from launch.launching.launching import Launched, Launching


def controllers_usd(plan: Launching) -> float | None:
    """Return what the controllers of a run cost at most, all generations: over the study's longest time and a start of each.

    None where their price or that time is not known.
    """
    price = price_of(plan.options.instance_type, plan.place.clients.region)
    longest_s = plan.outlook.longest_s
    if price is None:
        return None
    limit_s = plan.options.max_run_s * plan.options.generations
    run_s = limit_s if longest_s is None else min(limit_s, longest_s + START_S * plan.options.generations)
    return plan.options.count * price.usd_per_hour * run_s / 3600.0


START_S = 300.0
"""Seconds that a generation is billed for before the study goes on in it: download, installation, restoring."""


def dry_run_text(plan: Launching) -> str:
    """Return what a launch would do, and what it would cost."""
    options, place = plan.options, plan.place
    usd, trials_usd = controllers_usd(plan), plan.outlook.usd
    emulated = " (emulated prices)" if place.clients.emulated else ""
    lines = [
        f"controllers: {options.count} x {options.instance_type}{', spot' if options.spot else ''}, each for {duration(options.max_run_s)} "
        f"a generation, {options.generations} at most",
        f"they cost at most {_usd(usd)}, trials {_usd(trials_usd)}, together {_usd(_sum(usd, trials_usd))}{emulated}{_under(plan)}",
        f"image: {_masked(options.image)}",
        f"to be uploaded, where it is not there yet: outrider {size_text(plan.project.size_bytes)} (code {plan.project.hash})"
        + "".join(
            f", {name} {size_text(one.package.size_bytes)} (code {one.package.hash})"
            for name, one in (*plan.sources.items(), *plan.data.items())
        ),
        f"installed in the controllers: {', '.join(plan.requirements)}",
        f"kept below {_masked(place.uri)}",
    ]
    return "\n".join([plan.outlook.text, "", *lines, *plan.notes, "nothing was launched"])


def accepted_text(launched: Launched) -> str:
    """Return which jobs were accepted, and a line for each thing that can be done about the run."""
    tag, place = launched.place.tag, launched.place
    lines = [*launched.notes, f"launched: {', '.join(launched.jobs)}"]
    shown = {
        "status": command("status", tag),
        "logs": command("logs", tag, "--follow"),
        "collect": command("collect", tag),
        "stop": command("stop", "--tag", tag),
        "copy": f"aws s3 sync {place.uri} {tag}",
    }
    return "\n".join([*lines, *(f"{name + ':':<9}{line}" for name, line in shown.items())])


def _under(plan: Launching) -> str:
    caps = {spec.definition.budget.max_cost for spec in plan.specs}
    total = plan.travelling.study.flags.max_cost
    if total is None and None not in caps:
        total = math.fsum(spec.definition.budget.max_cost or 0.0 for spec in plan.specs)
    return "; there is no max_cost" if total is None else f"; max_cost is {dollars(total)}"


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _usd(usd: float | None) -> str:
    return "no limit" if usd is None else dollars(usd)


def _masked(text: str) -> str:
    from backends.sagemaker.aws.errors import masked

    return masked(text)
