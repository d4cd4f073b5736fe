"""What determines the results of a resolved definition, as data and as hashes. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from definitions import strict_json
from definitions.backend_registry import backend_description
from definitions.schema import BenchmarkDefinition, ForeignBlock, Overrides

_HASHED_WHERE_GIVEN = {
    "command", "arguments_style", "booleans", "lists", "rename", "working_dir", "environment", "seed_argument", "prepare", "cleanup",
    "warmup_runs", "read", "scale", "models", "endpoint",
}  # fmt: skip


def definition_hash(definition: BenchmarkDefinition, method: str | None = None) -> str:
    """Return a 16-digit hexadecimal hash of what determines the results of a resolved definition.

    In it: script name, how it is called, what is read, arguments, space (in normal form) or trials, valid, inputs, datasets, models,
    endpoint, repeats, order, objectives (in their order), fidelity, exclusive, preload, points_to_evaluate, the back-end's block, and
    the arguments of `method` where it is a variant.
    Not in it: name, description, source_dir, include, python, budget, n_workers, study, compare_within, other methods, the options of the
    block that its back-end says do not determine results.

    Args:
        definition: as resolved for a back-end.
        method: name of the method that is run.
    """
    return _hash(determining(definition, method))


def determining(definition: BenchmarkDefinition, method: str | None = None) -> dict[str, Any]:
    """Return what determines the results of a resolved definition, which is what `definition_hash` is the hash of."""
    variant = definition.methods.get(method or "")
    return {
        **_program(definition),
        **definition.model_dump(mode="json", include={"arguments", "valid", "repeats", "order"}),
        **definition.model_dump(mode="json", include={"points_to_evaluate", "warm_start"}, exclude_defaults=True),
        "space": definition.search_space.spec(),
        "trials": list(definition.explicit_configurations),
        "objectives": list(definition.objectives.items()),
        "method": None if variant is None else variant.model_dump(mode="json"),
    }


def measurement_hash(definition: BenchmarkDefinition) -> str:
    """Return a 16-digit hexadecimal hash of what determines what one configuration of a resolved definition measures.

    It is that of `definition_hash` without what decides which configurations are measured, how often and in which order and which
    metrics count, and without the fixed arguments, which may be dimensions elsewhere.
    """
    content = _program(definition)
    fidelity = content.get("fidelity")
    if fidelity is not None:
        content["fidelity"] = {name: value for name, value in fidelity.items() if name not in ("ladder", "family")}
    return _hash(content)


def _program(definition: BenchmarkDefinition) -> dict[str, Any]:
    """Return what is run on which data where, as far as it determines results."""
    # What is null is left out where null says "not given", so that a new optional field does not change old hashes.
    dump = definition.model_dump(mode="json", include={"script", "preload"})
    dump |= definition.model_dump(mode="json", include={"inputs", "datasets", "fidelity", "metrics"}, exclude_none=True)
    dump |= definition.model_dump(mode="json", include=_HASHED_WHERE_GIVEN, exclude_defaults=True)
    blocks = {
        name: block.model_dump(mode="json", exclude_none=True, exclude=_unhashed(name, block)) for name, block in definition.blocks.items()
    }
    return {**dump, "exclusive": definition.is_exclusive, "blocks": {name: block for name, block in blocks.items() if block}}


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(strict_json.dumps(content).encode()).hexdigest()[:16]


def _unhashed(name: str, block: Overrides) -> set[str]:
    return set() if isinstance(block, ForeignBlock) else set(backend_description(name).unhashed)
