"""Measurements that may stand for trials of the present experiment: same program, code, place and configuration, repeat by repeat."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchmarking.archive.code_version import CodeVersion
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.past_results import folders_of_tags
from benchmarking.archive.stored import StoredExperiment, load, read_identity
from benchmarking.controller.journal import Journal, Record
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions import strict_json
from definitions.configuration import configuration_id
from definitions.definition_hash import measurement_hash
from definitions.fidelity import Progressive
from definitions.instances import default_instance_type
from definitions.parts import PER_EPOCH
from definitions.schema import DERIVED_OBJECTIVES
from definitions.trial import TrialSpec, seed_of


class PastReport(NamedTuple):
    """One report of an earlier trial: its metrics, and the seconds since its script began."""

    elapsed_s: float
    metrics: Mapping[str, Any]


@dataclass(frozen=True)
class PastMeasurement:
    """A completed trial whose results stand for another.

    Args:
        source: which one it is, for people.
        usage: what it used, as its job's `Closed` said.
        took: its duration_s, billable_s and cost_usd.
        reports: all that it reported, in order.
    """

    source: str
    usage: Mapping[str, Any]
    took: Mapping[str, float | None]
    reports: Sequence[PastReport]


class PastMeasurements:
    """What the runs measured that an experiment's definition names in `warm_start`, as far as it may stand for its trials.

    Args:
        spec: the present experiment, whose folder is prepared.
        code: of it; where its version is not known nothing can be told to be the same.
        has_begun: whether its journal has begun; then tags that are gone are passed over.
    """

    def __init__(self, spec: ExperimentSpec, code: CodeVersion, *, has_begun: bool = False) -> None:
        self._spec, self._code = spec, code
        self._trials: dict[str, tuple[StoredExperiment, TrialState]] = {}
        self._reports: dict[Path, Mapping[int, Sequence[PastReport]]] = {}
        # What went on after its journal had begun needs no other run, so that these may be gone.
        tags = [tag for tag in spec.definition.warm_start if not has_begun or (spec.results_dir / tag).is_dir()]
        self.lines = [f"reuse: {self._add(load(folder))}" for folder in folders_of_tags(spec, tags)]
        """What may be taken from where, in words."""

    def find(self, key: str) -> PastMeasurement | None:
        """Return what was measured under a `measurement_key`; None where nothing was."""
        if key not in self._trials:
            return None
        stored, trial = self._trials[key]
        if stored.folder not in self._reports:
            with stored.journal() as journal:
                self._reports[stored.folder] = reports_of(journal.records())
        return _measured(trial, f"trial {trial.trial} of {stored.folder}", self._reports[stored.folder].get(trial.trial, ()))

    def _add(self, stored: StoredExperiment) -> str:
        """Take in what an experiment measured, and return in words how much."""
        reason = self._difference(stored)
        if reason:
            return f"nothing of {stored.folder}: {reason}"
        with stored.journal() as journal:
            state = stored.state(journal)
        completed = [trial for trial in state.trials.values() if trial.status is TrialStatus.COMPLETED]
        usable = [trial for trial in completed if is_usable(self._spec, state, trial, self._code.code)]
        for trial in usable:
            self._trials.setdefault(measurement_key(stored.spec, trial.spec, reads_seed=self._code.reads_seed), (stored, trial))
        others = sorted({trial.code for trial in completed} - {self._code.code})
        more = f"; others are of another version of the code ({', '.join(others)}, now {self._code.code})" if others else ""
        return f"{len(usable)} of {len(completed)} measurements of {stored.folder} may be taken{more}"

    def _difference(self, stored: StoredExperiment) -> str:
        """Return why nothing that an experiment measured can stand for the present one's trials; empty where some may."""
        ours, theirs = self._spec, stored.spec
        if not stored.is_started:
            return "it was not started"
        if theirs.backend != ours.backend:
            return f"it ran on {theirs.backend}"
        if measurement_hash(theirs.definition) != measurement_hash(ours.definition):
            return "its definition says otherwise how the script is run, on what, or what is found in its output"
        if theirs.seed != ours.seed and is_seeded(ours, reads_seed=self._code.reads_seed):
            return "it had another seed, and the script gets to know it"
        if not ours.folder.is_dir():
            return ""
        if _real_money(stored.folder) != _real_money(ours.folder):
            return "one is of an account, the other of an emulator"
        if ours.definition.is_exclusive and _processor(stored.folder) != _processor(ours.folder):
            return "speed or cost is measured, and it ran on another processor"
        return ""


class Measurements:
    """Finds what was measured already: in the present experiment, else in earlier ones.

    Args:
        spec: the present experiment.
        code: of it.
        past: what earlier ones measured.
        state: of the present one, as it grows.
        journal: of it.
    """

    def __init__(self, spec: ExperimentSpec, code: CodeVersion, past: PastMeasurements, state: ExperimentState, journal: Journal) -> None:
        self._spec, self._code, self._past, self._state, self._journal = spec, code, past, state, journal
        self._own: dict[str, int] | None = None

    def key(self, trial: TrialSpec) -> str:
        """Return what tells a trial's measurement from others."""
        return measurement_key(self._spec, trial, reads_seed=self._code.reads_seed)

    def find(self, trial: TrialSpec) -> PastMeasurement | None:
        """Return what stands for a trial; None where it was not measured."""
        key = self.key(trial)
        number = self._measured_here().get(key)
        if number is None:
            return self._past.find(key)
        self._journal.commit()
        return _measured(self._state.trials[number], f"trial {number}", reports_of(self._journal.records()).get(number, ()))

    def left(self, trial: int, reports: Sequence[PastReport]) -> Sequence[PastReport]:
        """Return those of a trial's reports that it has still to make: none of the levels that were told before it was paused."""
        fidelity = self._spec.definition.fidelity
        if not isinstance(fidelity, Progressive) or trial not in self._state.trials:
            return reports
        told = as_number(self._state.trials[trial].last.get(fidelity.reported_as))
        levels = [as_number(report.metrics.get(fidelity.reported_as)) for report in reports]
        return [report for report, level in zip(reports, levels, strict=True) if told is None or level is None or level > told]

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Take note of a trial that was completed; called after each record."""
        if self._own is not None and record.kind == "settle":
            self._note(self._own, state.trials[record.body["trial"]])

    def _measured_here(self) -> Mapping[str, int]:
        # Made at the first question, when what the journal had is in the state.
        if self._own is None:
            self._own = {}
            for trial in self._state.trials.values():
                self._note(self._own, trial)
        return self._own

    def _note(self, found: dict[str, int], trial: TrialState) -> None:
        if trial.reused is None and is_usable(self._spec, self._state, trial, self._code.code):
            found.setdefault(measurement_key(self._spec, trial.spec, reads_seed=self._code.reads_seed), trial.trial)


def measurement_key(spec: ExperimentSpec, trial: TrialSpec, *, reads_seed: bool) -> str:
    """Return what tells measurements of one program apart: all arguments, level, repeat, seed where the script gets one, instances.

    Args:
        spec: the experiment.
        trial: one of its trials.
        reads_seed: as `is_seeded` takes it.
    """
    given = {**spec.definition.arguments, **trial.configuration}
    return configuration_id(
        {
            "arguments": given,
            "level": trial.level,
            "repeat": trial.repeat,
            "seed": seed_of(spec.seed, trial.repeat) if is_seeded(spec, reads_seed=reads_seed) else None,
            "instance_type": given.get("instance_type") or default_instance_type(spec.backend),
        }
    )


def is_seeded(spec: ExperimentSpec, *, reads_seed: bool) -> bool:
    """Return whether what an experiment's script measures may depend on its seed.

    Args:
        spec: the experiment.
        reads_seed: whether its code has the name of the variable that tells the seed. In doubt it counts as read: to measure once more is
            better than to take another seed's luck for one's own.
    """
    definition = spec.definition
    return reads_seed or definition.seed_argument is not None or "${seed}" in str(definition.command)


def reports_of(records: Iterable[Record]) -> dict[int, list[PastReport]]:
    """Return what each trial reported, in order."""
    trials: dict[str, int] = {}
    found: dict[int, list[PastReport]] = {}
    for record in records:
        body = record.body
        if record.kind == "start":
            trials[body["job"]] = body["trial"]
        elif record.kind == "reported" and body["job"] in trials:
            found.setdefault(trials[body["job"]], []).append(PastReport(body["elapsed_s"], body["metrics"]))
    return found


def is_usable(spec: ExperimentSpec, state: ExperimentState, trial: TrialState, code: str) -> bool:
    """Return whether a trial was completed by this version of the code, and reported all that the experiment judges by.

    Args:
        spec: the experiment whose trials it may stand for.
        state: what it belongs to.
        trial: the trial.
        code: version of the code; empty where that is not known.
    """
    if state.evaluations[trial.evaluation].checkpoint_from is not None:
        # What it measured is that of its configuration and of those that trained before it.
        return False
    if trial.status is not TrialStatus.COMPLETED or not code or trial.code != code:
        return False
    reported = [trial.value_of(name) for name in spec.definition.objectives if name not in DERIVED_OBJECTIVES]
    return all(value is not None and math.isfinite(value) for value in reported)


def _measured(trial: TrialState, source: str, reports: Sequence[PastReport]) -> PastMeasurement:
    took = {"duration_s": trial.duration_s, **{name: trial.value_of(name) for name in ("billable_s", "cost_usd", *PER_EPOCH)}}
    return PastMeasurement(source, {name: value for name, value in trial.usage.items() if name != "reused"}, took, reports)


def _real_money(folder: Path) -> Any:
    return read_identity(folder).get("real_money")


def _processor(folder: Path) -> Any:
    try:
        environment = strict_json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return environment.get("processor") if isinstance(environment, dict) else None
