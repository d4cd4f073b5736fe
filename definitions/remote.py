"""How the jobs that run a launched study are to be: the block `remote:` of a definition or of a study's file. It is in no hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from definitions import strict_json
from definitions.errors import UserError
from definitions.fields import Flag, NotNegative, Positive, Seconds, Text
from definitions.model import Model


class RemoteOptions(Model):
    """Options of the controllers of `outrider launch`: the training jobs that run the study itself."""

    instance_type: Text | None = Field(None, description="of the controllers (default ml.m5.large; with trials inside: the benchmark's)")
    image: Text | None = Field(None, description="URI of an image with Python 3.11 or later, in place of a framework's")
    framework: Text | None = Field(None, description="whose image is taken (default pytorch, the newest for CPUs)")
    framework_version: Text | None = Field(None, description="of the framework; the newest known one where nothing is given")
    role: Text | None = Field(None, description="ARN of the role that controllers run with; else OUTRIDER_CONTROLLER_ROLE")
    max_run: Seconds | None = Field(
        None, description="seconds of one generation (default: the longest time of the dry run and a fifth, a day at most)"
    )
    spot: Flag | None = Field(None, description="managed spot training; an interrupted controller goes on by itself (default false)")
    restarts: NotNegative | None = Field(None, description="starts again after a fault without a finished trial in between (default 3)")
    controllers: Positive | None = Field(
        None, description="jobs that share the experiments (default 1; with trials inside: one for each experiment)"
    )
    volume_gb: Annotated[int, Field(strict=True, ge=1, le=16384)] | None = Field(None, description="disk of each controller (default 30)")
    subnets: Annotated[tuple[Text, ...], Field(min_length=1, max_length=16)] | None = Field(None, description="of the controllers' VPC")
    security_groups: Annotated[tuple[Text, ...], Field(min_length=1, max_length=5)] | None = Field(
        None, description="of the controllers' VPC"
    )
    tags: dict[str, Text] | None = Field(None, description="of every controller, beside Outrider's own")
    region: Text | None = Field(None, description="AWS region; else the back-end's, or that of the AWS configuration")
    bucket: Text | None = Field(None, description="for the state of the run; else the back-end's, or sagemaker-<region>-<account>")
    prefix: Text | None = Field(None, description='of all keys in the bucket; else the back-end\'s (default "outrider")')
    tuning_metrics: Flag | None = Field(
        None, description="show best value, its trial and hyperparameters, and trials and dollars so far in the console (default true)"
    )
    requirements: tuple[Text, ...] | None = Field(
        None, description="installed in the controllers beside what the study needs, e.g. packages of plug-ins"
    )


def joined_remote(blocks: Mapping[str, RemoteOptions]) -> RemoteOptions:
    """Return the options of one study's controllers.

    Args:
        blocks: of its benchmarks, by name; one says what another leaves out, and requirements add up.

    Raises:
        UserError: two benchmarks say something else of one option.
    """
    found: dict[str, Any] = {}
    said_by: dict[str, str] = {}
    for name, block in blocks.items():
        for key, value in block.model_dump(exclude_none=True).items():
            if key == "requirements":
                found[key] = tuple(dict.fromkeys((*found.get(key, ()), *value)))
            elif key in found and found[key] != value:
                raise UserError(
                    f"remote.{key}: {said_by[key]} says {_text(found[key])}, {name} says {_text(value)}",
                    "the controllers of one study are alike",
                    f"say it once for all: --remote_{key}",
                )
            else:
                found[key], said_by[key] = value, name
    return RemoteOptions.model_validate(found)


def remote_settings(options: RemoteOptions) -> list[str]:
    """Return options as `remote.key=value` settings, to be laid over definitions; those that say nothing are left out."""
    given = options.model_dump(exclude_none=True, exclude_defaults=True)
    tags = given.pop("tags", {})
    texts = [f"remote.{key}={strict_json.dumps([*value] if isinstance(value, tuple) else [value])}" for key, value in given.items()]
    return [*texts, *(f"remote.tags.{key}={strict_json.dumps([value])}" for key, value in tags.items())]


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
