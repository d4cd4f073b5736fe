"""Brings an endpoint into being: packages, model, configuration, endpoint, each by a call of its own; and deletes them again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from backends.endpoint.deployed_job import DeployedJob, EndpointDeletion
from backends.endpoint.packages_in_s3 import PackageStore
from backends.endpoint.reasons import is_absent, is_in_progress, is_there_already
from backends.endpoint.requests import check_server, config_request, endpoint_request, model_request
from backends.endpoint.service_figures import service_figures
from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.sagemaker.aws.s3 import NoBucketError
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.lifecycle.stop_watch import StopWatch
from backends.stopped_endpoints import gone_at
from definitions.errors import UserError

Refused = Callable[[DeployedJob, CallFailure], None]


class EndpointCalls:
    """The calls that make and delete what a job's endpoint is made of.

    Args:
        clients: of AWS; `calls`: makes the calls.
        options: of the experiment; `has_image`: whether the definition names an image.
        store: of packages.
        notify: takes what a person should know.
        watch: knows whether somebody asked from elsewhere that no more is created; None where nobody can.
    """

    def __init__(
        self,
        clients: Clients,
        calls: CallQueue,
        options: Options,
        has_image: bool,
        store: PackageStore,
        notify: Callable[[str], None],
        watch: StopWatch | None = None,
    ) -> None:
        self._watch = watch
        self._clients, self._calls, self._options, self._has_image = clients, calls, options, has_image
        self._store, self._notify = store, notify
        self.left: dict[str, str] = {}
        """What could not be deleted, in words, by what it is."""

    def create(self, job: DeployedJob, created: Callable[[DeployedJob, Call], None], refused: Refused) -> None:
        """Ask for a job's endpoint.

        Args:
            job: new.
            created: called once there is an endpoint of the job's name, with the call that asked for it.
            refused: called where a call is refused; what was made before it is there then.

        Raises:
            UserError: the request cannot be made.
        """
        spec, deployment, options = job.spec, job.deployment, self._options
        check_server(deployment, options, self._clients.emulated, self._has_image)
        model = model_request(spec, deployment, options, "s3://to-be/known")
        config, endpoint = config_request(spec, deployment, options), endpoint_request(spec, deployment, options)

        def ask_model(uri: str) -> None:
            model["PrimaryContainer"]["ModelDataUrl"] = uri
            self._ask(job, "CreateModel", model, lambda _: ask_config(), refused)

        def ask_config() -> None:
            self._ask(job, "CreateEndpointConfig", config, lambda _: ask_endpoint(), refused)

        def ask_endpoint() -> None:
            self._ask(job, "CreateEndpoint", endpoint, lambda call: created(job, call), refused)

        bring = partial(self._store.bring, job.endpoint, deployment)
        self._calls.put(Call("PutObject", bring, ask_model, lambda failure: refused(job, failure)))

    def add_targets(self, job: DeployedJob, done: Callable[[], None], refused: Refused) -> None:
        """Make the targets of a job that gets an endpoint which is there."""
        bring = partial(self._store.bring, job.endpoint, job.deployment)
        self._calls.put(Call("PutObject", bring, lambda _: done(), lambda failure: refused(job, failure)))

    def describe(
        self, name: str, found: Callable[[Mapping[str, Any]], None], absent: Callable[[], None], refused: Callable[[CallFailure], None]
    ) -> None:
        """Describe an endpoint."""

        def failed(failure: CallFailure) -> None:
            absent() if is_absent(failure) else refused(failure)

        self._calls.put(Call("DescribeEndpoint", partial(self._call, "DescribeEndpoint", {"EndpointName": name}), found, failed))

    def deleted_at(self, name: str, done: Callable[[float | None], None]) -> None:
        """Look when `outrider stop` deleted an endpoint; None where it did not, or S3 does not say."""
        store = S3ObjectStore(self._options.run_uri, self._clients)

        def look() -> float | None:
            with contextlib.suppress(NoBucketError):
                return gone_at(store, name)
            return None

        self._calls.put(Call("GetObject", look, done, lambda _: done(None)))

    def delete(self, deletion: EndpointDeletion, gone: Callable[[], None]) -> None:
        """Have an endpoint deleted; that it is gone the next listings tell, or `gone` is called where it is already."""
        deletion.is_asked = True
        what = f"endpoint {deletion.endpoint}"

        def taken(_: Any) -> None:
            deletion.is_taken, deletion.unstoppable = True, ""
            self.left.pop(what, None)

        def failed(failure: CallFailure) -> None:
            deletion.is_asked = False
            if is_absent(failure):
                gone()
            elif not is_in_progress(failure):
                deletion.unstoppable = failure.line
                self._not_deleted(what, failure)

        request = {"EndpointName": deletion.endpoint}
        self._calls.put(Call("DeleteEndpoint", partial(self._call, "DeleteEndpoint", request), taken, failed))

    def figures(self, job: DeployedJob, done: Callable[[dict[str, dict[str, float]]], None]) -> None:
        """Ask what CloudWatch knows of a job's load; nothing where it does not answer."""
        script = job.script
        if script is None or script.started_at is None or script.ended_at is None:
            done({})
            return
        begin, end = script.started_at, script.ended_at

        def make() -> dict[str, dict[str, float]]:
            return service_figures(self._clients.get("cloudwatch", attempts=1), job.endpoint, begin, end)

        self._calls.put(Call("GetMetricStatistics", make, done, lambda _: done({})))

    def clear(self, endpoint: str) -> None:
        """Delete the configuration, the model and the targets of an endpoint that is gone."""
        for operation, field, what in (
            ("DeleteEndpointConfig", "EndpointConfigName", "endpoint configuration"),
            ("DeleteModel", "ModelName", "model"),
        ):
            self._delete_quietly(operation, f"{what} {endpoint}", partial(self._call, operation, {field: endpoint}))
        self._delete_quietly("DeleteObjects", f"targets of {endpoint}", partial(self._store.clear, endpoint))

    def _delete_quietly(self, operation: str, what: str, make: Callable[[], Any]) -> None:
        def failed(failure: CallFailure) -> None:
            if not is_absent(failure):
                self._not_deleted(what, failure)

        def done(_: Any) -> None:
            self.left.pop(what, None)

        self._calls.put(Call(operation, make, done, failed))

    def _not_deleted(self, what: str, failure: CallFailure) -> None:
        if what not in self.left:
            self._notify(f"{what} cannot be deleted: {failure.line}" + (f"; {failure.advice}" if failure.advice else ""))
        self.left[what] = failure.line

    def _ask(self, job: DeployedJob, operation: str, request: Mapping[str, Any], done: Callable[[Call], None], refused: Refused) -> None:
        def failed(failure: CallFailure) -> None:
            # Its name is this job's own: an earlier call that was not answered did create it.
            done(call) if is_there_already(failure) else refused(job, failure)

        def make() -> Any:
            if operation == "CreateEndpoint" and self._watch is not None:
                self._watch.check()
            return self._call(operation, request)

        call = Call(operation, make, lambda _: done(call), failed)
        self._calls.put(call)

    def _call(self, operation: str, request: Mapping[str, Any]) -> Any:
        client = self._clients.get("sagemaker", attempts=1)
        method = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in operation).lstrip("_")
        return getattr(client, method)(**request)


def failure_of_user(error: UserError) -> CallFailure:
    """Return the refusal that a wrong request is."""
    return CallFailure(FailureKind.OTHER, "", "", str(error))
