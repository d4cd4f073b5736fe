"""Logs of a run's controllers and trials, read from CloudWatch, from any machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from backends.object_store import ObjectStore
from backends.sagemaker.admin.tagged_jobs import newest_job
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.controllers.own_job import status_within
from backends.sagemaker.logs.tail import JobLogTail
from benchmarking.remote.generations import generations
from benchmarking.remote.layout import generation_key
from definitions import strict_json
from definitions.errors import UserError
from launch.remote.run_experiments import experiments_in
from launch.remote.run_places import RunPlaces

_STATUS_S = 10.0
_OVER = ("Completed", "Failed", "Stopped")


def show(
    clients: Clients,
    jobs: Callable[[], str],
    write: Callable[[str], None],
    *,
    follow: bool,
    poll_s: float = 2.0,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Write a log's lines, and with `follow` those that come until its job is over; return how many there were.

    Args:
        clients: of AWS.
        jobs: returns the name of the job whose log it is; of a controller it changes with each generation.
        write: takes each line.
        follow: whether to go on.
        poll_s: seconds between two looks.
        sleep: waits so many seconds.
    """
    count, job = 0, jobs()
    tail = JobLogTail(clients, job)
    while True:
        # Asked before reading: what was written before the end is read after it.
        is_over = not follow or status_within(clients, job, _STATUS_S) in _OVER
        for line in tail.new_lines():
            write(line)
            count += 1
        if is_over:
            following = jobs() if follow else job
            if following == job:
                return count
            job = following
            tail = JobLogTail(clients, job)
        else:
            sleep(poll_s)


def controller_job(stores: Sequence[ObjectStore], controller: int) -> str:
    """Return the name of the job in which the last generation of a controller runs; raises `UserError` where there is none."""
    known: set[int] = set()
    for store in stores:
        found = generations(store)
        known |= {*found}
        if controller in found:
            there = store.get(generation_key(controller, found[controller]))
            if there is not None:
                return str(strict_json.loads(there.body.decode())["job"])
    has = f"it has {', '.join(map(str, sorted(known)))}" if known else "it has none: it was not launched, or its state is elsewhere"
    raise UserError(f"logs: controller {controller} of this run", has, "give --controller, or --bucket and --prefix; or --trial N")


def trial_job(places: RunPlaces, folders: Sequence[Path], trial: int, named: str) -> str:
    """Return the name of a trial's last job.

    Args:
        places: of the run.
        folders: of its experiments on this machine.
        trial: its number.
        named: which experiment is meant; empty where there is one alone that has it.

    Raises:
        UserError: no experiment has started such a trial, or several have.
    """
    asked = f"logs {places.tag} --trial {trial}"
    experiments = experiments_in(places.tag, folders, places.stores)
    meant = {name: prefix for name, prefix in experiments.items() if not named or f"/{name}".endswith(f"/{named}")}
    found = {name: job for name, prefix in meant.items() if (job := newest_job(places.clients, f"{prefix}-t{trial}-a"))}
    if not found:
        raise UserError(asked, "the service knows no training job of such a trial", "see `outrider status` for the experiments there are")
    if len(found) > 1:
        raise UserError(asked, f"several experiments have one: {', '.join(found)}", "name it: --experiment NAME")
    return next(iter(found.values()))
