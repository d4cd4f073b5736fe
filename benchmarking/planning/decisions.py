"""What is decided for the user where they did not say, one line each: facts in, sentences out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarking.controller.budget import longest_run_s
from benchmarking.controller.disk_space import LeftFiles, Outlook, needed_bytes
from definitions.quantities import size_text
from definitions.schema import Budget, Keep

_LITTLE_DISK_BYTES = 1024**3
_WORTH_A_WORD_BYTES = 1024**3


@dataclass(frozen=True)
class Disk:
    """The disk of the results, and what is known of what will be written to it.

    Args:
        free_bytes: that may be written to it; `folder`: on it.
        keep: whose checkpoints and models stay on it; None where jobs write elsewhere. `keep_is_default`: whether nobody said so.
        tag: of an earlier run of the same benchmark, whose jobs left `left`; empty where there is none.
        trials: that are to be run; None where that is open.
        workers: jobs that run at once.
    """

    free_bytes: int
    folder: str
    keep: Keep | None = None
    keep_is_default: bool = False
    tag: str = ""
    left: Sequence[LeftFiles] = ()
    trials: int | None = None
    workers: int = 1


@dataclass(frozen=True)
class Facts:
    """What an experiment was asked for, and what is there.

    Args:
        budget: the limits; `default_max_run_s`: the back-end's own of a job's time, None where it has none.
        finite: whether the method ends by itself.
        asked_workers: `n_workers` as given; `workers`: how many there will be.
        fits: how many jobs of each instance type that configurations can ask for run at once.
        exclusive: whether nothing may run beside a trial.
        preload: modules that are imported once for all trials.
        price_label: how prices are labelled; empty for real ones. `real_money`: whether somebody is billed.
        disk: of the results; None where not known.
        remarks: what the back-end itself decides.
        forecast_limit: how long a job may run by its forecast, in words, where nothing else limits it; empty where there are no forecasts.
    """

    budget: Budget
    default_max_run_s: float | None
    finite: bool
    asked_workers: int | None
    workers: int
    fits: Mapping[str, int]
    exclusive: bool
    preload: Sequence[str] = ()
    price_label: str = ""
    real_money: bool = False
    disk: Disk | None = None
    remarks: Sequence[str] = ()
    forecast_limit: str = ""


def decisions(facts: Facts) -> list[str]:
    """Return one sentence for each thing that is decided for the user, and how to have it otherwise."""
    return [line for line in (*facts.remarks, _workers(facts), *_limits(facts), *_means(facts)) if line]


def _workers(facts: Facts) -> str:
    asked = facts.asked_workers
    if facts.exclusive:
        reduced = f"n_workers {asked} -> {facts.workers}: " if asked is not None and asked > facts.workers else ""
        return f"{reduced}exclusive: nothing runs beside a trial, so that nothing disturbs it; --set exclusive=false for more at once"
    if asked is None:
        return ""
    several = ", ".join(f"{count} of {name}" for name, count in facts.fits.items())
    if asked > facts.workers:
        no_more = f"no more of {next(iter(facts.fits), 'them')} fit here at once" if len(facts.fits) < 2 else f"at once fit here {several}"
        return f"n_workers {asked} -> {facts.workers}: {no_more}"
    if facts.fits and asked > min(facts.fits.values()):
        return f"n_workers {asked}, but at once run at most {several}; further ones wait"
    return ""


def _limits(facts: Facts) -> list[str]:
    budget, found = facts.budget, []
    if not facts.finite and budget.max_num_trials is None and budget.max_wallclock_time is None and budget.max_cost is None:
        found.append("no budget: it goes on until it is interrupted; --max_num_trials, --max_wallclock_time or --max_cost end it")
    if budget.max_run is None:
        longest_s = longest_run_s(budget, facts.default_max_run_s)
        forecast = f", or {facts.forecast_limit} where it has one" if facts.forecast_limit else ""
        why = ", as max_cost needs a limit" if facts.default_max_run_s is None else ""
        found.append(
            f"a job may take as long as it takes{forecast}; --max_run S limits it"
            if longest_s is None
            else f"a job may take {longest_s:g} s (default{why}){forecast}; --max_run S for another limit"
        )
    return found


def _means(facts: Facts) -> list[str]:
    price = f"prices are {facts.price_label}: nobody is billed" if facts.price_label else ""
    found = ["prices are real: the account is billed" if facts.real_money else price]
    if [*facts.preload] == ["auto"]:
        found.append(
            "preload auto: what takes 50 ms to import in the first trial is imported once for all others, but what cannot be forked"
        )
    elif facts.preload:
        found.append(f"preload {', '.join(facts.preload)}: Python scripts are forked from a process that has imported it")
    return found if facts.disk is None else [*found, *_disk(facts.disk)]


def _disk(disk: Disk) -> list[str]:
    free, found = size_text(disk.free_bytes), []
    needed = None
    if disk.keep is not None and disk.left and disk.trials is not None:
        needed = needed_bytes(disk.left, Outlook(disk.trials, disk.workers), disk.keep)
    if needed is not None and needed > disk.free_bytes:
        less = "" if disk.keep == "none" else ", or keep less (keep: none)"
        found.append(
            f"disk: {disk.trials} trials that leave what those of {disk.tag} left need about {size_text(needed)} at once, "
            f"{free} are free in {disk.folder}; make room, give another --results_dir{less}"
        )
    elif disk.free_bytes < _LITTLE_DISK_BYTES:
        found.append(f"only {free} of disk are free for results; make room, or give another --results_dir")
    elif needed is not None and needed >= _WORTH_A_WORD_BYTES:
        found.append(f"disk: about {size_text(needed)} of {free} will be needed, by what the trials of {disk.tag} left")
    elif disk.keep is not None:
        found.append(f"disk: {free} are free for results")
    if disk.keep_is_default and disk.keep == 1:
        found.append("checkpoints and models of the best trial stay, those of others go once it is known; --set keep=all for all")
    return found
