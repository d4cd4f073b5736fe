"""A state of an experiment that a test leads by records, as the loop writes them."""

from backends.events import Closed, Ended, Reported
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState


class Script:
    """Writes records into a state as the loop would."""

    def __init__(self, **setup):
        self.state = ExperimentState(StateSetup(**{"objectives": {"loss": "min"}, **setup}))
        self.sequence = 0

    def record(self, kind, body, at=0.0):
        self.sequence += 1
        self.state.apply(Record(self.sequence, at, kind, body))

    def suggest(self, evaluation, x=0, **more):
        configuration = None if evaluation is None else {"x": x}
        self.record(
            "suggest", {"evaluation": evaluation, "configuration": configuration, "level": None, "repeat": 0, "block_of": 1, **more}
        )

    def start(self, trial, attempt=1, at=0.0, worst_usd=0.5):
        body = {"trial": trial, "attempt": attempt, "job": f"j{trial}-{attempt}", "restore_from": None, "worst_usd": worst_usd}
        self.record("start", body, at)

    def event(self, event):
        kind, body = event_record(event)
        self.record(kind, body, event.at)

    def report(self, job, at=1.0, **metrics):
        self.event(Reported(job, at, 0, metrics, at))

    def close(self, job, outcome=Outcome.COMPLETED, cause=None, *, status, started_at=1.0, ended_at=3.0, cost_usd=0.25, **settled):
        self.event(Ended(job, 3.0))
        self.event(
            Closed(job, 3.0, outcome=outcome, cause=cause, started_at=started_at, ended_at=ended_at, billable_s=2.5, log_tail=("last",))
        )
        body = {"job": job, "status": status, "cause": None if cause is None else str(cause), "message": "m", "counts": False}
        self.record("settle", {**body, "retry_at": None, "cost_usd": cost_usd, **settled}, 3.0)
