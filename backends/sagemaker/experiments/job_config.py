"""The ExperimentConfig of training jobs: their trials are made before them, 50 jobs at a time, and a job waits for one answer at most."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable

from backends.job_spec import JobSpec
from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import TRANSIENT, CallFailure, FailureKind
from backends.sagemaker.aws.rate_limiter import RateLimiter
from backends.sagemaker.experiments import names
from backends.sagemaker.experiments.calls import PacedCalls
from backends.sagemaker.experiments.places import Places
from backends.sagemaker.jobs.options import Options
from backends.tracked import TrackerError

_AHEAD = 10
"""Trials before the last one of a group at which the next group's is asked for."""

_OURS = re.compile(r"\b(trial|experiment)", re.IGNORECASE)
_NOT_OURS = TRANSIENT | {FailureKind.CREDENTIALS, FailureKind.EXISTS}


class JobConfigs:
    """What jobs of one experiment say about where they belong in SageMaker Experiments.

    Whatever goes wrong is said once and costs no job: those that say nothing are put into their trials by whoever tells the tracker.

    Args:
        places: makes trials; `prefix`: of the jobs' names.
        calls: makes the calls.
        notify: takes what a person should know.
    """

    def __init__(self, places: Places, prefix: str, calls: CallQueue, notify: Callable[[str], None]) -> None:
        self._places, self._prefix, self._calls, self._notify = places, prefix, calls, notify
        self._lock = threading.Lock()
        self._asked: set[str] = set()
        self._made: set[str] = set()
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._given_up = False

    def ask(self, job: JobSpec) -> None:
        """Have the trial of a job made, and in good time that of the next ones."""
        self._ask(self._trial(job))
        if job.attempt == 1 and job.trial % names.COMPONENTS_A_TRIAL >= names.COMPONENTS_A_TRIAL - _AHEAD:
            self._ask(names.trial_name(self._prefix, job.trial + _AHEAD, 1))

    def waits(self, job: JobSpec, then: Callable[[], None]) -> bool:
        """Return whether a job waits for the answer about its trial, after which `then` is called."""
        trial = self._trial(job)
        if self._given_up or trial not in self._waiting:
            return False
        self._waiting[trial].append(then)
        return True

    def config(self, job: JobSpec) -> dict[str, str] | None:
        """Return the ExperimentConfig of a job; None where its trial is not there."""
        trial = self._trial(job)
        if self._given_up or trial not in self._made:
            return None
        return {"TrialName": trial, "TrialComponentDisplayName": names.display_name(f"trial-{job.trial}")}

    def is_cause(self, failure: CallFailure) -> bool:
        """Return whether a job may be refused for its ExperimentConfig alone; then no further job carries one."""
        if failure.kind in _NOT_OURS or not _OURS.search(failure.message):
            return False
        self._given_up = True
        return True

    def _trial(self, job: JobSpec) -> str:
        return names.trial_name(self._prefix, job.trial, job.attempt)

    def _ask(self, trial: str) -> None:
        if trial in self._asked or self._given_up:
            return
        self._asked.add(trial)
        self._waiting[trial] = []

        def make() -> str:
            try:
                with self._lock:
                    self._places.make(trial)
            except TrackerError as error:
                # Not repeated here: a job would wait for it.
                return str(error)
            return ""

        self._calls.put(Call("CreateTrial", make, lambda problem: self._answered(trial, problem), lambda failure: None))

    def _answered(self, trial: str, problem: str) -> None:
        if not problem:
            self._made.add(trial)
        elif not self._given_up:
            self._given_up = True
            self._notify(f"jobs do not say where they belong in SageMaker Experiments ({problem}); tracking makes good for it")
        for then in self._waiting.pop(trial, []):
            then()


def job_configs(clients: Clients, options: Options, rng: random.Random, calls: CallQueue, notify: Callable[[str], None]) -> JobConfigs:
    """Return what says where the jobs of an experiment belong; see `JobConfigs`.

    Args:
        clients: of AWS.
        options: of the experiment's jobs.
        rng: of the jitter.
        calls: makes the calls.
        notify: takes what a person should know.
    """
    tag, _, prefix = options.experiment.partition("/")
    places = Places(PacedCalls(clients, RateLimiter(rng)))
    places.begin(tag, options.benchmark, prefix)
    return JobConfigs(places, prefix, calls, notify)
