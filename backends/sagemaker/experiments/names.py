"""How experiments, trials and their components are called in SageMaker Experiments, and what it takes of values. Pure.

Its experiment is a tag's benchmark, its trial holds up to 50 of our trials of one experiment, and its component is a job. The names follow
from tag, benchmark and job alone, so that whoever tells it, and whenever, means the same.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import Any

from definitions.written import text_of

COMPONENTS_A_TRIAL = 50
"""Components that a trial takes, as users report."""

LONGEST_NAME = 120
LONGEST_METRIC = 255
LONGEST_KEY = 256
LONGEST_VALUE = 2500
MOST_PARAMETERS = 300
JOB_SUFFIX = "-aws-training-job"
"""What the service adds to a training job's name for that of its component."""


def experiment_name(tag: str, benchmark: str, number: int = 1) -> str:
    """Return the name of an experiment; `number` counts those that were opened as the ones before were full."""
    ending = "" if number == 1 else f"-{number}"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", f"{tag}-{benchmark}").strip("-")
    return slug[: LONGEST_NAME - len(ending)].rstrip("-") + ending


def whole_trial_name(prefix: str) -> str:
    """Return the name of the trial that holds the component of one of our experiments as a whole; `prefix`: of its jobs' names."""
    return prefix


def trial_name(prefix: str, trial: int, attempt: int) -> str:
    """Return the name of the trial that holds a job: 50 to each, retries apart, so that there is room whatever is tried again."""
    return f"{prefix}-{trial // COMPONENTS_A_TRIAL}" + (f"-a{attempt}" if attempt > 1 else "")


def whole_component_name(prefix: str) -> str:
    """Return the name of the component of an experiment as a whole."""
    return f"{prefix}-experiment".lower()


def component_name(job: str, *, is_training_job: bool) -> str:
    """Return the name of a job's component, the one that SageMaker gives it where it is a training job."""
    return f"{job}{JOB_SUFFIX if is_training_job else ''}".lower()


def display_name(name: str) -> str:
    """Return a name for people as the service takes it."""
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:LONGEST_NAME].rstrip("-") or "run"


def metric_name(name: str) -> str:
    """Return a metric's name as the service takes it: on one line, at most 255 characters, another for each that is cut."""
    line = "".join(character if character.isprintable() else "_" for character in name) or "_"
    if len(line) <= LONGEST_METRIC:
        return line
    return f"{line[: LONGEST_METRIC - 9]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def parameter(value: Any) -> dict[str, Any]:
    """Return a parameter's value as the service takes it: a number that it can keep, else a text of at most 2,500 characters."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and float(value) == value:
        return {"NumberValue": float(value)}
    text = text_of(value).encode("utf-8", "backslashreplace").decode()
    return {"StringValue": text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"}
