"""CreateModel, CreateEndpointConfig and CreateEndpoint for a deployment. Pure."""

from __future__ import annotations

from typing import Any

from backends.deployment import Deployment
from backends.job_spec import JobSpec
from backends.sagemaker.jobs.hosting_server import server_problem
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.tags import job_tags

VARIANT = "AllTraffic"
KEY_TAG = "outrider:deploy-key"
JOB_TAG = "outrider:job"
"""Tags of an endpoint: what it serves, and the job that it was made for."""
_LEAST_S, _MOST_S = 60, 3600


def tags_of(job: JobSpec, deployment: Deployment, options: Options) -> list[dict[str, str]]:
    """Return the tags of a job's model, configuration and endpoint; raises `UserError` where they are too many."""
    own = [{"Key": KEY_TAG, "Value": deployment.key}, {"Key": JOB_TAG, "Value": job.name}]
    return [*job_tags(job, options), *own]


def check_server(deployment: Deployment, options: Options, emulated: bool, has_image: bool) -> None:
    """Raise `UserError` where no image of AWS's holds a deployment's server.

    Args:
        deployment: to be served.
        options: of the experiment.
        emulated: whether the emulator serves, which has no images and starts the server itself.
        has_image: whether the definition names an image.
    """
    problem = server_problem(deployment.server, options.region, emulated, has_image)
    if problem is not None:
        raise problem


def model_request(job: JobSpec, deployment: Deployment, options: Options, data_uri: str) -> dict[str, Any]:
    """Return CreateModel's request.

    Args:
        job: whose name the model gets.
        deployment: what it serves.
        options: of the experiment.
        data_uri: of the archive in mode single; else the prefix below which the targets are.

    Raises:
        UserError: there is no image for the instance type, or too many tags.
    """
    environment = {"OUTRIDER_SERVER": deployment.server}
    if deployment.memory_bytes is not None:
        environment["OUTRIDER_MEMORY_BYTES"] = str(deployment.memory_bytes)
    container: dict[str, Any] = {"Image": options.image_for(deployment.instance_type), "ModelDataUrl": data_uri}
    if deployment.mode == "multi":
        container["Mode"] = "MultiModel"
    elif deployment.packages:
        environment["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] = deployment.packages[0].name
    request: dict[str, Any] = {
        "ModelName": job.name,
        "ExecutionRoleArn": options.role,
        "PrimaryContainer": {**container, "Environment": environment},
        "EnableNetworkIsolation": options.network_isolation,
        "Tags": tags_of(job, deployment, options),
    }
    if options.subnets:
        request["VpcConfig"] = {"Subnets": list(options.subnets), "SecurityGroupIds": list(options.security_groups)}
    return request


def config_request(job: JobSpec, deployment: Deployment, options: Options) -> dict[str, Any]:
    """Return CreateEndpointConfig's request; raises `UserError` where there are too many tags."""
    within_s = int(min(_MOST_S, max(_LEAST_S, deployment.deploy_s)))
    variant = {
        "VariantName": VARIANT,
        "ModelName": job.name,
        "InstanceType": deployment.instance_type,
        "InitialInstanceCount": deployment.instance_count,
        "ModelDataDownloadTimeoutInSeconds": within_s,
        "ContainerStartupHealthCheckTimeoutInSeconds": within_s,
    }
    found: dict[str, Any] = {"EndpointConfigName": job.name, "ProductionVariants": [variant], "Tags": tags_of(job, deployment, options)}
    if options.volume_kms_key:
        found["KmsKeyId"] = options.volume_kms_key
    return found


def endpoint_request(job: JobSpec, deployment: Deployment, options: Options) -> dict[str, Any]:
    """Return CreateEndpoint's request; raises `UserError` where there are too many tags."""
    return {"EndpointName": job.name, "EndpointConfigName": job.name, "Tags": tags_of(job, deployment, options)}
