"""SageMaker's operations on experiments, and BatchPutMetrics of its metrics service."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from backends.emulator.core.settings import Settings
from backends.emulator.experiments.store import Entity, ExperimentStore
from backends.emulator.experiments.views import NAMES, arn, shown
from backends.emulator.http.errors import ServiceError, invalid
from backends.emulator.http.paging import decode_token, encode_token
from backends.emulator.training.search import search
from backends.emulator.training.validation import RequestValidator

Operation = Callable[[dict[str, Any]], dict[str, Any]]
_KINDS = {name: kind for kind, name in NAMES.items()}
_SEARCHED = {"Experiment": "experiment", "ExperimentTrial": "trial", "ExperimentTrialComponent": "component"}
_SUFFIX = "-aws-training-job"
"""What the service adds to the name of a training job for that of its component."""


class ExperimentsService:
    """The operations, by name.

    Args:
        store: of all experiments.
        model: botocore's of SageMaker; `metrics_model`: of its metrics.
        job_of: returns what DescribeTrainingJob shows of a job; None for one that is gone.
    """

    def __init__(
        self,
        store: ExperimentStore,
        settings: Settings,
        model: RequestValidator,
        metrics_model: RequestValidator,
        job_of: Callable[[str], Mapping[str, Any] | None],
    ) -> None:
        self._store, self._settings, self._model, self._metrics_model, self._job_of = store, settings, model, metrics_model, job_of
        self._operations: dict[str, Operation] = {
            "UpdateTrialComponent": self._update,
            "AssociateTrialComponent": self._associate,
            "DisassociateTrialComponent": self._disassociate,
        }
        for name, kind in _KINDS.items():
            self._operations[f"Create{name}"] = self._bound(self._create, kind)
            self._operations[f"Describe{name}"] = self._bound(self._describe, kind)
            self._operations[f"List{name}s"] = self._bound(self._list, kind)
            self._operations[f"Delete{name}"] = self._bound(self._delete, kind)

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation is one of experiments; tags and searches of other resources are not."""
        if operation in ("AddTags", "ListTags"):
            return ":experiment" in str(request.get("ResourceArn", ""))
        return operation in self._operations or (operation == "Search" and request.get("Resource") in _SEARCHED)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        self._model.check(operation, request)
        special = {"Search": self._search, "AddTags": self._add_tags, "ListTags": self._list_tags}
        return special[operation](request) if operation in special else self._operations[operation](request)

    def put_metrics(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer BatchPutMetrics: values that cannot be are named, the others are kept."""
        self._metrics_model.check("BatchPutMetrics", request)
        errors, taken = [], []
        for index, one in enumerate(request["MetricData"]):
            if isinstance(one["Value"], bool) or not isinstance(one["Value"], (int, float)) or not math.isfinite(one["Value"]):
                errors.append({"Code": "VALIDATION_ERROR", "MetricIndex": index})
            else:
                taken.append((one["MetricName"], int(one.get("Step", 0)), float(one["Timestamp"]), float(one["Value"])))
        self._store.put_metrics(request["TrialComponentName"], taken)
        return {"Errors": errors} if errors else {}

    def check_job(self, request: Mapping[str, Any]) -> None:
        """Raise the service's error where the ExperimentConfig of a training job names what is not there, or has no room."""
        config = request.get("ExperimentConfig") or {}
        if config.get("TrialName"):
            trial = self._store.get("trial", config["TrialName"])
            if config.get("ExperimentName", trial.parents[0]) != trial.parents[0]:
                raise invalid(f"Trial '{trial.name}' does not belong to experiment '{config['ExperimentName']}'.")
            self._store.check_count("component", trial.name)
        elif config.get("ExperimentName"):
            self._store.check_count("trial", config["ExperimentName"])

    def job_made(self, request: Mapping[str, Any]) -> None:
        """Make the component of a training job that carries an ExperimentConfig."""
        config, job = request.get("ExperimentConfig"), request["TrainingJobName"]
        if not config:
            return
        name = f"{job.lower()}{_SUFFIX}"
        display = {"DisplayName": config["TrialComponentDisplayName"]} if config.get("TrialComponentDisplayName") else {}
        trial = config.get("TrialName")
        if not trial and config.get("ExperimentName"):
            trial = self._store.create("trial", name, {}, [config["ExperimentName"]]).name
        self._store.create_for_job(name, display, [trial] if trial else [], job)

    def _bound(self, does: Callable[[str, dict[str, Any]], dict[str, Any]], kind: str) -> Operation:
        return lambda request: does(kind, request)

    def _create(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        name = request[f"{NAMES[kind]}Name"]
        parents = [request["ExperimentName"]] if kind == "trial" else []
        return self._named(self._store.create(kind, name, request, parents))

    def _describe(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        return self._shown(self._store.get(kind, request[f"{NAMES[kind]}Name"]))

    def _list(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        found = self._store.all(kind)
        if kind == "trial" and "ExperimentName" in request:
            found = [one for one in found if self._store.get("experiment", request["ExperimentName"]).name in one.parents]
        if kind == "trial" and "TrialComponentName" in request:
            found = [one for one in found if one.name in self._store.get("component", request["TrialComponentName"]).parents]
        if kind == "component" and "TrialName" in request:
            found = [one for one in found if self._store.get("trial", request["TrialName"]).name in one.parents]
        if kind == "component" and "ExperimentName" in request:
            trials = self._store.children("experiment", self._store.get("experiment", request["ExperimentName"]).name)
            found = [one for one in found if any(trial in trials for trial in one.parents)]
        # Not under the store's lock: a job is looked at under that of the jobs, which is held when a component is made for one.
        rows = [self._shown(one) for one in found]
        if request.get("SortOrder", "Descending") == "Descending":
            rows.reverse()
        left_out = {
            "Parameters",
            "Metrics",
            "InputArtifacts",
            "OutputArtifacts",
            "Description",
            *({"ExperimentName"} if kind == "trial" else ()),
        }
        start, most = decode_token(request["NextToken"]) if request.get("NextToken") else 0, request.get("MaxResults", 10)
        page = [{name: value for name, value in row.items() if name not in left_out} for row in rows[start : start + most]]
        more = {"NextToken": encode_token(start + most)} if start + most < len(rows) else {}
        return {f"{NAMES[kind]}Summaries": page, **more}

    def _delete(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        name = request[f"{NAMES[kind]}Name"]
        answer = self._named(self._store.get(kind, name))
        self._store.delete(kind, name)
        return answer

    def _update(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["TrialComponentName"]
        return self._named(self._store.update(name, {key: value for key, value in request.items() if key != "TrialComponentName"}))

    def _associate(self, request: dict[str, Any]) -> dict[str, Any]:
        self._store.associate(request["TrialComponentName"], request["TrialName"])
        return {}

    def _disassociate(self, request: dict[str, Any]) -> dict[str, Any]:
        self._store.disassociate(request["TrialComponentName"], request["TrialName"])
        return {}

    def _search(self, request: dict[str, Any]) -> dict[str, Any]:
        kind = _SEARCHED[request["Resource"]]
        described = [self._searched(one) for one in self._store.all(kind)]
        descending = request.get("SortOrder", "Descending") == "Descending"
        found = search(described, request.get("SearchExpression", {}), request.get("SortBy", "LastModifiedTime"), descending)
        start, most = decode_token(request["NextToken"]) if request.get("NextToken") else 0, request.get("MaxResults", 10)
        more = {"NextToken": encode_token(start + most)} if start + most < len(found) else {}
        return {"Results": [{NAMES[kind]: dict(one)} for one in found[start : start + most]], **more}

    def _searched(self, entity: Entity) -> dict[str, Any]:
        found = {**self._shown(entity), "Tags": entity.request.get("Tags", [])}
        if entity.kind == "component":
            trials = [self._store.get("trial", name) for name in entity.parents]
            found["Parents"] = [{"TrialName": trial.name, "ExperimentName": trial.parents[0]} for trial in trials]
        return found

    def _add_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        entity = self._by_arn(request["ResourceArn"])
        tags = {**_tags(entity), **{tag["Key"]: tag["Value"] for tag in request["Tags"]}}
        entity.request["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
        return {"Tags": entity.request["Tags"]}

    def _list_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"Tags": self._by_arn(request["ResourceArn"]).request.get("Tags", [])}

    def _by_arn(self, wanted: str) -> Entity:
        for kind in NAMES:
            for entity in self._store.all(kind):
                if arn(entity, self._settings) == wanted:
                    return entity
        raise ServiceError("ResourceNotFound", f"{wanted} does not exist.")

    def _shown(self, entity: Entity) -> dict[str, Any]:
        return shown(entity, self._settings, self._job_of(entity.job) if entity.job else None)

    def _named(self, entity: Entity) -> dict[str, Any]:
        return {f"{NAMES[entity.kind]}Arn": arn(entity, self._settings)}


def _tags(entity: Entity) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in entity.request.get("Tags", [])}
