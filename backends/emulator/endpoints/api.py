"""SageMaker's operations on models, endpoint configurations and endpoints: from a request to an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backends.emulator.container.context import Context
from backends.emulator.endpoints.listing import hosting_page
from backends.emulator.endpoints.registry import EndpointRegistry
from backends.emulator.endpoints.resource import NAMES, HostingResource, arn, described, listed, main_container
from backends.emulator.endpoints.rules import check_config, check_model
from backends.emulator.endpoints.words import missing
from backends.emulator.http.errors import ServiceError, invalid
from backends.emulator.s3.store import split_uri
from backends.emulator.training.validation import RequestValidator

Operation = Callable[[dict[str, Any]], dict[str, Any]]
_TAGS = ("AddTags", "ListTags", "DeleteTags")


class EndpointsService:
    """The operations, by name.

    Args:
        registry: of all resources.
        model: botocore's of SageMaker.
    """

    def __init__(self, registry: EndpointRegistry, context: Context, model: RequestValidator) -> None:
        self._registry, self._context, self._model = registry, context, model
        self._operations: dict[str, Operation] = {
            "AddTags": self._add_tags,
            "ListTags": self._list_tags,
            "DeleteTags": self._delete_tags,
        }
        for kind, names in NAMES.items():
            for verb, does in (("Create", self._create), ("Describe", self._describe), ("Delete", self._delete)):
                self._operations[f"{verb}{names.operation}"] = self._bound(does, kind)
            self._operations[f"List{names.operation}s"] = self._bound(self._list, kind)

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation is one of endpoints and their parts; tags of other resources are not."""
        if operation in _TAGS:
            return any(f":{names.part}/" in str(request.get("ResourceArn", "")) for names in NAMES.values())
        return operation in self._operations

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        request = {name: value for name, value in request.items() if value is not None}
        self._model.check(operation, request)
        return self._operations[operation](request)

    def _bound(self, does: Callable[[str, dict[str, Any]], dict[str, Any]], kind: str) -> Operation:
        return lambda request: does(kind, request)

    def _create(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        if kind == "model":
            check_model(request)
            self._check_data(main_container(request))
        elif kind == "config":
            check_config(request)
        name = NAMES[kind].operation
        made = self._registry.create(kind, request[f"{name}Name"], request)
        return {f"{name}Arn": self._arn(made)}

    def _check_data(self, container: Mapping[str, Any]) -> None:
        """Refuse a single model whose archive is not there, as the service does; what a multi-model endpoint serves may come later."""
        uri = str(container.get("ModelDataUrl", ""))
        if container.get("Mode") == "MultiModel" or not uri.startswith("s3://"):
            return
        try:
            self._context.s3.get(*split_uri(uri))
        except ServiceError:
            raise invalid(f"Could not find model data at {uri}.") from None

    def _describe(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        with self._registry.lock:
            found = self._registry.get(kind, request[f"{NAMES[kind].operation}Name"])
            return described(found, self._context.settings, self._ahead_s())

    def _list(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        with self._registry.lock:
            page, token = hosting_page(self._registry.all(kind), request, self._ahead_s())
            rows = [listed(one, self._context.settings, self._ahead_s()) for one in page]
        return {f"{NAMES[kind].operation}s": rows, **({"NextToken": token} if token else {})}

    def _delete(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        self._registry.delete(kind, request[f"{NAMES[kind].operation}Name"])
        return {}

    def _add_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        if any(tag["Key"].lower().startswith("aws:") for tag in request["Tags"]):
            raise invalid("Tag keys that start with aws: are reserved")
        found = self._by_arn(request["ResourceArn"])
        self._registry.tagged(found, {tag["Key"]: tag["Value"] for tag in request["Tags"]})
        return {"Tags": _tags(found)}

    def _list_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"Tags": _tags(self._by_arn(request["ResourceArn"]))}

    def _delete_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        self._registry.tagged(self._by_arn(request["ResourceArn"]), {}, tuple(request["TagKeys"]))
        return {}

    def _by_arn(self, wanted: str) -> HostingResource:
        kind = next(kind for kind, names in NAMES.items() if f":{names.part}/" in wanted)
        with self._registry.lock:
            for resource in self._registry.all(kind):
                if self._arn(resource) == wanted:
                    return resource
        raise missing(kind, wanted)

    def _arn(self, resource: HostingResource) -> str:
        return arn(resource.kind, resource.name, self._context.settings)

    def _ahead_s(self) -> float:
        return self._context.injector.clock_ahead_s()


def _tags(resource: HostingResource) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in sorted(resource.tags.items())]
