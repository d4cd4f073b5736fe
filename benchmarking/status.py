"""How the experiments of some tags stand, read beside the processes that run them."""

from __future__ import annotations

import contextlib
import enum
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.liveness import held_files, is_run
from benchmarking.archive.stored import StoredExperiment, experiments_of, load, read_identity, state_setup
from benchmarking.controller.ending import Reason
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.prefixes import has_canaries
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.state import ExperimentState
from benchmarking.export.json_exporter import read_result
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.running.outlook import outlook
from benchmarking.forecasting.running.words import running_text
from benchmarking.report.text import duration
from benchmarking.results import forecast_rows
from benchmarking.studies.files import read_study
from benchmarking.studies.record import StudyRecord
from definitions.errors import UserError
from definitions.program import command
from definitions.resolve import Resolved, resolve
from definitions.results_folder import results_words
from definitions.schema import Mode
from definitions.yaml_source import parse_yaml

_GOES_ON = (Reason.INTERRUPTED, Reason.ALONE, Reason.DISK_FULL)


class Standing(enum.StrEnum):
    """How an experiment stands."""

    RUNNING = "running"
    WAITING = "waiting"
    """A controller has it, or will come to it, and no job of it runs: for cores, for the service, for its turn."""
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    """Somebody ended it, or the disk was full, and a resume goes on with it."""
    KILLED = "killed"
    """It began, has not ended, and no process of this machine runs it."""
    NOT_STARTED = "not started"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class ExperimentStatus:
    """How one experiment stands.

    Args:
        tag, benchmark, method, seed, backend: what it is; `seed` is its number.
        standing: see `Standing`.
        trials: how many have each status.
        budget_trials: how many may be started; None where that is open.
        reports: how many have come.
        objective: the primary one; `best`: its value, mean over repeats; None where nothing was completed.
        elapsed_s: seconds that controllers ran since the first job began, up to the last record.
        spent_usd: dollars of closed jobs; `dollars`: of which kind they are.
        forecast: of the full job, from its canaries; empty where there are none.
        running: of each job that tells its progress, how far it is and when it ends, by its trial.
        note: why it ended, or what cannot be read.
    """

    tag: str
    benchmark: str
    method: str
    seed: int | None
    backend: str
    standing: Standing
    trials: Mapping[str, int] = field(default_factory=dict)
    budget_trials: int | None = None
    reports: int = 0
    objective: str = ""
    best: float | None = None
    elapsed_s: float = 0.0
    spent_usd: float = 0.0
    dollars: str = ""
    forecast: str = ""
    note: str = ""
    running: Mapping[int, str] = field(default_factory=dict)


@dataclass
class _Folded:
    """What was read of a journal so far, and is added to at the next look."""

    stored: StoredExperiment
    state: ExperimentState
    dollars: str
    forecast: str = ""
    forecast_after: int = -1
    elapsed_s: float = 0.0
    note: str = ""

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour of a configuration's job (None where unknown), and its number of instances."""
        resources = {"instance_type": self.state.setup.default_instance_type, **self.stored.spec.definition.arguments, **configuration}
        billing = Billing(self.stored.region, options=self.stored.spec.definition.block)
        return billing.usd_per_hour(str(resources["instance_type"])), int(resources.get("instance_count") or 1)


class StatusReader:
    """Looks at experiments, again and again; what it has read once it keeps. It writes nothing, and locks nothing.

    Args:
        running: says of each folder whether a process runs it; asked anew at each look.
        now: UTC seconds since the epoch.
    """

    def __init__(
        self, running: Callable[[], Callable[[Path], bool]] = lambda: _running_here(held_files()), now: Callable[[], float] = time.time
    ) -> None:
        self._running = running
        self._now = now
        self._seen: dict[tuple[str, str], Resolved] = {}
        self._folded: dict[Path, _Folded] = {}

    def look(self, tag_folders: Sequence[Path]) -> list[ExperimentStatus]:
        """Return how the experiments of some tags stand now, tag by tag, those that have no folder yet after the others."""
        is_running = self._running()
        return [status for folder in tag_folders for status in self._tag(folder, is_running)]

    def _tag(self, tag_folder: Path, is_running: Callable[[Path], bool]) -> Iterator[ExperimentStatus]:
        folders = experiments_of(tag_folder)
        running = {folder for folder in folders if is_running(folder)}
        for folder in folders:
            yield self._experiment(folder, running=folder in running, others_run=bool(running))
        there = {folder.relative_to(tag_folder) for folder in folders}
        study = _study(tag_folder)
        if study is None:
            return
        backend = study.flags.backend
        for one in study.experiments:
            if Path(one.benchmark, f"{one.method}-{backend}-{one.number}") not in there:
                standing = Standing.WAITING if running else Standing.NOT_STARTED
                objective = self._objective(study.definitions.get(one.benchmark, ""), backend, tag_folder)
                yield ExperimentStatus(tag_folder.name, one.benchmark, one.method, one.number, backend, standing, objective=objective)

    def _objective(self, text: str, backend: str, tag_folder: Path) -> str:
        """Return the primary objective of a definition that a study holds; empty where it cannot be read."""
        key = (text, backend)
        try:
            if key not in self._seen:
                self._seen[key] = resolve(parse_yaml(text, tag_folder / "study.json"), backend, check_files=False, keep_foreign=True)
        except UserError:
            return ""
        return self._seen[key].definition.primary_objective

    def _experiment(self, folder: Path, *, running: bool, others_run: bool) -> ExperimentStatus:
        tag, benchmark = folder.parent.parent.name, folder.parent.name
        try:
            known = read_identity(folder)
        except UserError as error:
            return ExperimentStatus(tag, benchmark, folder.name, None, "", Standing.UNREADABLE, note=_first_line(error))
        about = (tag, benchmark, str(known["method"]), int(known["number"]), str(known["backend"]))
        if not (folder / "journal.sqlite").is_file():
            standing = Standing.WAITING if running or others_run else Standing.NOT_STARTED
            return ExperimentStatus(*about, standing, objective=self._stored_objective(folder))
        try:
            found = self._ended(folder, about) if not running else None
            return found or self._read(folder, about, running=running)
        except UserError as error:
            # Its journal is being made, or what a copy of it holds is not one yet.
            standing = Standing.WAITING if running else Standing.UNREADABLE
            return ExperimentStatus(*about, standing, note="" if running else _first_line(error))

    def _stored_objective(self, folder: Path) -> str:
        try:
            return load(folder, self._seen).spec.definition.primary_objective
        except UserError:
            return ""  # what is wrong with it is said once it is to be run

    def _ended(self, folder: Path, about: tuple[str, str, str, int, str]) -> ExperimentStatus | None:
        """Return what result.json says where it stands for the whole journal; None where that has to be read."""
        told = read_result(folder)
        if told is None or not told.get("finished"):
            return None
        with _journal(folder) as journal:
            if journal.last_sequence != told.get("records"):
                return None
        try:
            return ExperimentStatus(
                *about,
                _ended_as(told["reason"]),
                told["trials"],
                told["budget"].get("max_num_trials"),
                told["reports"],
                told["objective"],
                told["best"],
                told["elapsed_s"],
                told["spent_usd"],
                told["dollars"],
                forecast_text(told["forecasts"]),
                told["message"],
            )
        except (KeyError, AttributeError, TypeError):
            return None  # somebody has changed it

    def _read(self, folder: Path, about: tuple[str, str, str, int, str], *, running: bool) -> ExperimentStatus:
        folded = self._folded.get(folder)
        if folded is None:
            stored = load(folder, self._seen)
            folded = self._folded[folder] = _Folded(stored, _unfolded(stored), kind_of_dollars(folder, stored.spec.backend))
        self._go_on(folded)
        return _status(folded, about, running=running, now=self._now())

    @staticmethod
    def _go_on(folded: _Folded) -> None:
        """Take in the records that have come since the last look, as far as they can be read."""
        state = folded.state
        try:
            with _journal(folded.stored.folder) as journal:
                clock = ExperimentClock(journal.sessions())
                if journal.last_sequence > state.sequence:
                    for record in journal.records():
                        if record.sequence > state.sequence:
                            clock.before(record.sequence, state)
                            state.apply(record)
                folded.elapsed_s = clock.at(state.last_at, state.sequence, state)
                folded.note = ""
        except UserError as error:
            if not state.sequence:
                raise
            folded.note = f"read up to record {state.sequence}: {_first_line(error)}"
        except Exception as error:  # noqa: BLE001 - half a journal may say anything; what came before is shown
            folded.note = f"read up to record {state.sequence}: {type(error).__name__}: {error}"


def _status(folded: _Folded, about: tuple[str, str, str, int, str], *, running: bool, now: float) -> ExperimentStatus:
    """Return what was read of an experiment as it is shown."""
    state, definition = folded.state, folded.stored.spec.definition
    if has_canaries(state.trials) and folded.forecast_after != state.finished:
        rows = forecast_rows(folded.stored.spec, state, folded.stored.region)
        folded.forecast, folded.forecast_after = forecast_text(rows), state.finished
    primary = definition.primary_objective
    ended = "" if state.ended is None else str(state.ended["message"])
    goes_on = ""
    if state.jobs and folded.stored.outlives_controller and not running:
        goes_on = _left_to_themselves(len(state.jobs), about[0], folded.stored.spec.results_dir)
    return ExperimentStatus(
        *about,
        _standing(state, running=running),
        dict(sorted(Counter(str(trial.status) for trial in state.trials.values()).items())),
        definition.budget.max_num_trials,
        state.reports,
        primary,
        best_value(state, primary, definition.objectives[primary]),
        folded.elapsed_s,
        state.money.spent_usd,
        folded.dollars,
        folded.forecast,
        folded.note or ended or goes_on or ("" if running or state.sequence else "its journal holds no record"),
        _running(folded, now) if running else {},
    )


def _left_to_themselves(jobs: int, tag: str, results_dir: Path) -> str:
    """Return what is to be known of jobs that nobody controls."""
    some = "1 job goes" if jobs == 1 else f"{jobs} jobs go"
    words = results_words(results_dir)
    return f"{some} on without a controller: `{command('run', '--resume', tag, *words)}` takes over, `{command('stop', tag, *words)}` ends"


class StatusTeller:
    """Tells how experiments stand from what their controller knows, in the words of `StatusReader`."""

    def __init__(self) -> None:
        self._told: dict[Path, _Folded] = {}

    def __call__(self, spec: ExperimentSpec, state: ExperimentState, now: float) -> ExperimentStatus:
        """Return how an experiment that this process runs, or has run, stands.

        Args:
            spec: what it is.
            state: of it; it may change meanwhile, which may end in a RuntimeError.
            now: UTC seconds since the epoch.
        """
        folded = self._told.get(spec.folder)
        if folded is None or folded.state is not state:
            stored = load(spec.folder)
            folded = self._told[spec.folder] = _Folded(stored, state, kind_of_dollars(spec.folder, spec.backend))
        with contextlib.suppress(UserError), _journal(spec.folder) as journal:
            folded.elapsed_s = ExperimentClock(journal.sessions()).at(state.last_at, state.sequence, state)
        about = (spec.tag, spec.definition.name, spec.method, spec.number, spec.backend)
        return _status(folded, about, running=state.ended is None, now=now)


def _running_here(held: frozenset[tuple[int, int, int]]) -> Callable[[Path], bool]:
    return lambda folder: is_run(folder, held)


def _journal(folder: Path) -> contextlib.closing[SqliteJournal]:
    return contextlib.closing(SqliteJournal(folder / "journal.sqlite", read_only=True))


def _unfolded(stored: StoredExperiment) -> ExperimentState:
    return ExperimentState(state_setup(stored.spec))


def _running(folded: _Folded, now: float) -> dict[int, str]:
    """Return how far the jobs are that tell their progress, and when they end."""
    found = {}
    for job in folded.state.jobs.values():
        trial = folded.state.trials[job.trial]
        forecast = outlook(job, trial.level, folded.state.setup.full_level, folded.state.loops)
        if forecast is not None:
            found[job.trial] = running_text(forecast, now, folded.price(trial.configuration))
    return found


def _first_line(error: UserError) -> str:
    return " ".join(str(error).split("\n")[:2]).strip()


def _study(tag_folder: Path) -> StudyRecord | None:
    """Return what study.json plans; None where there is none that can be read."""
    try:
        return read_study(tag_folder)
    except UserError:
        return None


def _standing(state: ExperimentState, *, running: bool) -> Standing:
    if not running:
        return Standing.KILLED if state.ended is None else _ended_as(state.ended["reason"])
    if state.first_start is None or (state.jobs and not any(job.started for job in state.jobs.values())):
        return Standing.WAITING
    return Standing.RUNNING


def _ended_as(reason: str) -> Standing:
    return Standing.INTERRUPTED if reason in _GOES_ON else Standing.FINISHED


def best_value(state: ExperimentState, objective: str, mode: Mode) -> float | None:
    """Return the best mean over its completed repeats that a configuration has; None where nothing was completed."""
    values: dict[int, list[float]] = {}
    for trial in state.trials.values():
        value = trial.value_of(objective) if trial.status is TrialStatus.COMPLETED else None
        if value is not None and math.isfinite(value):
            values.setdefault(trial.evaluation, []).append(value)
    means = [math.fsum(one) / len(one) for one in values.values()]
    return (min if mode == "min" else max)(means, default=None)


def forecast_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the shortest time that a full job is forecast to take, with its 80 % interval, and how many there are beside it.

    Args:
        rows: of forecasts.csv.
    """
    times = [row for row in rows if row.get("metric") == "total_s" and row.get("median") is not None]
    if not times:
        return ""
    first = min(times, key=lambda row: float(row["median"]))
    lower, upper = first.get("lo80"), first.get("hi80")
    interval = "" if lower is None or upper is None else f" ({duration(lower)} to {duration(upper)})"
    others = f"; {len(times) - 1} more take longer" if len(times) > 1 else ""
    return f"{first['configuration']}: {duration(first['median'])}{interval}, {first['status']}{others}"
