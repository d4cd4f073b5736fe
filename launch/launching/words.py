"""What `outrider launch` says: beforehand what would be launched and cost, afterwards how the run is looked after from anywhere."""

from __future__ import annotations

from benchmarking.report.text import dollars, duration
from benchmarking.studies.money import limit_of
from definitions.quantities import size_text
from launch.launching.launching import Launched, Launching
from launch.launching.money import words


def dry_run_text(plan: Launching) -> str:
    """Return what a launch would do, and what it would cost."""
    options, place = plan.options, plan.place
    emulated = " (emulated prices)" if place.clients.emulated else ""
    lines = [
        f"controllers: {options.count} x {options.instance_type}{', spot' if options.spot else ''}, each for {duration(options.max_run_s)} "
        f"a generation, {options.generations} at most",
        f"they cost at most {_together(plan)}{emulated}; {_under(plan)}",
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
    lines += [] if launched.record.money.max_cost is None else [words(launched.record.money)]
    shown = {
        "status": place.found_by("status", tag),
        "logs": place.found_by("logs", tag, "--follow"),
        "collect": place.found_by("collect", tag),
        "stop": place.found_by("stop", "--tag", tag),
        "copy": f"aws s3 sync {place.uri} {tag}",
    }
    return "\n".join([*lines, *(f"{name + ':':<9}{line}" for name, line in shown.items())])


def _under(plan: Launching) -> str:
    """Return in words the limit of money, and what of it is for whom."""
    if plan.money.max_cost is not None:
        return words(plan.money)
    flags = plan.travelling.study.flags
    caps = {limit_of(flags, spec.definition.name): spec for spec in plan.specs}
    limits = {name: spec.definition.budget.max_cost for name, spec in caps.items()}
    if None in limits.values():
        return "there is no max_cost"
    return f"max_cost of {'each benchmark' if len(limits) > 1 else 'its benchmark'} is for its trials alone, controllers come beside it"


def _together(plan: Launching) -> str:
    """Return in words what controllers and trials cost, and both; trials inside a controller cost nothing beside it."""
    usd, trials_usd = plan.money.controllers_usd, plan.outlook.usd
    if not plan.trials_are_billed:
        return f"{_usd(usd)}, trials inside them nothing beside that"
    return f"{_usd(usd)}, trials {_usd(trials_usd)}, together {_usd(None if usd is None or trials_usd is None else usd + trials_usd)}"


def _usd(usd: float | None) -> str:
    return "no limit" if usd is None else dollars(usd)


def _masked(text: str) -> str:
    from backends.sagemaker.aws.errors import masked

    return masked(text)
