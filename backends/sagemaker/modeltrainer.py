"""Turns a `ModelTrainer` of the SageMaker SDK v3 into a definition. The SDK itself is not imported.

What would change the run and has no counterpart is refused; what has none and does not matter is named in the log.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from definitions import strict_json
from definitions.errors import UserError
from definitions.problems import dotted, problems_of
from definitions.schema import BenchmarkDefinition

_LOG = logging.getLogger(__name__)
_INGESTIONS = {"File": "file", "FastFile": "fastfile", "Pipe": "pipe"}
_FILE_SYSTEMS = {"FSxLustre": "fsx", "EFS": "efs"}
_REFUSED = (
    ("distributed", "a launcher for several processes", "start it in your entry script, e.g. with torchrun"),
    ("source_code.command", "a command in place of an entry script", "write it into a script, and name that as entry_script"),
    ("compute.instance_groups", "a heterogeneous cluster", "give one instance_type and an instance_count"),
    ("compute.training_plan_arn", "a training plan", "leave it out"),
    ("compute.instance_preferences", "a list of instance types", "search over instance_type, or give fallback_instance_types"),
)
_LEFT_OUT = (
    "output_data_config.s3_output_path", "checkpoint_config", "source_code.ignore_patterns", "input_data_config.compression_type",
    "training_image_config", "model_package_config", "local_container_root",
)  # fmt: skip


def definition_of(
    model_trainer: Any,
    objectives: Mapping[str, str],
    space: Mapping[str, Any] | None = None,
    input_data_config: Any = None,
    **more: Any,
) -> BenchmarkDefinition:
    """Return a definition whose jobs on the back-end `sagemaker` are those that the trainer would start.

    Args:
        model_trainer: the trainer; only its attributes are read.
        objectives: what is judged, e.g. `{"loss": "min"}`.
        space: what is searched; its keys take the place of hyperparameters, `instance_type` and `instance_count`. Without one there is a
            single trial, the trainer's own.
        input_data_config: as `train` takes it, over the trainer's own.
        more: further keys of the definition, e.g. `fidelity`, `budget`, `name`.

    Raises:
        UserError: the trainer does what Outrider cannot.
    """
    for path, what, advice in _REFUSED:
        if _get(model_trainer, path):
            raise UserError(f"ModelTrainer.{path}: {what}", "Outrider runs one script on each instance of one type", advice)
    left_out = [path for path in _LEFT_OUT if _get(model_trainer, path)]
    if left_out:
        _LOG.warning("of the ModelTrainer these have no counterpart and are left out: %s", ", ".join(left_out))
    arguments, placed = _arguments(model_trainer), _placed(model_trainer)
    searched = {*(space or {}), _get_any(more.get("fidelity"), "argument")}
    data: dict[str, Any] = {
        "name": _name(_get(model_trainer, "base_job_name")),
        **_source(_get(model_trainer, "source_code")),
        "arguments": {key: value for key, value in arguments.items() if key not in searched},
        "arguments_style": "two_words",  # as the SDK's script mode passes them
        "objectives": dict(objectives),
    }
    data |= {"space": dict(space)} if space else {"trials": [placed]}
    block = _block(model_trainer)
    # On this back-end only, as on no other there are instances of these types.
    own = {key: value for key, value in placed.items() if key not in searched} if space else {}
    data["sagemaker"] = block | ({"arguments": own} if own else {})
    keep_alive_s = _get(model_trainer, "compute.keep_alive_period_in_seconds")
    if keep_alive_s:
        data["warm_pool"] = {"keep_alive": int(keep_alive_s)}
    max_run_s = _get(model_trainer, "stopping_condition.max_runtime_in_seconds")
    if max_run_s:
        data["budget"] = {"max_run": float(max_run_s)}
    channels = _get(model_trainer, "input_data_config") if input_data_config is None else input_data_config
    data |= _inputs(channels or [], str(_get(model_trainer, "training_input_mode") or "File"))
    try:
        return BenchmarkDefinition.model_validate(_merged(data, more))
    except ValidationError as error:
        found = problems_of(error, data)
        raise UserError("this ModelTrainer makes no definition", "\n  ".join(f"{dotted(one.path)}: {one.text}" for one in found)) from error


def _get(thing: Any, path: str) -> Any:
    """Return the attribute at a dotted path, or None; the SDK marks what was not given by an object of its own."""
    for name in path.split("."):
        thing = thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
        if thing is None or type(thing).__name__ == "Unassigned":
            return None
    return thing


def _get_any(thing: Any, name: str) -> Any:
    return None if thing is None else _get(thing, name)


def _merged(data: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(data)
    for key, value in more.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = _merged(found[key], value) if both else value
    return found


def _name(base: Any) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", str(base or "model-trainer")).strip("-_.")[:63] or "model-trainer"


def _source(source: Any) -> dict[str, Any]:
    script, folder = _get_any(source, "entry_script"), _get_any(source, "source_dir")
    if not script:
        return {}  # the image's own program
    if folder is None:
        script, folder = Path(script).name, str(Path(script).parent)
    if str(folder).startswith("s3://") or str(folder).endswith((".tar.gz", ".tgz")):
        raise UserError(f"ModelTrainer.source_code.source_dir: {folder}", "Outrider packs a folder of this machine", "unpack it first")
    requirements = _get_any(source, "requirements")
    if requirements and Path(str(requirements)) not in (Path("requirements.txt"), Path("auto")):
        raise UserError(
            f"ModelTrainer.source_code.requirements: {requirements}",
            "jobs install the requirements.txt at the top of the source folder",
            "give the file this name",
        )
    return {"script": str(script), "source_dir": str(Path(str(folder)).expanduser().resolve())}


def _arguments(trainer: Any) -> dict[str, Any]:
    found = _get(trainer, "hyperparameters") or {}
    if not isinstance(found, Mapping):
        raise UserError("ModelTrainer.hyperparameters: a file", f"it is {found!r}", "load it, and give the mapping")
    plain = (bool, int, float, str, type(None))
    return {str(key): value if isinstance(value, plain) else strict_json.dumps(value) for key, value in found.items()}


def _placed(trainer: Any) -> dict[str, Any]:
    instance_type, count = _get(trainer, "compute.instance_type"), _get(trainer, "compute.instance_count")
    return {
        **({"instance_type": str(instance_type)} if instance_type else {}),
        **({"instance_count": int(count)} if count and int(count) > 1 else {}),
    }


def _block(trainer: Any) -> dict[str, Any]:
    subnets, groups = _get(trainer, "networking.subnets"), _get(trainer, "networking.security_group_ids")
    spot = _get(trainer, "compute.enable_managed_spot_training")
    wait_s = _get(trainer, "stopping_condition.max_wait_time_in_seconds")
    found = {
        "image": _get(trainer, "training_image"),
        "algorithm_name": _get(trainer, "algorithm_name"),
        "role": _get(trainer, "role"),
        "region": _get(trainer, "sagemaker_session.boto_region_name"),
        "volume_gb": _get(trainer, "compute.volume_size_in_gb"),
        "volume_kms_key": _get(trainer, "compute.volume_kms_key_id"),
        "output_kms_key": _get(trainer, "output_data_config.kms_key_id"),
        "subnets": tuple(subnets) if subnets else None,
        "security_groups": tuple(groups) if groups else None,
        "network_isolation": _get(trainer, "networking.enable_network_isolation"),
        "encrypt_traffic": _get(trainer, "networking.enable_inter_container_traffic_encryption"),
        "environment": {str(key): str(value) for key, value in (_get(trainer, "environment") or {}).items()} or None,
        "tags": dict(_tags(_get(trainer, "tags") or [])) or None,
        "spot": spot,
        "max_wait": float(wait_s) if wait_s and spot else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _tags(tags: Any) -> Iterator[tuple[str, str]]:
    for tag in tags:
        key, value = (_get(tag, name) or _get(tag, name.title()) for name in ("key", "value"))
        yield str(key), str(value or "")


def _inputs(channels: Any, default_mode: str) -> dict[str, Any]:
    inputs: dict[str, Any] = {}
    datasets: dict[str, Any] = {}
    for channel in channels:
        name = str(_get(channel, "channel_name"))
        dataset, rest = _dataset(name, _get(channel, "data_source"))
        mode = str(_get(channel, "input_mode") or default_mode)
        if mode not in _INGESTIONS:
            raise UserError(f"ModelTrainer channel {name}: input mode {mode!r}", "", f"known: {', '.join(_INGESTIONS)}")
        content_type = _get(channel, "content_type")
        ingestion = dataset["kind"] if dataset["type"] == "filesystem" else _INGESTIONS[mode]
        if ingestion == "pipe":
            dataset["format"] = "tar"  # the one form in which single samples can be told apart in a stream
        datasets[name] = dataset
        inputs[name] = {"dataset": name, "ingestion": ingestion, **rest, **({"content_type": str(content_type)} if content_type else {})}
    return {"inputs": inputs, "datasets": datasets} if inputs else {}


def _dataset(name: str, source: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data set, and what the channel has beside it."""
    if isinstance(source, (str, Path)):
        text = str(source)
        return ({"type": "s3", "uri": text} if text.startswith("s3://") else {"type": "path", "path": str(Path(text).resolve())}), {}
    inner = _get_any(source, "s3_data_source") or _get_any(source, "file_system_data_source") or source
    uri = _get_any(inner, "s3_uri")
    if uri:
        kind = str(_get(inner, "s3_data_type") or "S3Prefix")
        if kind != "S3Prefix":
            raise UserError(f"ModelTrainer channel {name}: {kind}", "a data set is all that lies under a prefix", "use S3Prefix")
        sharded = _get(inner, "s3_data_distribution_type") == "ShardedByS3Key"
        return {"type": "s3", "uri": str(uri)}, ({"distribution": "sharded"} if sharded else {})
    system = str(_get_any(inner, "file_system_type"))
    if system not in _FILE_SYSTEMS:
        raise UserError(f"ModelTrainer channel {name}: its data source {type(source).__name__} is not known", "", "use S3, FSx or EFS")
    place = {"id": str(_get(inner, "file_system_id")), "directory": str(_get(inner, "directory_path"))}
    return {"type": "filesystem", "kind": _FILE_SYSTEMS[system], **place}, {}
