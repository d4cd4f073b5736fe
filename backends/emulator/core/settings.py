"""What can be set on the emulator: identity, delays, limits, quotas, how jobs are run. Handed to every part of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from backends.emulator.core.credentials import Credentials

_SWITCHES = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT")
TRAINING_QUOTA = "{} for training job usage"
SPOT_QUOTA = "{} for spot training job usage"
WARM_POOL_QUOTA = "{} for training warm pool usage"
ENDPOINT_QUOTA = "{} for endpoint usage"


@dataclass(frozen=True)
class Delays:
    """How long the service's own steps take, in seconds of the emulator's clock, on top of the work that is really done.

    Args:
        cold_start_s: from creation to the first instance, `warm_start_s`: the same from a warm pool.
        stop_s: from the end of the script to `Stopped`.
        spot_return_s: from an interruption until there is capacity again.
        log_s: from a line's printing until CloudWatch Logs shows it.
        deploy_s: from the creation of an endpoint until its instances are there; `delete_s`: until one that is deleted is gone.
        grace_s: between TERM and KILL.
        checkpoint_sync_s: between two synchronisations of the checkpoint folder; `profiler_file_s`: between two profiler files.
    """

    cold_start_s: float = 0.2
    warm_start_s: float = 0.05
    stop_s: float = 0.0
    spot_return_s: float = 0.2
    log_s: float = 0.0
    deploy_s: float = 0.2
    delete_s: float = 0.05
    grace_s: float = 120.0
    checkpoint_sync_s: float = 1.0
    profiler_file_s: float = 60.0


@dataclass(frozen=True)
class Settings:
    """Settings of one emulator.

    Args:
        account, region: what ARNs and prices say.
        delays: of the service's own steps.
        quotas: limits by quota name, as Service Quotas calls them; names may hold `*`. The first that matches counts.
        keep_alive_max_s: longest accepted KeepAlivePeriodInSeconds (the guide says 3600, the API's model 21600).
        spot_billed_fraction: share of the training time that managed spot bills.
        images: commands by pattern of the training image, for images that would bring a program of their own.
        python: interpreter that jobs find as `python`.
        namespaces: `auto` tries to give jobs a private /opt/ml, `user` does so by way of a user namespace alone; where it is not allowed,
            and with `never`, paths are relocated.
        install_requirements: whether a requirements.txt in the source is installed before the script runs.
        keep_job_folders: whether a job's folders stay after its end.
        log_event_bytes: longest log event; a longer line is cut into several.
        speed_factors: share of a host's processor time that jobs get, by pattern of the instance type; off where empty.
        workers: threads that move data.
    """

    account: str = "123456789012"
    region: str = "us-east-1"
    delays: Delays = Delays()
    quotas: Mapping[str, int] = field(
        default_factory=lambda: {
            WARM_POOL_QUOTA.format("*"): 0,
            SPOT_QUOTA.format("*"): 200,
            TRAINING_QUOTA.format("*"): 200,
            ENDPOINT_QUOTA.format("*"): 20,
        }
    )
    keep_alive_max_s: int = 3600
    spot_billed_fraction: float = 0.3
    images: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    python: str = sys.executable
    namespaces: str = "auto"
    install_requirements: bool = False
    keep_job_folders: bool = False
    log_event_bytes: int = 262_118
    speed_factors: Mapping[str, float] = field(default_factory=dict)
    workers: int = 6

    @property
    def default_bucket(self) -> str:
        """The bucket that SageMaker's SDK, and we, use where none is named."""
        return f"sagemaker-{self.region}-{self.account}"

    def arn(self, job: str) -> str:
        """Return the ARN of a training job."""
        return f"arn:aws:sagemaker:{self.region}:{self.account}:training-job/{job}"


SDK_CONFIG = "SAGEMAKER_USER_CONFIG_OVERRIDE"
"""Variable that says where SageMaker's SDK, of version 2 and 3, finds its configuration."""


def sdk_config(bucket: str) -> str:
    """Return a configuration of SageMaker's SDK with which it stays with the emulator.

    Without one it asks STS at AWS's own address for the account whose number is part of the default bucket's name, whatever the environment
    says, and sends telemetry to another.

    Args:
        bucket: the default one.
    """
    return (
        "SchemaVersion: '1.0'\nSageMaker:\n  PythonSDK:\n    Modules:\n      TelemetryOptOut: true\n"
        f"      Session:\n        DefaultS3Bucket: {bucket}\n"
    )


def leading_elsewhere(environ: Mapping[str, str], endpoint_url: str) -> dict[str, str]:
    """Return what has to be exported besides, as an environment has what would lead calls of AWS's clients elsewhere.

    Args:
        environ: of whoever calls.
        endpoint_url: where calls are to go.
    """
    found = {name: endpoint_url for name in environ if name.startswith("AWS_ENDPOINT_URL_")}
    found |= {name: "false" for name in _SWITCHES if name in environ}
    if any(environ.get(name) for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")):
        found["NO_PROXY"] = around_proxies(environ)
    return found


def client_environment(endpoint_url: str, region: str, credentials: Credentials) -> dict[str, str]:
    """Return what a client has to have in its environment to talk to the emulator, or to its S3, and to nothing else.

    Args:
        endpoint_url: of the server.
        region: that it is in.
        credentials: that it accepts.
    """
    return {
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
        "AWS_SESSION_TOKEN": credentials.token,
        "AWS_DEFAULT_REGION": region,
        "AWS_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def around_proxies(environ: Mapping[str, str]) -> str:
    """Return a value of NO_PROXY that adds this machine's own address, which no proxy can reach, to what an environment has there."""
    return ",".join(part for part in (environ.get("NO_PROXY") or environ.get("no_proxy"), "127.0.0.1") if part)
