"""Experiments in MLflow, by its own client: an experiment `<tag>/<benchmark>`, a run for each of ours, in it one for each trial."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import re
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from backends.tracked import Change, KnownRun, RunStatus, TrackedExperiment, Tracker, TrackerError
from benchmarking.tracking.mlflow.batches import SEQUENCE, Batch, Metric, batches
from benchmarking.tracking.mlflow.rules import LONGEST_EXPERIMENT, Names
from definitions.errors import UserError
from definitions.program import install_extra

JOB = "outrider.job"
EXPERIMENT = "outrider.experiment"
TAG = "outrider.tag"
SERVER = "mlflow server --backend-store-uri sqlite:///mlflow.db --host 127.0.0.1 --port 5000"

_STATUSES = {
    RunStatus.RUNNING: "RUNNING",
    RunStatus.WAITING: "SCHEDULED",
    RunStatus.FINISHED: "FINISHED",
    RunStatus.FAILED: "FAILED",
    RunStatus.STOPPED: "KILLED",
}
_OF_STATUS = {text: status for status, text in _STATUSES.items()}
_MANAGED = re.compile(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:[0-9]{12}:mlflow-(tracking-server|app)/.+")
_PAGE = 1000
_LONGEST_SAID = 300
_PERMANENT = ("INVALID_PARAMETER_VALUE", "PERMISSION_DENIED", "UNAUTHENTICATED", "RESOURCE_ALREADY_EXISTS", "BAD_REQUEST")


def check_uri(uri: str) -> None:
    """Raise `UserError` for a tracking URI that no tracking can go to: none, a folder, or an ARN of something else."""
    if not uri:
        raise UserError(
            "MLflow is asked for, but not where it is",
            "",
            f"start a server with `{SERVER}`, then: export MLFLOW_TRACKING_URI=http://127.0.0.1:5000",
        )
    if uri.startswith("arn:") and not _MANAGED.fullmatch(uri):
        form = "the form is arn:aws:sagemaker:<region>:<account>:mlflow-tracking-server/<name>, or mlflow-app/<id>"
        raise UserError(f"{uri} is no ARN of SageMaker's managed MLflow", form)
    if uri.startswith("file:") or not re.match(r"[a-zA-Z][\w+.-]+:", uri):
        raise UserError(
            f"{uri} is a folder",
            "MLflow 3 no longer tracks into folders (./mlruns)",
            f"start a server with `{SERVER}`, then: export MLFLOW_TRACKING_URI=http://127.0.0.1:5000",
        )


def check_installed(uri: str) -> None:
    """Raise `UserError` where what a tracking URI needs is not installed."""
    if importlib.util.find_spec("mlflow") is None:
        raise UserError("MLflow is asked for", "its client is not installed", install_extra("tracking"))
    if uri.startswith("arn:") and importlib.util.find_spec("sagemaker_mlflow") is None:
        extra = install_extra("tracking-sagemaker")
        raise UserError(f"{uri} is a server of SageMaker's", "its plug-in is not installed", extra)


class MlflowTracker(Tracker):
    """Speaks to one tracking server.

    Args:
        uri: of the server, `http(s)://` or the ARN of one of SageMaker's.

    Raises:
        UserError: the URI is none that can be tracked to, or MLflow's client is not installed.
    """

    def __init__(self, uri: str) -> None:
        check_uri(uri)
        check_installed(uri)
        from mlflow import MlflowClient
        from mlflow.tracking._tracking_service import utils

        if not uri.startswith("arn:"):
            # SageMaker's plug-in, where it is installed, says of each request that the server is none of its own.
            logging.getLogger("mlflow.tracking.request_header.registry").setLevel(logging.ERROR)

        with _errors():
            self._client: Any = MlflowClient(tracking_uri=uri)
            # The client asks for a run before it logs to it; its store does not, and that is a call less for each batch.
            stores: Any = utils
            self._store: Any = stores._get_store(uri)
        self._names = Names()
        self._experiment_id = ""
        self._identity = ""
        self._commit = ""

    def remarks(self) -> list[str]:
        """Return which names and values were changed."""
        return self._names.remarks

    def as_kept(self, tags: Mapping[str, str]) -> Mapping[str, str]:
        """Return tags within MLflow's rules."""
        return self._names.tags(tags)

    def find(self, experiment: TrackedExperiment) -> dict[str, KnownRun]:
        """Return the runs of an experiment that are there; of several for one job the others are deleted."""
        self._identity, self._commit = experiment.whole.job, experiment.commit
        name = f"{experiment.tag}/{experiment.benchmark}"[:LONGEST_EXPERIMENT]
        with _errors():
            self._experiment_id = self._made(name, experiment)
            found: dict[str, KnownRun] = {}
            for run in self._runs(f"tags.`{EXPERIMENT}` = '{self._identity}'"):
                job = run.data.tags.get(JOB, "")
                if job in found:
                    # A call that was not answered made a second one.
                    self._client.delete_run(run.info.run_id)
                    continue
                # The client's own tags, e.g. of the run's parent, are not ours to compare.
                found[job] = KnownRun(
                    run.info.run_id,
                    int(run.data.tags.get(SEQUENCE, -1)),
                    _OF_STATUS.get(run.info.status),
                    bool(run.info.end_time),
                    dict(run.data.tags),
                )
        return found

    def write(self, change: Change, known: Mapping[str, KnownRun]) -> KnownRun:
        """Make a run where there is none, log what it lacks, and settle it."""
        run, there = change.run, change.known
        tags = change.tags
        with _errors():
            if there is None:
                there = self._created(change, tags, known)
                tags = {}
            if there.sequence < 0 or change.points or tags:
                parameters = self._names.parameters(run.parameters) if there.sequence < 0 else {}
                name = self._names.name
                metrics = [Metric(name(point.name), point.value, _milliseconds(point.at), point.step) for point in change.points]
                for batch in batches(parameters, tags, metrics, run.sequence):
                    self._log(there.key, batch)
            if there.status is not run.status or there.ended != (run.ended_at is not None):
                self._settle(there.key, change)
        return KnownRun(there.key, run.sequence, run.status, run.ended_at is not None, {**there.tags, **change.tags})

    def holds(self, tag: str) -> Mapping[str, int]:
        """Return the experiments of a tag, and how many runs of ours each has."""
        with _errors():
            return {experiment.name: len(ours) for experiment, runs, ours in self._of_tag(tag) if ours or not runs}

    def delete(self, tag: str) -> int:
        """Delete the runs of a tag, and its experiments in which nothing else is left."""
        deleted = 0
        with _errors():
            for experiment, runs, ours in self._of_tag(tag):
                for run in ours:
                    self._client.delete_run(run.info.run_id)
                deleted += len(ours)
                if len(ours) == len(runs):
                    self._client.delete_experiment(experiment.experiment_id)
        return deleted

    def _of_tag(self, tag: str) -> Iterator[tuple[Any, list[Any], list[Any]]]:
        """Yield the experiments of a tag, each with all of its runs and with those that are ours."""
        for experiment in self._client.search_experiments(filter_string=f"tags.`{TAG}` = '{_quoted(tag)}'"):
            runs = [*self._runs("", [experiment.experiment_id])]
            yield experiment, runs, [run for run in runs if run.data.tags.get(EXPERIMENT)]

    def _made(self, name: str, experiment: TrackedExperiment) -> str:
        from mlflow.exceptions import MlflowException

        there = self._client.get_experiment_by_name(name)
        if there is None:
            try:
                return str(self._client.create_experiment(name, tags={TAG: experiment.tag}))
            except MlflowException as error:
                # Another experiment of the study has made it meanwhile.
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
                there = self._client.get_experiment_by_name(name)
        if there.lifecycle_stage == "deleted":
            self._client.restore_experiment(there.experiment_id)
        return str(there.experiment_id)

    def _runs(self, condition: str, experiments: list[str] | None = None) -> Iterator[Any]:
        token = None
        while True:
            page = self._client.search_runs(
                experiments or [self._experiment_id], condition, max_results=_PAGE, order_by=["attributes.start_time ASC"], page_token=token
            )
            yield from page
            token = page.token
            if not token:
                return

    def _created(self, change: Change, tags: Mapping[str, str], known: Mapping[str, KnownRun]) -> KnownRun:
        run = change.run
        whole = known.get(self._identity)
        own = {
            JOB: run.job,
            EXPERIMENT: self._identity,
            "mlflow.source.name": "outrider",
            "mlflow.source.type": "JOB",
            **({"mlflow.source.git.commit": self._commit} if self._commit else {}),
            **({"mlflow.parentRunId": whole.key} if whole is not None and run.job != self._identity else {}),
        }
        made = self._client.create_run(self._experiment_id, _milliseconds(run.started_at), {**tags, **own}, run.name)
        return KnownRun(made.info.run_id, -1, RunStatus.RUNNING, ended=False, tags=dict(change.tags))

    def _log(self, run_id: str, batch: Batch) -> None:
        from mlflow.entities import Metric as MlflowMetric
        from mlflow.entities import Param, RunTag

        self._store.log_batch(
            run_id,
            [MlflowMetric(one.name, one.value, one.timestamp, one.step) for one in batch.metrics],
            [Param(name, text) for name, text in batch.parameters.items()],
            [RunTag(name, text) for name, text in batch.tags.items()],
        )

    def _settle(self, run_id: str, change: Change) -> None:
        from mlflow.entities import RunStatus as MlflowStatus

        ended_at = change.run.ended_at
        status = MlflowStatus.from_string(_STATUSES[change.run.status])
        self._store.update_run_info(run_id, status, None if ended_at is None else _milliseconds(ended_at), None)


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    """Raise whatever MLflow's client raises as `TrackerError`."""
    try:
        yield
    except (TrackerError, UserError):
        raise
    except Exception as error:  # what MLflow, requests, urllib3 and botocore raise has no common root
        code = getattr(error, "error_code", "")
        said = " ".join(str(error).split()) or type(error).__name__
        said = said if len(said) <= _LONGEST_SAID else said[:_LONGEST_SAID] + "…"
        raise TrackerError(said, will_pass=code not in _PERMANENT) from error


def _milliseconds(seconds: float) -> int:
    """Return a time as MLflow has it, to which 0, where virtual clocks begin, is no time."""
    return max(1, round(seconds * 1000))


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def set_limits(environ: MutableMapping[str, str]) -> None:
    """Keep MLflow's client from waiting, as whoever calls it tries again by a pace of his own; of a process that does nothing else.

    Args:
        environ: the environment that the client reads; what the user set stands.
    """
    environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
    # Nothing is asked of anybody but the server.
    environ["MLFLOW_DISABLE_TELEMETRY"] = environ["DO_NOT_TRACK"] = "true"
