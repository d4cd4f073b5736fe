"""Puts what this machine offers in the place of an instance type that nobody named."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from definitions.backend_registry import backend_description
from definitions.resolve import Resolved


def with_machine_default(resolved: Resolved, environ: Mapping[str, str]) -> Resolved:
    """Return the definition with the instance type that jobs get by default here, where that depends on the machine.

    It becomes an argument of the definition, and so is kept with the experiment: a resume goes on with the same type.

    Args:
        resolved: the definition.
        environ: the controller's environment.
    """
    definition = resolved.definition
    described = backend_description(resolved.backend)
    named = definition.arguments.get("instance_type") or "instance_type" in definition.space
    if named or any(one.get("instance_type") for one in (definition.base_trial, *definition.trials)):
        return resolved
    found = described.instance_type_here(environ)
    if found is None or found == described.default_instance_type:
        return resolved
    arguments = {**definition.arguments, "instance_type": found}
    origins = {**resolved.origins, "arguments.instance_type": "this machine"}
    return dataclasses.replace(resolved, definition=definition.model_copy(update={"arguments": arguments}), origins=origins)
