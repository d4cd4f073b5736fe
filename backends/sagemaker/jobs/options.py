"""What the jobs of one experiment on SageMaker have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from backends.sagemaker.jobs.images import has_gpu
from definitions.errors import UserError

DEFAULT_PREFIX = "outrider"

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Options:
    """Options of one experiment's jobs.

    Args:
        region: AWS region; `role`: ARN that jobs run with.
        bucket: for everything that the experiment keeps in S3; `prefix`: of all its keys there.
        experiment: `<tag>/<job prefix>`, part of the keys; the job prefix is the common beginning of all job names.
        image_cpu, image_gpu: URI of the training image for instances without and with GPUs; None where there is none.
        algorithm_name: name or ARN of an algorithm, in place of an image.
        has_script: whether a script of the user's runs; `script`: its path relative to the packed source.
        python: interpreter within the image; empty for the one that starts the job.
        benchmark: its name.
        sharded: channels of which each host gets a share; `content_types`: of channels, by name.
        spot: managed spot training; `max_wait_s`: longest wait and run together.
        keep_alive_s: seconds that instances are kept after a job; 0 for none.
        fallback_instance_types: tried in this order where there is no capacity.
        metrics: a regular expression with one group for each metric that is found in the log; shown on the console too.
        console_metrics: whether the console shows a time series of them; `console_regexes`: of the metrics that reports hold.
        retries: by SageMaker within a job, after internal errors; 0 for none.
        mlflow: ARN of SageMaker's managed MLflow that jobs are tied to; None for none.
        log_settle_s: how long late log lines are awaited after a job's end; None for the back-end's own.
    """

    region: str
    role: str
    bucket: str
    experiment: str
    prefix: str = DEFAULT_PREFIX
    image_cpu: str | None = None
    image_gpu: str | None = None
    algorithm_name: str | None = None
    has_script: bool = True
    script: str = ""
    volume_gb: int = 30
    volume_kms_key: str | None = None
    output_kms_key: str | None = None
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    network_isolation: bool = False
    encrypt_traffic: bool = False
    tags: Mapping[str, str] = field(default_factory=lambda: _NONE)
    python: str = ""
    benchmark: str = ""
    sharded: tuple[str, ...] = ()
    content_types: Mapping[str, str] = field(default_factory=lambda: _NONE)
    spot: bool = False
    max_wait_s: float | None = None
    keep_alive_s: int = 0
    fallback_instance_types: tuple[str, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=lambda: _NONE)
    profiler: bool = False
    profiler_interval_ms: int = 500
    console_metrics: bool = False
    console_regexes: Mapping[str, str] = field(default_factory=lambda: _NONE)
    retries: int = 0
    mlflow: str | None = None
    log_settle_s: float | None = None

    @property
    def image(self) -> str | None:
        """One of the images, for messages; None only with an algorithm."""
        return self.image_cpu or self.image_gpu

    def image_for(self, instance_type: str) -> str | None:
        """Return the image for an instance type; None only with an algorithm.

        Raises:
            UserError: the framework has no image for instances of this kind.
        """
        if self.algorithm_name is not None:
            return None
        gpu = has_gpu(instance_type)
        found = self.image_gpu if gpu else self.image_cpu
        if found is None:
            raise UserError(
                f"instance type {instance_type}, which has {'a' if gpu else 'no'} GPU",
                f"the only image known is {self.image}",
                "use another instance type, or give `image`",
            )
        return found

    @property
    def run_uri(self) -> str:
        """`s3://` URI below which the state of the whole run is kept, where it is kept in S3, and what is asked of it from elsewhere."""
        return self.uri("runs", self.experiment.partition("/")[0]).rstrip("/")

    def uri(self, *parts: str) -> str:
        """Return `s3://<bucket>/<prefix>/<parts>/`."""
        return f"s3://{self.bucket}/" + "".join(f"{part.strip('/')}/" for part in (self.prefix, *parts))
