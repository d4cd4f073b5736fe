"""Live progress: a small panel on a terminal or in a notebook, elsewhere one line per change, to stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from benchmarking.analysis.missing_metrics import FirstReports
from benchmarking.controller.disk_space import DISK
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import JobState, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.report.text import configuration_text, dollars, duration, shown
from launch.panels import Panel

if TYPE_CHECKING:
    from benchmarking.archive.identity import ExperimentSpec
    from benchmarking.controller.tuner import Tuner

_MIN_INTERVAL_S = 0.2
_QUIET_INTERVAL_S = 1.0


class Progress:
    """Follows one invocation; its `observe` is called after each record.

    Args:
        stream: where lines go, normally stderr.
        panel: what is redrawn in place; None for lines only.
        verbose: whether every report is a line.
        clock: monotonic seconds.
    """

    def __init__(
        self, stream: TextIO, *, panel: Panel | None = None, verbose: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._verbose = verbose
        self._clock = clock
        self._spec: ExperimentSpec | None = None
        self._tuner: Tuner | None = None
        self._n_workers = 0
        self._drawn_at = -1e9
        self._best: tuple[float, int] | None = None
        self._best_through = 0
        self._drawn: tuple[str, ...] = ()
        self._note = ""
        self._first: FirstReports | None = None
        self._said: set[str] = set()
        self._panel = panel

    @property
    def has_panel(self) -> bool:
        """Whether there is something that is redrawn in place."""
        return self._panel is not None

    def show(self, text: Callable[[], str]) -> None:
        """Show another text than that of one experiment in the panel, where there is one, until `end`."""
        if self._panel is not None:
            self._panel.start(text)

    def begin(self, spec: ExperimentSpec, place: str = "") -> None:
        """Say which experiment comes next; `place` is which of how many, empty for a single one."""
        self._spec, self._tuner, self._best, self._best_through = spec, None, None, 0
        self.say(f"{f'[{place}] ' if place else ''}{spec.title}: {spec.folder}")

    def started(self, tuner: Tuner, n_workers: int) -> None:
        """Take note of the loop that is about to run."""
        self._tuner, self._n_workers = tuner, n_workers
        self._first = FirstReports(tuner.state.reported_objectives)
        if self._panel is not None:
            self._panel.start(self._text)

    def end(self) -> None:
        """Leave the panel."""
        if self._panel is not None:
            self._panel.stop()
            self._drawn = ()

    def say(self, line: str) -> None:
        """Write a line."""
        if self._panel is not None:
            self._panel.say(line)
        else:
            print(line, file=self._stream, flush=True)

    def waiting(self, text: str) -> None:
        """Say what an experiment waits for before it begins; none of that counts as its time."""
        self.say(f"waiting for cores: {text}")

    def say_once(self, lines: Sequence[str]) -> None:
        """Write those of the lines that no earlier experiment of the invocation has."""
        for line in lines:
            if line not in self._said:
                self._said.add(line)
                self.say(f"  {line}")

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Show a change."""
        now = self._clock()
        if record.kind == "noted" and not record.body["job"]:
            self._note = record.body["text"]
            if self._panel is not None and self._note.startswith(DISK):
                self.say(self._note)  # the panel forgets it with the next change
        elif record.kind not in ("noted", "retained"):
            self._note = ""
        if record.kind == "reported" and self._first is not None:
            for problem in self._first.saw(record.body["metrics"]):
                self.say(problem)
        if self._panel is not None:
            is_due = now - self._drawn_at >= _MIN_INTERVAL_S or record.kind in ("start", "settle", "end")
            if is_due or (self._tuner is not None and not self._tuner.virtual):
                # Also what is not shown at once: the panel shows it when it redraws by itself.
                self._drawn = self._draw(state)
            if is_due:
                self._drawn_at = now
                self._panel.changed()
        elif self._tuner is not None and self._tuner.virtual:
            if now - self._drawn_at >= _QUIET_INTERVAL_S:
                self._drawn_at = now
                self.say(f"{self._clock_text()} | {self._headline(state)}")
        else:
            line = self._line(record, state)
            if line is not None:
                self.say(f"[{self._tuner.elapsed_s if self._tuner else 0.0:6.1f} s] {line}")

    def _line(self, record: Record, state: ExperimentState) -> str | None:
        body = record.body
        match record.kind:
            case "started" if body["job"] in state.jobs:
                job = state.jobs[body["job"]]
                trial = state.trials[job.trial]
                again = f" again (attempt {job.attempt})" if job.attempt > 1 else ""
                keys = self._keys(trial)
                repeat = f" repeat={trial.repeat}" if state.setup.repeats > 1 else ""
                running = sum(other.started for other in state.jobs.values())
                return f"trial {trial.trial} starts{again}: {configuration_text(trial.configuration, keys)}{repeat} ({running} running)"
            case "code" if len(state.trials) > 0:
                return f"the code changed: trials from now on measure version {body['code']}"
            case "settle":
                return self._settled(state.trials[body["trial"]], state)
            case "rejected":
                return f"waiting: {body['message'] or body['cause']}"
            case "noted":
                return self._noted(body, state)
            case "retained" if body["billable_s"] is not None:
                kept = f"{body['job']}: its {body['instance_type']} was kept warm for {duration(body['billable_s'])}"
                return kept + (f", then {body['reused_by']} got it" if body["reused_by"] else "")
            case "stop":
                why = f" ({body['message']})" if body.get("message") else ""
                return f"stopping {body['job']}: {body['reason']}{why}"
            case "reported" if self._verbose:
                return f"{body['job']}: " + " ".join(f"{name}={shown(value)}" for name, value in body["metrics"].items())
        return None

    def _noted(self, body: Mapping[str, Any], state: ExperimentState) -> str | None:
        if body["text"]:
            return str(body["text"])
        job = state.jobs.get(body["job"])
        # That it trains is what "starts" says; a note without a stage is for the next controller.
        return None if job is None or body["stage"] in ("Training", "") else f"trial {job.trial} {body['stage']}"

    def _keys(self, trial: TrialState) -> list[str]:
        order = () if self._spec is None else self._spec.definition.configuration_keys
        return [key for key in order if key in trial.configuration] or list(trial.configuration)

    def _settled(self, trial: TrialState, state: ExperimentState) -> str:
        values = " ".join(f"{name}={shown(trial.value_of(name))}" for name in state.setup.objectives)
        what = f"trial {trial.trial} {trial.status}" + (f" after {trial.duration_s:.1f} s" if trial.reused is None else ", not run again")
        if trial.status is TrialStatus.COMPLETED:
            best = self._best_of(state)
            return (
                f"{what}: {values}"
                + (" (best so far)" if best is not None and best[1] == trial.trial else "")
                + (f" ({trial.message})" if trial.message else "")
            )
        why = f" ({trial.cause}: {trial.message})" if trial.cause is not None and trial.message else f" ({trial.cause})"
        return what + why

    def _best_of(self, state: ExperimentState) -> tuple[float, int] | None:
        """Return (value, trial) of the best completed trial by the primary objective."""
        primary, mode = next(iter(state.setup.objectives.items()))
        if state.finished != self._best_through:
            self._best_through = state.finished
            found = [
                (value if mode == "min" else -value, trial.trial)
                for trial in state.trials.values()
                if trial.status is TrialStatus.COMPLETED and (value := trial.value_of(primary)) is not None
            ]
            self._best = min(found, default=None)
        if self._best is None:
            return None
        return (self._best[0] if mode == "min" else -self._best[0], self._best[1])

    def _headline(self, state: ExperimentState) -> str:
        primary = next(iter(state.setup.objectives))
        best = self._best_of(state)
        budget = None if self._spec is None else self._spec.definition.budget
        total = f"/{budget.max_num_trials}" if budget is not None and budget.max_num_trials is not None else ""
        parts = [
            f"{state.finished}{total} trials done",
            f"{state.busy}/{self._n_workers} workers",
            f"best {primary} = {shown(best[0])} (trial {best[1]})" if best is not None else f"no {primary} yet",
            f"spent {dollars(state.money.spent_usd)}",
        ]
        if state.counted_failures:
            parts.insert(1, f"{state.counted_failures} failed")
        return " | ".join(parts)

    def _clock_text(self) -> str:
        if self._tuner is None or self._spec is None:
            return ""
        elapsed_s, limit_s = self._tuner.elapsed_s, self._spec.definition.budget.max_wallclock_time
        return duration(elapsed_s) + ("" if limit_s is None else f", {duration(max(0.0, limit_s - elapsed_s))} left")

    def _text(self) -> str:
        """Return what the panel shows; also called by the thread that refreshes it, so the clock goes on while nothing changes."""
        head, *rest = self._drawn or ("",)
        return "\n".join([f"{self._clock_text()} | {head}" if head else "", *rest])

    def _ends(self, job: JobState, trial: TrialState) -> str:
        """Return when a job will end by its own progress; empty where it tells none."""
        if self._tuner is None:
            return ""
        from benchmarking.forecasting.running.outlook import outlook
        from benchmarking.forecasting.running.words import running_text

        state = self._tuner.state
        found = outlook(job, trial.level, state.setup.full_level, state.loops)
        return "" if found is None else f"  {running_text(found, self._tuner.now(), self._tuner.price(trial.configuration))}"

    def _draw(self, state: ExperimentState) -> tuple[str, ...]:
        lines = [self._headline(state), *([f"  {self._note}"] if self._note else [])]
        for job in list(state.jobs.values())[:8]:
            trial = state.trials[job.trial]
            stage = "stopping" if job.stop_requested_at else job.stage or ("running" if job.started else "waiting")
            values = " ".join(f"{name}={shown(value)}" for name, value in list(trial.last.items())[:4])
            keys = self._keys(trial)
            lines.append(
                f"  trial {trial.trial} {stage}: {configuration_text(trial.configuration, keys)}  {values}{self._ends(job, trial)}"
            )
        return tuple(lines)
