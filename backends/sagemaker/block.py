"""The block of the back-ends sagemaker and warm_pool in a definition: their options, beside what may differ on any back-end."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import Field

from definitions.fields import Flag, Number, Seconds, Text
from definitions.parts import Overrides

DEFAULT_KEEP_ALIVE_S = 600
"""Seconds that instances are kept after a job of back-end warm_pool."""


MOST_TAGS, OWN_TAGS, LONGEST_KEY, LONGEST_VALUE = 50, 4, 128, 256
"""Tags of a job, those of them that are Outrider's, and the characters of their keys and values."""


class SageMakerBlock(Overrides):
    """What differs on SageMaker, and that back-end's options."""

    framework: Text | None = Field(None, description="whose image is taken: pytorch, tensorflow, huggingface, sklearn, xgboost, autogluon")
    framework_version: Text | None = Field(None, description='e.g. "2.9"; the newest known one where nothing is given')
    py_version: Text | None = Field(None, description="e.g. py312, to be sure of it")
    image: Text | None = Field(None, description="URI of the training image, in place of a framework")
    algorithm_name: Text | None = Field(None, description="name or ARN of an algorithm, in place of an image and a script")
    role: Text | None = Field(None, description="ARN of the role that jobs run with; else OUTRIDER_ROLE of the environment")
    region: Text | None = Field(None, description="AWS region; else that of the AWS configuration")
    bucket: Text | None = Field(None, description="for code, data and checkpoints; sagemaker-<region>-<account> where nothing is given")
    prefix: Text | None = Field(None, description='of all keys in the bucket (default "outrider")')
    volume_gb: Annotated[int, Field(strict=True, ge=1, le=16384)] | None = Field(None, description="disk of each instance (default 30)")
    volume_kms_key: Text | None = Field(None, description="key that encrypts the disks")
    output_kms_key: Text | None = Field(None, description="key that encrypts models and other output in S3")
    subnets: Annotated[tuple[Text, ...], Field(min_length=1, max_length=16)] | None = Field(None, description="of the VPC of the jobs")
    security_groups: Annotated[tuple[Text, ...], Field(min_length=1, max_length=5)] | None = Field(
        None, description="of the VPC of the jobs"
    )
    network_isolation: Flag | None = Field(None, description="jobs reach no network (default false)")
    encrypt_traffic: Flag | None = Field(None, description="between the hosts of a job (default false)")
    tags: dict[str, Text] | None = Field(None, description="of every job, beside Outrider's own")
    spot: Flag | None = Field(None, description="managed spot training, with checkpoints (default false)")
    max_wait: Seconds | None = Field(None, description="seconds that a spot job may wait and run (default: max_run and an hour)")
    keep_alive: Annotated[int, Field(strict=True, ge=1, le=21600)] | None = Field(
        None, description="seconds that warm_pool keeps instances after a job (default 600); SageMaker's limit may be 3600"
    )
    fallback_instance_types: tuple[Text, ...] | None = Field(
        None, description="tried in this order where an instance type has no capacity; the trial's price and speed are then theirs"
    )
    profiler: Flag | None = Field(None, description="SageMaker's system profiler (default false)")
    profiler_interval_ms: Literal[100, 200, 500, 1000, 5000, 60000] | None = Field(None, description="between samples (default 500)")
    console_metrics: Flag | None = Field(None, description="a time series of the `metrics` on the console (default false)")
    mlflow: Text | None = Field(
        None, description="ARN of a managed MLflow server or app that jobs are tied to, each as a run of experiment <tag>/<benchmark>"
    )
    retries: Annotated[int, Field(strict=True, ge=0, le=30)] | None = Field(
        None, description="by SageMaker itself within a job, after internal errors (default 0)"
    )
    log_settle_s: Annotated[Number, Field(ge=0)] | None = Field(
        None, description="seconds that late log lines are awaited after a job's end"
    )


def allowed(text: str) -> str:
    """Return a text with each character replaced by `_` that cannot be in a tag: letters, digits, spaces and _.:/=+-@ can."""
    return "".join(c if c in "_.:/=+-@" or unicodedata.category(c)[0] in "LZN" else "_" for c in text)
