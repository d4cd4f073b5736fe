"""Blocks of back-ends in a definition: each validated by the model of its back-end, or kept where that is not installed."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic_core import InitErrorDetails

from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError
from definitions.parts import ContradictionError, KeyPath, Overrides

KEEP_FOREIGN = {"keep_foreign": True}
"""Context of a validation that keeps blocks of back-ends that are not installed, so that what was measured on one can be read."""


class ForeignBlock(Overrides):
    """A block whose back-end is not installed here; its options are unknown and kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=(), defer_build=True)


def validated_block(name: str, data: Any, context: Any) -> Overrides:
    """Return a validated block; raises `ValidationError` also where nobody knows its back-end."""
    if context == KEEP_FOREIGN and not _is_usable(name):
        return ForeignBlock.model_validate(data)
    if name not in backend_names():
        raise _refusal(name, InitErrorDetails(type="extra_forbidden", loc=(), input=data))
    try:
        model: type[Overrides] = backend_description(name).block
        return model.model_validate(data)
    except ValidationError:
        raise
    except UserError as error:
        reason = "; ".join(str(error).split("\n  "))
    except Exception as error:  # noqa: BLE001 - a plug-in's model may fail in any way, which is a problem of this block alone
        reason = f"the model of its block fails: {type(error).__name__}: {error}"
    raise _refusal(name, InitErrorDetails(type="value_error", loc=(), input=data, ctx={"error": ValueError(reason)}))


def _refusal(name: str, detail: InitErrorDetails) -> ValidationError:
    return ValidationError.from_exception_data(name, [detail])


def _is_usable(name: str) -> bool:
    try:
        backend_description(name)
    except UserError:
        return False
    return True


def details_of(error: ValidationError, above: KeyPath = ()) -> list[InitErrorDetails]:
    """Return the problems of a validation, to be raised again below a path."""
    return [
        InitErrorDetails(type=one["type"], loc=(*above, *one["loc"]), input=one["input"], ctx=one.get("ctx", {}))
        for one in error.errors(include_url=False)
    ]


def is_contradiction(detail: InitErrorDetails) -> bool:
    """Return whether a problem is one of parts that do not fit together."""
    return isinstance(detail.get("ctx", {}).get("error"), ContradictionError)
