"""How a trial's models are served, and why they cannot be, as far as the definition and this machine say it; nothing is made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from backends.deployment import SERVED
from definitions.backend_registry import backend_description
from definitions.endpoint import ENDPOINT_KEYS, EndpointBlock, endpoint_of, single_problem
from definitions.errors import UserError
from definitions.models import EndpointModel
from definitions.schema import BenchmarkDefinition


def server_refusal(server: str, platform: str) -> str:
    """Return why a server of this machine cannot serve a platform; empty where it can."""
    from backends.serving.servers import refusal

    return refusal(server, platform)


MANY = 1000
"""Configurations of an endpoint up to which all models are made before the first job; of more each is made when it is asked for."""

PACKAGED_BY = ("model", "platform", "server", "max_batch_size", "batch_delay_ms", "server_threads", "instance_type")
"""Keys of a configuration by which its packages, or whether they can be served, differ."""

Refusal = Callable[[str, str], str]
"""From a server and a platform to why it cannot serve that here; empty where it can."""


def served_models(definition: BenchmarkDefinition, block: EndpointBlock) -> dict[str, EndpointModel]:
    """Return the models that a trial's endpoint serves, by name.

    Args:
        definition: the resolved definition.
        block: how the trial's models are served.
    """
    if block.model is None:
        return dict(definition.models)
    return {name: one for name, one in definition.models.items() if name == block.model}


def server_of(block: EndpointBlock, backend: str, models: Mapping[str, EndpointModel]) -> str:
    """Return the server of an endpoint: as said, else that of the service, or on this machine the first one that serves its platforms.

    Args:
        block: how the trial's models are served.
        backend: name of the back-end.
        models: that are served.
    """
    if block.server is not None:
        return block.server
    if not backend_description(backend).shares_this_machine:
        return "triton"
    platforms = {platform_of(block, model) for model in models.values()}
    return next((name for name, able in SERVED.items() if platforms <= {*able}), "ort")


def platform_of(block: EndpointBlock, model: EndpointModel) -> str:
    """Return what a model is packaged as: as said, else the first one that it can be."""
    return block.platform or model.platforms[0]


def served_problem(
    definition: BenchmarkDefinition, backend: str, configuration: Mapping[str, Any], refused: Refusal = server_refusal
) -> str | None:
    """Return why a configuration's endpoint cannot be, or None where nothing is known that stands in its way.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        configuration: of a trial.
        refused: asked of the servers of this machine.
    """
    if definition.endpoint is None:
        return None
    try:
        block = endpoint_of(definition.endpoint, configuration)
    except ValueError as error:
        return str(error)
    found = single_problem(block, definition.models)
    if found is not None:
        return found
    models = served_models(definition, block)
    if block.model is not None and definition.models and not models:
        return f"there is no model {block.model!r}; known: {', '.join(definition.models)}"
    for name, model in models.items():
        platform = platform_of(block, model)
        if platform not in model.platforms:
            return f"model {name} cannot be packaged as {platform}; it is {' or '.join(model.platforms)}"
    if not backend_description(backend).shares_this_machine:
        return None
    if block.existing is not None:
        return f"endpoint.existing {block.existing}: on this machine there are no endpoints but those that jobs bring up"
    server = server_of(block, backend, models)
    for platform in dict.fromkeys(platform_of(block, model) for model in models.values()):
        text = refusal_of(server, platform, refused)
        if text:
            return text
    return None


def endpoint_configurations(definition: BenchmarkDefinition, keys: Sequence[str] = PACKAGED_BY) -> Iterator[dict[str, Any]]:
    """Yield what configurations can say of the endpoint by some keys; nothing where these are too many."""
    if definition.trials:
        yield from (dict(one) for one in definition.explicit_configurations)
        return
    domains = {key: domain for key, domain in definition.search_space.domains.items() if key in keys}
    values = [domain.grid(2) for domain in domains.values()]
    if math.prod(len(one) for one in values) <= MANY:
        yield from (dict(zip(domains, chosen, strict=True)) for chosen in itertools.product(*values))


def check_served(definition: BenchmarkDefinition, backend: str, refused: Refusal = server_refusal) -> None:
    """Raise `UserError` where no configuration's endpoint can be; where only some cannot, those are refused one by one.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        refused: asked of the servers of this machine.
    """
    if definition.endpoint is None:
        return
    problems = [served_problem(definition, backend, one, refused) for one in endpoint_configurations(definition, ENDPOINT_KEYS)]
    if problems and None not in problems:
        said = [*dict.fromkeys(text for text in problems if text is not None)]
        raise UserError(
            f"benchmark {definition.name} on {backend}: no configuration's endpoint can be brought up",
            "\n  ".join(said[:4]),
            "change `endpoint`, or the keys of the space that override it",
        )


def refusal_of(server: str, platform: str, refused: Refusal) -> str:
    """Return why a server of this machine does not serve a platform, or lacks something; empty where it can."""
    if platform not in SERVED[server]:
        able = [name for name, platforms in SERVED.items() if platform in platforms]
        others = f"{' and '.join(able)} serve it" if able else "nothing on this machine does, as it needs a GPU and TensorRT"
        return f"server {server} does not serve platform {platform}: {others}"
    try:
        return refused(server, platform)
    except UserError as error:
        return "; ".join(str(error).split("\n  "))
