"""What the controllers of a launched run take of its max_cost, and what is left for its trials."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence

from backends.registry import backend_class
from backends.sagemaker.controllers.options import ControllerOptions
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.launch_record import LaunchRecord, RunMoney
from benchmarking.report.text import dollars
from benchmarking.studies.record import StudyRecord
from definitions.errors import UserError
from definitions.instances import price_of
from definitions.program import command
from definitions.resolve import Resolved
from launch.planning import Planned
from launch.study_planning import specs_of, with_limit

START_S = 300.0
"""Seconds that a generation is billed for before the study goes on in it: download, installation, restoring."""


def controllers_usd(options: ControllerOptions, region: str, longest_s: float | None, serial_s: float | None = None) -> float | None:
    """Return what the controllers of a run cost at most, all generations: over the study's longest time and a start of each.

    Several controllers together are at work for no longer than their experiments one after the other, as each of these has one of them, and
    who finds none left ends.

    Args:
        options: of the controllers.
        region: whose prices count; those on demand, which spot never exceeds.
        longest_s: seconds that the study takes at most in one controller; None where nobody knows, so that all generations count.
        serial_s: seconds that its experiments take one after the other; None where nobody knows.

    Returns:
        Dollars; None where the price is not known.
    """
    price = price_of(options.instance_type, region)
    if price is None:
        return None
    limit_s = options.count * options.max_run_s * options.generations
    if longest_s is None:
        return limit_s * price.usd_per_hour / 3600.0
    at_work_s = options.count * longest_s if serial_s is None else min(options.count * longest_s, serial_s)
    run_s = min(limit_s, at_work_s + options.count * START_S * options.generations)
    return run_s * price.usd_per_hour / 3600.0


def trials_are_billed(backend: str) -> bool:
    """Return whether the trials of a back-end cost money beside that of their controllers.

    Those that run inside a controller do not: a local trial's dollars are its nominal share of an instance that is billed once, as the
    controller; a simulated trial's are what it would have cost where it was measured. So nothing is taken from their limit, which would
    but change what the study finds by where it runs, and max_cost has to cover the controllers alone.
    """
    return backend_class(backend).expected_capabilities(os.environ).survives_controller


def divided(max_cost: float | None, usd: float | None, *, billed: bool, about: str, instance_type: str) -> RunMoney:
    """Return how a limit of money is divided between controllers, which come first, and trials.

    Args:
        max_cost: dollars for all of the run; None where there is no such limit.
        usd: dollars that the controllers cost at most; None where their price is not known.
        billed: whether trials cost money of their own.
        about: what is asked for, for messages.
        instance_type: of controllers, for messages.

    Raises:
        UserError: the limit is less than what controllers may cost, or that is not known.
    """
    if max_cost is None:
        return RunMoney(None, usd, None)
    if usd is None:
        raise UserError(
            f"{about}: max_cost = {max_cost:g}, and the price of controllers on {instance_type} is unknown",
            "a limit of money covers them too",
            f"`{command('prices', '--refresh')}` asks AWS for it; or give another --remote_instance_type",
        )
    if usd > max_cost or (billed and usd == max_cost):
        beyond = ", and what trials may cost on top" if billed else ""
        raise UserError(
            f"{about}: max_cost = {dollars(max_cost)} does not cover its controllers",
            f"over the study's longest time, all generations, they cost {dollars(usd)} at most",
            f"give --max_cost {math.ceil(usd * 1e4) / 1e4:.12g}{beyond}; less time (max_wallclock_time, max_run), fewer --controllers "
            "or a cheaper --remote_instance_type make that less",
        )
    return RunMoney(max_cost, usd, max_cost - usd if billed else max_cost)


def with_rest(planned: Planned, study: StudyRecord, money: RunMoney, before: StudyRecord | None = None) -> StudyRecord:
    """Return a study whose experiments share what is left for trials; those that had a share before keep it, or get more.

    Args:
        planned: the study as it was planned, with its tag's folder.
        study: the same, as it is sent.
        money: how its limit is divided.
        before: the study as it was; None where it is new.

    Raises:
        UserError: what is left is less than the shares that are fixed.
    """
    if money.trials_usd is None or money.trials_usd == study.flags.max_cost:
        return study
    return with_limit(study, money.trials_usd, before, planned.tag_folder, aside_usd=(money.max_cost or 0.0) - money.trials_usd)


def limited_specs(specs: Sequence[ExperimentSpec], study: StudyRecord) -> list[ExperimentSpec]:
    """Return experiments of a study, each with the limit of money that the study gives it."""
    definitions: Mapping[str, Resolved] = {spec.definition.name: spec.resolved for spec in specs}
    by_key = {one.key: one for one in study.experiments}
    chosen = [by_key[spec.definition.name, spec.method, spec.number] for spec in specs]
    made = specs_of(study, chosen, definitions, specs[0].results_dir / specs[0].tag)
    return [dataclasses.replace(spec, resolved=limited.resolved) for spec, limited in zip(specs, made, strict=True)]


def set_aside_again(planned: Planned, record: LaunchRecord) -> tuple[Planned, RunMoney]:
    """Return a study that is added to, and how its money is divided: of a limit that is given now, the same is set aside for controllers.

    A run that was launched before anything was set aside goes on without.

    Args:
        planned: the study with what is added to it, under the whole limit where one is given now.
        record: of the launch.

    Raises:
        UserError: the limit is less than what controllers or fixed shares take.
    """
    study, before, usd = planned.study, planned.before, record.money.controllers_usd
    assert study is not None
    if usd is None or study.flags.max_cost is None or (before is not None and before.flags.max_cost == study.flags.max_cost):
        return planned, record.money
    kind = str(record.controller.get("instance_type", ""))
    about, billed = f"launch --resume {record.tag}", trials_are_billed(study.flags.backend)
    money = divided(study.flags.max_cost, usd, billed=billed, about=about, instance_type=kind)
    return dataclasses.replace(planned, study=with_rest(planned, study, money, before)), money


def words(money: RunMoney) -> str:
    """Return in words how the limit of money of a run is divided."""
    if money.max_cost is None:
        return "there is no max_cost for all of it"
    if money.trials_usd == money.max_cost:
        return f"max_cost {dollars(money.max_cost)}: {dollars(money.controllers_usd)} for controllers, trials run within them"
    return f"max_cost {dollars(money.max_cost)}: {dollars(money.controllers_usd)} for controllers, {dollars(money.trials_usd)} for trials"
