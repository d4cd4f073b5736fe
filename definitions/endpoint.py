"""How a definition has its models served: the block `endpoint:`, and what a trial's configuration says in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from definitions.configuration import OWN_KEYS
from definitions.fields import NotNegative, Positive, Seconds, Size, Text
from definitions.model import Model
from definitions.models import Platform

Milliseconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class EndpointBlock(Model):
    """How models are served; each key is overridden, per trial, by a key of the space of the same name."""

    mode: Literal["single", "multi"] = Field(
        "single", description="one model that is always loaded, or targets loaded when they are called"
    )
    model: Text | None = Field(None, description="name of one of `models`; default: the only one, in mode multi all of them")
    platform: Platform | None = Field(None, description="what the model is packaged as; default onnx, or what a finished file is")
    server: Literal["ort", "triton", "mms"] | None = Field(
        None, description="default on this machine ort for onnx and triton for pt, elsewhere triton"
    )
    copies: Positive = Field(1, description="targets that are made of the models, in turn; mode multi")
    max_batch_size: Positive | None = Field(None, description="requests that the server puts together at most; default: the model's")
    batch_delay_ms: Milliseconds = Field(0.0, description="for how long the server waits for more requests to put together; 0: not at all")
    server_threads: Positive | None = Field(None, description="threads that compute one answer; default: the server's own")
    memory: Size | None = Field(None, description="that models may take, e.g. 512MB; default: that of the instance")
    client_cores: NotNegative = Field(1, description="cores of this machine for the load beside the server's; 0 to share them")
    deploy_s: Seconds = Field(1800.0, description="seconds that the endpoint may take until it serves")
    existing: Text | None = Field(None, description="name of an endpoint that is there, and is neither made nor deleted")
    instance_type: Text | None = Field(None, description="as in `arguments`, where it is then said")
    instance_count: Positive | None = Field(None, description="as in `arguments`, where it is then said")

    @field_validator("copies", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        # A domain such as logfinrange may yield 4.0.
        return int(value) if isinstance(value, float) and value.is_integer() else value


ENDPOINT_KEYS = tuple(name for name in EndpointBlock.model_fields if name not in OWN_KEYS)
"""Keys of a configuration that say how a trial's models are served."""


def with_instances(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition's data with the instances of its endpoint where those of all jobs stand, among its arguments."""
    endpoint, arguments = data.get("endpoint"), data.get("arguments", {})
    if not isinstance(endpoint, Mapping) or not isinstance(arguments, Mapping):
        return {**data}
    moved = {key: endpoint[key] for key in OWN_KEYS if endpoint.get(key) is not None}
    rest = {key: value for key, value in endpoint.items() if key not in OWN_KEYS}
    given = {**(data.get("space") or {}), **(data.get("base_trial") or {}), **arguments}
    added = {key: value for key, value in moved.items() if key not in given}
    return {**data, "endpoint": rest, **({"arguments": {**arguments, **added}} if added else {})}


def endpoint_of(block: EndpointBlock, configuration: Mapping[str, Any]) -> EndpointBlock:
    """Return how a configuration's models are served.

    Args:
        block: the definition's.
        configuration: of a trial, whose keys of the block's names override it.

    Raises:
        ValueError: with a sentence, where one of them is no value of its key.
    """
    given = {key: value for key, value in configuration.items() if key in ENDPOINT_KEYS}
    if not given:
        return block
    try:
        return EndpointBlock.model_validate({**block.model_dump(exclude_unset=True), **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"])
        message = str(first["msg"])
        raise ValueError(f"{key} {given.get(key)!r}: {message[:1].lower()}{message[1:]}") from None


def endpoint_problems(
    block: EndpointBlock | None, models: Iterable[str], configurations: Iterable[tuple[tuple[str | int, ...], Mapping[str, Any]]]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what does not fit together, as pairs of the path of a key and a sentence.

    Args:
        block: the definition's; None where it has none.
        models: names of its `models`.
        configurations: paths of parts of the definition, with what they say in place of the block.
    """
    known = list(models)
    if block is None:
        if known:
            yield ("models",), "models are packaged for an endpoint; give `endpoint`, or leave them out"
        return
    if not known and block.existing is None:
        yield ("endpoint",), "there is nothing to serve: give `models`, or the name of an endpoint that is there (`existing`)"
    chosen: list[tuple[tuple[str | int, ...], Mapping[str, Any]]] = [(("endpoint",), {}), *configurations]
    for path, configuration in chosen:
        key = (*path, "model") if path == ("endpoint",) else path
        try:
            asked = endpoint_of(block, configuration)
        except ValueError as error:
            yield path, str(error)
            continue
        is_said_here = path == ("endpoint",) or "model" in configuration
        if is_said_here and asked.model is not None and known and asked.model not in known:
            yield key, f"there is no model {asked.model!r}; known: {', '.join(known)}"


def single_problem(block: EndpointBlock, models: Iterable[str]) -> str | None:
    """Return why a trial cannot be served in mode single, or None where it can.

    Args:
        block: how the trial's models are served.
        models: names of the definition's `models`.
    """
    count = len([*models])
    if block.mode != "single":
        return None
    if block.model is None and count > 1:
        return f"mode single serves one model, and there are {count}; say which by `model`, or serve them in mode multi"
    if block.copies > 1:
        return f"mode single serves one model once; {block.copies} copies need mode multi"
    return None
