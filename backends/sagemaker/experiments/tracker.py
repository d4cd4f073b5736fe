"""Experiments in SageMaker Experiments: an experiment for a tag's benchmark, a trial for 50 of our trials, a component for each job."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from backends.naming import TAG_KEY
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.rate_limiter import RateLimiter, machine_pace
from backends.sagemaker.experiments import names
from backends.sagemaker.experiments.calls import PacedCalls, RefusedCallError
from backends.sagemaker.experiments.places import Places
from backends.tracked import Change, KnownRun, Point, RunStatus, TrackedExperiment, TrackedRun, Tracker

SEQUENCE = "outrider.sequence"
"""Parameter that says up to which record of the journal a component has everything."""

_METRICS_A_CALL = 10
_OF_JOBS = ("sagemaker", "warm_pool")
"""Back-ends whose jobs are training jobs."""

_WAITS = "waits to go on"
_STATUSES = {
    RunStatus.RUNNING: "InProgress",
    RunStatus.WAITING: "InProgress",
    RunStatus.FINISHED: "Completed",
    RunStatus.FAILED: "Failed",
    RunStatus.STOPPED: "Stopped",
}
_OF_STATUS = {text: status for status, text in _STATUSES.items() if status is not RunStatus.WAITING}
_LONGEST_MESSAGE = 1024


@dataclass(frozen=True)
class ComponentState:
    """What one component is to hold: one of a run's jobs, or an experiment as a whole.

    Args:
        name: of the component; `trial`: of the trial that it is in.
        points: of the run that are its own.
        status, started_at, ended_at: seconds since the epoch.
        is_last: whether what is known of the run as a whole is its own.
    """

    name: str
    trial: str
    points: Sequence[Point]
    status: RunStatus
    started_at: float
    ended_at: float | None
    is_last: bool


class SageMakerTracker(Tracker):
    """Speaks to SageMaker Experiments.

    Args:
        environ: where region, credentials and address are found; no call is made.

    Raises:
        UserError: boto3 is not installed, or no region is known.
    """

    def __init__(self, environ: Mapping[str, str], calls: PacedCalls | None = None) -> None:
        self._environ = environ
        self._calls = calls or _paced(environ, environ.get("AWS_REGION"))
        self._given = calls is not None
        self._region = ""
        self._places = Places(self._calls)
        self._components: dict[str, Mapping[str, Any]] = {}
        self._unplaced: dict[str, str] = {}
        self._prefix, self._is_live, self._are_jobs = "", False, False
        self._remarks: dict[str, None] = {}

    def remarks(self) -> list[str]:
        """Return what was left out or changed."""
        return [*self._remarks]

    def as_kept(self, tags: Mapping[str, str]) -> Mapping[str, str]:
        """Return tags as the texts that parameters can be."""
        return {name[: names.LONGEST_KEY]: str(next(iter(names.parameter(text).values()))) for name, text in tags.items()}

    def find(self, experiment: TrackedExperiment) -> dict[str, KnownRun]:
        """Return the runs of which there is a component, by their jobs; of a component in no trial its own is made good."""
        self._prefix = experiment.whole.job
        self._is_live = experiment.whole.status is RunStatus.RUNNING
        self._are_jobs = experiment.whole.parameters.get("backend") in _OF_JOBS
        self._move_to(experiment.region if self._are_jobs else "")
        self._places.begin(experiment.tag, experiment.benchmark, self._prefix)
        self._unplaced = {}
        self._components = {one["TrialComponentName"]: one for one in self._searched()}
        found = {}
        for run in (experiment.whole, *experiment.trials):
            known = self._known(run)
            if known is not None:
                found[run.job] = known
        return found

    def write(self, change: Change, known: Mapping[str, KnownRun]) -> KnownRun:
        """Write what the components of a run lack: metrics first, then what says that they are there."""
        run = change.run
        parts = self._parts(run)
        mark = -1 if change.known is None else change.known.sequence
        for part in parts:
            self._write_part(part, change, mark)
        if run.job == self._prefix and run.ended_at is not None:
            self._place_the_rest()
        tags = {**({} if change.known is None else change.known.tags), **change.tags}
        return KnownRun(parts[-1].name if parts else "", run.sequence, run.status, run.ended_at is not None, tags)

    def holds(self, tag: str) -> Mapping[str, int]:
        """Return the experiments of a tag, and how many components of ours each has."""
        trials = self._trials_of(tag)
        found = dict.fromkeys(self._experiments_of(tag), 0)
        experiment_of = {trial["TrialName"]: trial["ExperimentName"] for trial in trials}
        for component in self._components_of(trials):
            for parent in component.get("Parents", ()):
                experiment = experiment_of.get(parent.get("TrialName", ""))
                if experiment is not None:
                    found[experiment] = found.get(experiment, 0) + 1
        return {name: count for name, count in found.items() if count or not self._is_foreign(name, [*experiment_of])}

    def delete(self, tag: str) -> int:
        """Delete the components and the trials of a tag, and its experiments in which nothing else is left."""
        trials = self._trials_of(tag)
        deleted = 0
        for component in self._components_of(trials):
            name = component["TrialComponentName"]
            for parent in component.get("Parents", ()):
                self._rid("DisassociateTrialComponent", TrialComponentName=name, TrialName=parent["TrialName"])
            deleted += self._rid("DeleteTrialComponent", TrialComponentName=name)
        for trial in trials:
            # What others have put there is let go, but theirs.
            page = self._calls.sagemaker("ListTrialComponents", TrialName=trial["TrialName"], MaxResults=100)
            for one in page["TrialComponentSummaries"]:
                self._rid("DisassociateTrialComponent", TrialComponentName=one["TrialComponentName"], TrialName=trial["TrialName"])
            self._rid("DeleteTrial", TrialName=trial["TrialName"])
        for experiment in self._experiments_of(tag):
            if not self._is_foreign(experiment, []):
                self._rid("DeleteExperiment", ExperimentName=experiment)
        return deleted

    def _parts(self, run: TrackedRun) -> list[ComponentState]:
        if run.job == self._prefix:
            name, trial = names.whole_component_name(self._prefix), names.whole_trial_name(self._prefix)
            return [ComponentState(name, trial, run.points, run.status, run.started_at, run.ended_at, is_last=True)]
        points: dict[str, list[Point]] = defaultdict(list)
        last = run.jobs[-1]
        for point in run.points:
            # What was measured from outside is of the trial; it lies where its latest job is.
            points[point.job or last.name].append(point)
        assert run.trial is not None
        # A component that was there before its training job would be in the way of the one that the job's request makes.
        jobs = [job for job in run.jobs if not (self._are_jobs and self._is_live and job.status is RunStatus.WAITING)]
        return [
            ComponentState(
                names.component_name(job.name, is_training_job=self._are_jobs),
                names.trial_name(self._prefix, run.trial, job.attempt),
                points[job.name],
                run.status if job is last else job.status,
                job.started_at,
                run.ended_at if job is last else job.ended_at,
                is_last=job is last,
            )
            for job in jobs
        ]

    def _known(self, run: TrackedRun) -> KnownRun | None:
        """Return what is there of a run; None where nothing of ours is."""
        parts = self._parts(run)
        sequence = run.sequence
        there: Mapping[str, Any] = {}
        for part in parts:
            there = self._components.get(part.name, {})
            if there and part.trial not in [one.get("TrialName") for one in there.get("Parents", ())]:
                self._places.put(part.name, part.trial)
            mark = _mark(there)
            if mark < 0 or any(point.sequence > mark for point in part.points) or (part.is_last and mark < run.sequence):
                sequence = min(sequence, mark)
        if not any(_mark(self._components.get(part.name, {})) >= 0 for part in parts):
            return None
        status = there.get("Status", {})
        waits = status.get("Message") == _WAITS
        tags = {name: str(next(iter(value.values()))) for name, value in there.get("Parameters", {}).items() if value}
        known = RunStatus.WAITING if waits else _OF_STATUS.get(status.get("PrimaryStatus", ""))
        return KnownRun(parts[-1].name, sequence, known, "EndTime" in there, tags)

    def _write_part(self, part: ComponentState, change: Change, mark: int) -> None:
        there = self._components.get(part.name)
        is_new = there is None or _mark(there) < 0
        if there is not None and not is_new and not part.is_last and _has_all(there, part):
            return
        request = self._request(part, change, is_new=is_new)
        marked = {**request["Parameters"], SEQUENCE: {"NumberValue": float(change.run.sequence)}}
        whole = {**request, "Parameters": marked}
        if there is None and not part.points:
            there = self._made(part, whole)
        else:
            # The mark comes last: what a killed process did not put any more is put by the next.
            there = self._made(part, request) if there is None else there
            self._put(part, there, max(mark, _mark(there)))
            self._calls.sagemaker("UpdateTrialComponent", **whole)
        self._components[part.name] = {
            **there,
            "Parameters": {**there.get("Parameters", {}), **marked},
            "Status": request["Status"],
            "Metrics": None,
        }

    def _request(self, part: ComponentState, change: Change, *, is_new: bool) -> dict[str, Any]:
        run = change.run
        parameters = {name: names.parameter(value) for name, value in run.parameters.items()} if is_new else {}
        tags = (self.as_kept(run.tags) if is_new else change.tags) if part.is_last else {}
        whole = {name[: names.LONGEST_KEY]: value for name, value in parameters.items()}
        whole |= {name: {"StringValue": text} for name, text in tags.items()}
        if len(whole) >= names.MOST_PARAMETERS:
            self._remark(f"SageMaker takes {names.MOST_PARAMETERS} parameters of a component; of {run.name} the rest is left out")
            whole = dict(list(whole.items())[: names.MOST_PARAMETERS - 1])
        message = _WAITS if part.status is RunStatus.WAITING else _message(run) if part.is_last else ""
        found: dict[str, Any] = {
            "TrialComponentName": part.name,
            "DisplayName": names.display_name(run.name),
            "Status": {"PrimaryStatus": _STATUSES[part.status], "Message": message},
            "StartTime": _time(part.started_at),
            "Parameters": whole,
        }
        if part.ended_at is not None:
            found["EndTime"] = _time(part.ended_at)
        return found

    def _made(self, part: ComponentState, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the component, made where it is not there; that of a training job may be."""
        if self._are_jobs and part.trial != self._prefix:
            try:
                self._calls.sagemaker("UpdateTrialComponent", **request)
            except RefusedCallError as error:
                if not error.is_missing:
                    raise
            else:
                if self._is_live:
                    # Its own request has put it into its trial; whether so is looked at once, at the end.
                    self._unplaced[part.name] = part.trial
                else:
                    self._places.put(part.name, part.trial)
                return {}
        try:
            self._calls.sagemaker("CreateTrialComponent", **request)
            there: Mapping[str, Any] = {}
        except RefusedCallError as error:
            if not error.is_taken:
                raise
            # What is searched lags behind what is written.
            there = self._calls.sagemaker("DescribeTrialComponent", TrialComponentName=part.name)
        self._places.put(part.name, part.trial)
        return there

    def _put(self, part: ComponentState, there: Mapping[str, Any], mark: int) -> None:
        """Put the metrics that a component lacks: those after its mark, but those that came before a killed process could set it."""
        counts = Counter({one["MetricName"]: int(one.get("Count", 0)) for one in there.get("Metrics") or () if _is_own(one)})
        seen: Counter[str] = Counter()
        lacking = []
        for point in part.points:
            name = names.metric_name(point.name)
            if not math.isfinite(point.value):
                self._remark(f"SageMaker takes no NaN and no infinity, so that such values of {name!r} are not told")
                continue
            seen[name] += 1
            if point.sequence > mark and seen[name] > counts[name]:
                lacking.append({"MetricName": name, "Timestamp": _time(point.at), "Step": max(0, point.step), "Value": point.value})
        for start in range(0, len(lacking), _METRICS_A_CALL):
            data = lacking[start : start + _METRICS_A_CALL]
            answer = self._calls.metrics("BatchPutMetrics", TrialComponentName=part.name, MetricData=data)
            for problem in answer.get("Errors", ()):
                name = data[problem["MetricIndex"]]["MetricName"]
                self._remark(f"SageMaker does not take a value of the metric {name!r} ({problem['Code']})")

    def _place_the_rest(self) -> None:
        if self._unplaced:
            there = {one["TrialComponentName"]: one for one in self._searched()}
            for name, trial in [*self._unplaced.items()]:
                if trial not in [one.get("TrialName") for one in there.get(name, {}).get("Parents", ())]:
                    self._places.put(name, trial)
                del self._unplaced[name]

    def _searched(self) -> list[Mapping[str, Any]]:
        wanted = [{"Name": "TrialComponentName", "Operator": "Contains", "Value": self._prefix.lower()}]
        return [*self._calls.search("ExperimentTrialComponent", wanted, "TrialComponent")]

    def _trials_of(self, tag: str) -> list[Mapping[str, Any]]:
        return [*self._calls.search("ExperimentTrial", [{"Name": f"Tags.{TAG_KEY}", "Operator": "Equals", "Value": tag}], "Trial")]

    def _experiments_of(self, tag: str) -> list[str]:
        wanted = [{"Name": f"Tags.{TAG_KEY}", "Operator": "Equals", "Value": tag}]
        return [one["ExperimentName"] for one in self._calls.search("Experiment", wanted, "Experiment")]

    def _components_of(self, trials: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the components of ours that belong to trials, also those that a killed process has taken out of them."""
        found = {}
        for prefix in dict.fromkeys(_prefix_of(trial) for trial in trials):
            wanted = [{"Name": "TrialComponentName", "Operator": "Contains", "Value": prefix}]
            for one in self._calls.search("ExperimentTrialComponent", wanted, "TrialComponent"):
                if one["TrialComponentName"].startswith(f"{prefix}-"):
                    found[one["TrialComponentName"]] = one
        return [*found.values()]

    def _is_foreign(self, experiment: str, ours: Sequence[str]) -> bool:
        """Return whether an experiment has trials that are not ours, so that it stays."""
        page = self._calls.sagemaker("ListTrials", ExperimentName=experiment, MaxResults=100)
        return bool(page.get("NextToken")) or any(one["TrialName"] not in ours for one in page["TrialSummaries"])

    def _rid(self, operation: str, **request: Any) -> bool:
        """Make a call that takes something away, and return whether it was there: what is searched lags behind what was deleted."""
        try:
            self._calls.sagemaker(operation, **request)
        except RefusedCallError as error:
            if not error.is_missing:
                raise
            return False
        return True

    def _move_to(self, region: str) -> None:
        """Speak to the region that an experiment's jobs are in."""
        if region and region != self._region and not self._given:
            self._region, self._calls = region, _paced(self._environ, region)
            self._places = Places(self._calls)

    def _remark(self, text: str) -> None:
        self._remarks[text] = None


def _paced(environ: Mapping[str, str], region: str | None) -> PacedCalls:
    clients = Clients(region, environ, attempts=1)
    clients.get("sagemaker")
    shared = partial(machine_pace, region=clients.region, environ=environ)
    return PacedCalls(clients, RateLimiter(random.Random(), shared=shared))


def _mark(component: Mapping[str, Any]) -> int:
    return int(component.get("Parameters", {}).get(SEQUENCE, {}).get("NumberValue", -1))


def _has_all(component: Mapping[str, Any], part: ComponentState) -> bool:
    """Return whether a component that is over has everything."""
    is_over = component.get("Status", {}).get("PrimaryStatus") == _STATUSES[part.status] and part.ended_at is not None
    return is_over and not any(point.sequence > _mark(component) for point in part.points)


def _prefix_of(trial: Mapping[str, Any]) -> str:
    return str(next(one["Value"] for one in trial["Tags"] if one["Key"] == "outrider:experiment")).lower()


def _is_own(metric: Mapping[str, Any]) -> bool:
    """Return whether a metric was put, and not found by SageMaker in a job's log."""
    return ":training-job/" not in metric.get("SourceArn", "")


def _message(run: TrackedRun) -> str:
    cause, message = run.tags.get("outrider.cause", ""), run.tags.get("outrider.message", "")
    return ": ".join(part for part in (cause, " ".join(message.split())) if part)[:_LONGEST_MESSAGE]


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(max(0.001, seconds), UTC)
