"""The study of a run that goes on, as it is by now with what was added to it, and what the console shows of it."""

from __future__ import annotations

from pathlib import Path

from benchmarking.remote.console import ConsoleMetrics, console_metrics
from benchmarking.remote.launch_record import TUNING_METRICS, LaunchRecord
from benchmarking.remote.layout import STUDY
from benchmarking.studies.record import StudyRecord, from_json
from definitions.errors import UserError
from launch.launching.place import RunPlace
from launch.study_planning import specs_of, stored_definition


def study_of(place: RunPlace) -> StudyRecord:
    """Return the study of a launched run.

    Args:
        place: where the run is kept.

    Raises:
        UserError: its study.json is not there, or is damaged.
    """
    there = place.store.get(STUDY)
    if there is None:
        raise UserError(
            f"launch --resume {place.tag}: it has no study.json",
            "its launch was cut off before it said what is to be run, so that nothing of it has begun",
            f"`{place.found_by('clean', '--tag', place.tag)}` removes what there is; then launch it again",
        )
    return from_json(there.body.decode(), f"{place.uri}/{STUDY}")


def metrics_shown(tag: str, record: LaunchRecord, study: StudyRecord) -> ConsoleMetrics:
    """Return the metrics that controllers of a run define from now on; none where it was launched without.

    Args:
        tag: of the run.
        record: of the launch.
        study: as it is now.
    """
    if not record.controller.get(TUNING_METRICS, False):
        return ConsoleMetrics({})
    # Read as results are: neither scripts nor methods have to be on this machine.
    definitions = {name: stored_definition(study, name, Path(tag)) for name in study.definitions}
    return console_metrics(specs_of(study, study.experiments, definitions, Path(tag)))


def left_out_text(shown: ConsoleMetrics) -> list[str]:
    """Return in words which metrics find no room, a line or none."""
    if not shown.left_out:
        return []
    return [f"the console takes {len(shown.expressions)} metrics of a job; it does not show {', '.join(shown.left_out)}"]
