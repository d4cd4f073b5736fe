"""Syne Tune's benchmark definitions as ours: `RealBenchmarkDefinition` of its launchers, or a mapping of the same names."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from definitions.errors import UserError, did_you_mean
from definitions.instances import backend_of
from definitions.schema import BenchmarkDefinition
from definitions.syne_tune_space import from_syne_tune

logger = logging.getLogger(__name__)

_FIELDS = (
    "script", "config_space", "max_wallclock_time", "n_workers", "instance_type", "metric", "mode", "max_resource_attr", "framework",
    "resource_attr", "estimator_kwargs", "max_num_evaluations", "points_to_evaluate",
)  # fmt: skip

_THEIR_CLOUD = "sagemaker"
"""The back-end that Syne Tune's definitions are about, which hold arguments of the SageMaker SDK."""

_ESTIMATOR = {
    "framework_version": "framework_version",
    "py_version": "py_version",
    "image_uri": "image",
    "role": "role",
}
"""Arguments of the SageMaker SDK's estimators that have a key of their own in a definition."""


def import_benchmark(theirs: Any, name: str, description: str = "") -> BenchmarkDefinition:
    """Return a Syne Tune benchmark as a definition.

    `config_space` becomes the space and, where it holds plain values, the fixed arguments; `resource_attr` and `max_resource_attr`
    become the progressive fidelity; an instance type of SageMaker, the framework and the estimator's arguments go into the block
    `sagemaker`; `points_to_evaluate` go to the method RS_POINTS, the default. What has no counterpart is named in a warning.

    Args:
        theirs: a `RealBenchmarkDefinition`, anything else with its attributes, or a mapping.
        name: what the benchmark is to be called.
        description: one line for the list of benchmarks.

    Raises:
        UserError: something is missing, unknown, or cannot be said in a definition.
    """
    given = _given(theirs)
    script = Path(given["script"])
    estimator = dict(given.get("estimator_kwargs") or {})
    source_dir = Path(estimator.pop("source_dir", None) or script.parent)
    entry_point = Path(estimator.pop("entry_point", None) or (script.relative_to(source_dir) if script.is_absolute() else script.name))
    config_space = dict(given["config_space"])
    fidelity = _fidelity(given, config_space)
    parsed = from_syne_tune(config_space)
    constants = {key: value for key, value in parsed.spec().items() if not isinstance(value, dict)}
    data: dict[str, Any] = {
        "name": name,
        "description": description,
        "script": str(entry_point),
        "source_dir": str(source_dir),
        "arguments": constants,
        "space": {key: value for key, value in parsed.spec().items() if key not in constants},
        "objectives": _objectives(given["metric"], given.get("mode") or "min"),
        "budget": _budget(given, fidelity),
        _THEIR_CLOUD: _sagemaker(given, estimator),
    }
    if fidelity is not None:
        data["fidelity"] = fidelity
    if given.get("n_workers") is not None:
        data["n_workers"] = int(given["n_workers"])
    if given.get("points_to_evaluate"):
        # Theirs may repeat the constants, which are no part of a configuration here.
        points = [{key: value for key, value in point.items() if key in data["space"]} for point in given["points_to_evaluate"]]
        data["methods"] = {"RS_POINTS": {"base": "RS", "points_to_evaluate": points}}
        data["method"] = "RS_POINTS"
    instance_type = given.get("instance_type")
    if instance_type and not _is_of_sagemaker(str(instance_type)):
        data["arguments"]["instance_type"] = str(instance_type)
    return BenchmarkDefinition.model_validate(data)


def _given(theirs: Any) -> dict[str, Any]:
    if isinstance(theirs, Mapping):
        given = dict(theirs)
    elif hasattr(theirs, "blackbox_name"):
        raise UserError(
            f"{type(theirs).__name__}: {theirs.blackbox_name} is a table of Syne Tune's blackbox repository",
            "what can be imported is a benchmark that runs a script",
            "write the table as CSV, and run it with --backend simulated --set simulated.table=FILE.csv",
        )
    else:
        given = {field: getattr(theirs, field) for field in _FIELDS if hasattr(theirs, field)}
    for key in given:
        if key not in _FIELDS:
            raise UserError(f"Syne Tune benchmark: there is no field {key!r}", did_you_mean(key, _FIELDS))
    missing = [field for field in ("script", "config_space", "metric") if given.get(field) is None]
    if missing:
        raise UserError(f"Syne Tune benchmark: {', '.join(missing)} is missing", "a benchmark needs script, config_space and metric")
    return given


def _fidelity(given: Mapping[str, Any], config_space: dict[str, Any]) -> dict[str, Any] | None:
    """Return the progressive fidelity, taking its argument out of the space; None where results have no levels."""
    argument, reported_as = given.get("max_resource_attr"), given.get("resource_attr")
    if reported_as is None or argument is None:
        return None
    full = config_space.get(argument)
    if not isinstance(full, int) or isinstance(full, bool):
        raise UserError(
            f"max_resource_attr {argument!r}: config_space has {full!r} for it", "it must be the number of levels", "e.g. 'epochs': 27"
        )
    del config_space[argument]
    return {"kind": "progressive", "argument": argument, "reported_as": reported_as, "full": full}


def _objectives(metric: str | Sequence[str], mode: str | Sequence[str]) -> dict[str, str]:
    names = [metric] if isinstance(metric, str) else list(metric)
    modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) == 1:
        modes *= len(names)
    if len(modes) != len(names):
        raise UserError(f"metric has {len(names)} names, mode {len(modes)}", "each objective needs one of min and max")
    return dict(zip(names, modes, strict=True))


def _budget(given: Mapping[str, Any], fidelity: Mapping[str, Any] | None) -> dict[str, Any]:
    budget: dict[str, Any] = {}
    if given.get("max_wallclock_time") is not None:
        budget["max_wallclock_time"] = float(given["max_wallclock_time"])
    evaluations = given.get("max_num_evaluations")
    if evaluations is not None:
        # Theirs counts reports, ours trials: as many as could have made them.
        levels = int(fidelity["full"]) if fidelity is not None else 1
        budget["max_num_trials"] = -(-int(evaluations) // levels)
    return budget


def _is_of_sagemaker(instance_type: str) -> bool:
    described = backend_of(instance_type)
    return described is not None and described.name == _THEIR_CLOUD


def _sagemaker(given: Mapping[str, Any], estimator: dict[str, Any]) -> dict[str, Any]:
    block: dict[str, Any] = {ours: estimator.pop(their) for their, ours in _ESTIMATOR.items() if estimator.get(their) is not None}
    if given.get("framework"):
        block["framework"] = str(given["framework"]).lower()
    arguments: dict[str, Any] = {}
    instance_type = given.get("instance_type") or estimator.get("instance_type")
    if instance_type and _is_of_sagemaker(str(instance_type)):
        arguments["instance_type"] = str(instance_type)
    count = estimator.pop("instance_count", None)
    if count is not None and int(count) != 1:
        arguments["instance_count"] = int(count)
    estimator.pop("instance_type", None)
    if arguments:
        block["arguments"] = arguments
    limit = estimator.pop("max_run", None)
    if limit is not None:
        block["budget"] = {"max_run": float(limit)}
    if estimator:
        logger.warning("estimator_kwargs without a counterpart are left out: %s", ", ".join(sorted(estimator)))
    return block
