"""What a framework container shows a script: its arguments and `SM_*` variables. Pure; standard library only, Python 3.8 or later.

After the behaviour of sagemaker-training-toolkit (its ENVIRONMENT_VARIABLES.md), which the containers of frameworks start scripts with.
"""

from __future__ import annotations

import json

# Types are named in annotations only: a job must not pay for importing `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

RESERVED = "sagemaker_"
"""Begins the hyperparameters that are for the container and not for the script."""

MASTER_PORT = "7777"
TORCHRUN = "sagemaker_torch_distributed_enabled"
MPI = "sagemaker_mpi_enabled"
PER_HOST = "sagemaker_mpi_num_of_processes_per_host"
LAUNCHERS = {
    TORCHRUN: "torch_distributed",
    MPI: "mpi",
    "sagemaker_pytorch_ddp_enabled": "pytorchddp",
    "sagemaker_distributed_dataparallel_enabled": "smdistributed dataparallel",
    "sagemaker_pytorch_xla_multi_worker_enabled": "pytorchxla",
    "sagemaker_parameter_server_enabled": "parameter_server",
    "sagemaker_multi_worker_mirrored_strategy_enabled": "multi_worker_mirrored_strategy",
}
"""Hyperparameters by which `distribution=` of the SDK asks for a launcher, and what it is called there."""

_GROUPS = "sagemaker_distribution_instance_groups"
_OF_THE_CONTAINER = frozenset(
    {
        *("sagemaker_program", "sagemaker_submit_directory", "sagemaker_enable_cloudwatch_metrics", "sagemaker_region"),
        *("sagemaker_container_log_level", "sagemaker_job_name", "sagemaker_s3_output"),
        *("default_user_module_name", "_tuning_objective_metric"),
    }
)
_INFO = 20


def decoded(texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return hyperparameters with those decoded that are JSON, as the SageMaker SDK encodes them."""
    found = {}
    for key, text in texts.items():
        try:
            found[key] = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            found[key] = text
    return found


def of_the_script(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyperparameters that are the script's own."""
    return {key: value for key, value in parameters.items() if key not in _OF_THE_CONTAINER and not key.startswith(RESERVED)}


def arguments_of(parameters: Mapping[str, Any]) -> list[str]:
    """Return decoded hyperparameters, the container's own left out, as the arguments of a script, by name."""
    found = []
    for key, value in sorted(of_the_script(parameters).items()):
        if key:
            text = ",".join(f"{name}={one}" for name, one in sorted(value.items())) if isinstance(value, dict) else value
            found += ["--" + key if len(key) > 1 else "-" + key, "" if text is None else str(text)]
    return found


def launchers_of(parameters: Mapping[str, Any]) -> list[str]:
    """Return the hyperparameters by which launchers are asked for."""
    return [name for name in LAUNCHERS if parameters.get(name)]


def script_variables(
    ml: str,
    resources: Mapping[str, Any],
    inputs: Mapping[str, Any],
    parameters: Mapping[str, Any],
    *,
    script: str | None,
    module_dir: str = "",
    arguments: Sequence[str] | None = None,
    job_name: str | None = None,
    framework_module: str | None = None,
    devices: Mapping[str, int],
) -> dict[str, str]:
    """Return the `SM_*` variables.

    Args:
        ml: where the script sees /opt/ml.
        resources: content of resourceconfig.json.
        inputs: content of inputdataconfig.json.
        parameters: all hyperparameters, decoded.
        script: relative to the source; None where there is none.
        module_dir: where the source is from; by default where it lies.
        arguments: of the script; by default what is made of the hyperparameters.
        job_name: of the training job.
        framework_module: of the framework's container, e.g. `sagemaker_pytorch_container.training:main`.
        devices: number of `cpus`, `gpus` and `neurons`.
    """
    own = of_the_script(parameters)
    framework = {key: value for key, value in parameters.items() if key.startswith(RESERVED) and key not in _OF_THE_CONTAINER}
    cluster, among = _cluster(resources, framework.get(_GROUPS), bool(launchers_of(parameters)))
    shared = {
        **cluster,
        **_folders(ml, module_dir),
        "input_data_config": dict(inputs),
        **_program(parameters, script),
        "framework_module": framework_module,
        **{f"num_{kind}": devices[kind] for kind in ("cpus", "gpus", "neurons")},
    }
    places = {name: f"{ml}/input/data/{name}" for name in inputs}
    # SM_TRAINING_ENV is what the toolkit knows of the job, under names of its own.
    whole = {
        **shared,
        "topology": resources.get("topology", []),
        "additional_framework_parameters": framework,
        "channel_input_dirs": places,
        "hyperparameters": own,
        "job_name": job_name,
        **_distribution(cluster, among),
    }
    found = {
        **shared,
        "hps": own,
        "framework_params": framework,
        "channels": sorted(places),
        "training_env": whole,
        "user_args": arguments_of(parameters) if arguments is None else list(arguments),
        **{f"channel_{name}": path for name, path in places.items()},
        **{f"hp_{key}": value for key, value in own.items()},
    }
    return {f"SM_{name.upper()}": _text(value) for name, value in found.items()}


def _cluster(resources: Mapping[str, Any], asked_for: Any, launched: bool) -> tuple[dict[str, Any], list[str]]:
    """Return what variables say of a job's hosts and their groups, and the hosts that a launcher starts processes on.

    Args:
        resources: content of resourceconfig.json.
        asked_for: the groups that are asked for; None where nobody does.
        launched: whether a launcher starts the script.
    """
    hosts = list(resources.get("hosts") or ["algo-1"])
    group = resources.get("current_group_name", "homogeneousCluster")
    groups = {one["instance_group_name"]: one for one in resources.get("instance_groups") or ()}
    distributed = ([group] if launched else []) if asked_for is None else asked_for
    among = [one for name, entry in groups.items() if name in distributed for one in entry["hosts"]] if groups else hosts
    said = {
        "resource_config": dict(resources),
        "hosts": hosts,
        "network_interface_name": resources.get("network_interface_name", "eth0"),
        "current_host": resources.get("current_host", hosts[0]),
        "current_instance_type": resources.get("current_instance_type", "local"),
        "current_instance_group": group,
        "current_instance_group_hosts": groups[group]["hosts"] if group in groups else [],
        "instance_groups": list(groups),
        "instance_groups_dict": groups,
        "distribution_instance_groups": distributed,
        "is_hetero": len(groups) > 1,
        **({"topology": resources["topology"]} if resources.get("topology") else {}),
    }
    return said, among


def _distribution(cluster: Mapping[str, Any], among: Sequence[str]) -> dict[str, Any]:
    """Return what the toolkit says of the processes that a launcher starts, the first of whose hosts leads."""
    master = (among or cluster["hosts"])[0]
    return {
        "distribution_hosts": among,
        "is_master": cluster["current_host"] == master,
        "is_modelparallel_enabled": None,
        "is_smddprun_installed": False,
        "is_smddpmprun_installed": False,
        "master_hostname": master,
    }


def _program(parameters: Mapping[str, Any], script: str | None) -> dict[str, Any]:
    entry = parameters.get("sagemaker_program") if script is None else script
    level = parameters.get("sagemaker_container_log_level", _INFO)
    return {"user_entry_point": entry, "module_name": _module(str(entry)), "log_level": level}


def _folders(ml: str, module_dir: str) -> dict[str, str]:
    return {
        "input_dir": f"{ml}/input",
        "input_config_dir": f"{ml}/input/config",
        "output_dir": f"{ml}/output",
        "output_data_dir": f"{ml}/output/data",
        "output_intermediate_dir": f"{ml}/output/intermediate",
        "model_dir": f"{ml}/model",
        "module_dir": module_dir or f"{ml}/code",
    }


def _module(script: str) -> str:
    return script[:-3] if script.endswith(".py") else script


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))
