"""What is asked of a back-end: one execution of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.deployment import Deployment
from backends.job_input import JobInput
from definitions.file_source import FileSource
from definitions.made_at_once import made_at_once
from definitions.metrics import NO_SOURCES, MetricSources


@dataclass(frozen=True)
class Limits:
    """Limits of one job, in seconds: `max_run_s` from its start (None: as long as it takes), `grace_s` between TERM and KILL."""

    max_run_s: float | None = 3600.0
    grace_s: float = 5.0


@made_at_once
@dataclass(frozen=True)
class JobSpec:
    """One execution of a trial, fully described.

    Args:
        name: unique within the experiment and valid as a SageMaker job name.
        trial: number of the trial; `attempt`: 1 for its first job.
        script: absolute path of the program, empty where a command starts none; `arguments`: its argument list, values unsplit.
        command: what is started in place of the script and its arguments; empty for these. `${place}` in a word is filled in by the
            back-end (`backends.common.command_line.filled`), `$${` is `${`.
        parameters: the script's arguments by name, as values.
        files: text by name, which the job finds as `${arguments_file}`.
        source_dir: absolute path of the folder of script and command; on the path of Python's imports where there is a command.
        working_dir: absolute path of where the job starts on this machine; empty for a folder of its own.
        prepare, cleanup: commands that run before and after what is measured; `warmup_runs`: unmeasured runs before the measured one.
        is_silent: whether success without a report is success; `is_measured_alone`: whether the script is to be measured apart from what
            else the job does.
        environment: variables added to the back-end's own.
        instance_type: e.g. `local.2cpu`, `ml.g5.xlarge`; `instance_count`: how many.
        configuration: the trial's configuration, as the method suggested it.
        level: per-job fidelity this job runs at; None where the benchmark has none.
        repeat: number of the repeated measurement, from 0.
        checkpoint: key under which the trial keeps its checkpoint, across attempts.
        restore_from: key of the checkpoint to start from; None to start afresh.
        exclusive: whether nothing else may run beside it (local).
        metrics: where metrics are found in its output, beside its reports.
        log_cap_bytes: most bytes of its log that are kept; None for all.
        metric_files: files that it writes metrics to; places in their paths are filled in by the back-end.
        requirements: packages that our readers and writers take for what this job does, as pip knows them; installed where jobs run
            elsewhere.
        endpoint: what is deployed first, for the script to call; None where the script is all.
    """

    name: str
    trial: int
    attempt: int
    script: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    source_dir: str = ""
    working_dir: str = ""
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    warmup_runs: int = 0
    is_silent: bool = False
    is_measured_alone: bool = False
    instance_type: str = ""
    instance_count: int = 1
    inputs: tuple[JobInput, ...] = ()
    requirements: tuple[str, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None
    repeat: int = 0
    checkpoint: str = ""
    restore_from: str | None = None
    limits: Limits = Limits()
    exclusive: bool = False
    metrics: MetricSources = NO_SOURCES
    metric_files: tuple[FileSource, ...] = ()
    log_cap_bytes: int | None = None
    endpoint: Deployment | None = None
