from __future__ import annotations

from collections.abc import Callable

from benchmarking.remote.controller_word import ControllerState as State
from benchmarking.remote.controller_word import Restart
from definitions.errors import (
    EXIT_CLOUD,
    EXIT_DETACHED,
    EXIT_DONE,
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_TAKEN_OVER,
    EXIT_USAGE,
    OutriderError,
    UserError,
)
from launch.remote.lives import Asked, Restarts
from launch.remote.supervisor import ControllerEnded, Happening, JobTold, Supervisor


class FakeController:
    def __init__(self, job: FakeJob, words: str = "") -> None:
        self.job, self.words = job, words

    def ask(self, what: Asked) -> None:
        self.job.asked.append((self.job.now, what))
        if self.job.obeys:
            code = EXIT_INTERRUPTED if what is Asked.WIND_DOWN else EXIT_DETACHED
            self.job.coming.append((self.job.now + 2.0, ControllerEnded(code)))

    def kill(self) -> None:
        self.job.coming.append((self.job.now, ControllerEnded(-9)))

    def last_words(self) -> str:
        return self.words


class FakeJob:
    """A job on a virtual clock: `coming` is what happens, and when."""

    def __init__(self, *coming: tuple[float, Happening], finished: tuple[int, ...] = (), words: str = "") -> None:
        self.now, self.coming, self.obeys, self.words = 0.0, [*coming], True, words
        self.asked: list[tuple[float, Asked]] = []
        self.started: list[float] = []
        self.said: list[tuple[float, State, str]] = []
        self.restarts: tuple[Restart, ...] = ()
        self.failure, self.successors, self.lines = "", 0, []
        self.own_status: str | None = "InProgress"
        self.marked = self.claimed = False
        self.starting: Callable[[], None] = lambda: None
        self.succeeding: Callable[[], None] = lambda: None
        self._finished = [*finished]

    def monotonic(self) -> float:
        return self.now

    def utc(self) -> float:
        return 1000.0 + self.now

    def wait(self, timeout_s: float) -> Happening | None:
        self.coming.sort(key=lambda one: one[0])
        if self.coming and self.coming[0][0] <= self.now + timeout_s:
            at, happened = self.coming.pop(0)
            self.now = max(self.now, at)
            return happened
        self.now += timeout_s
        return None

    def start(self) -> FakeController:
        self.started.append(self.now)
        self.starting()
        return FakeController(self, self.words)

    def finished(self) -> int:
        return self._finished.pop(0) if self._finished else 0

    def status(self) -> str | None:
        return self.own_status

    def is_marked(self) -> bool:
        return self.marked

    def is_succeeded(self) -> bool:
        return self.claimed

    def succeed(self) -> None:
        self.succeeding()
        self.successors += 1

    def word(self, state: State, why: str, restarts: tuple[Restart, ...], seconds_left: float) -> None:
        self.said.append((self.now, state, why))
        self.restarts = restarts

    def say(self, line: str) -> None:
        self.lines.append(line)

    def fail(self, why: str) -> None:
        self.failure = why

    @property
    def states(self) -> list[State]:
        return [state for number, (_, state, _) in enumerate(self.said) if number == 0 or self.said[number - 1][1] is not state]


def run(job: FakeJob, most: int = 3, max_run_s: float = 86400.0, used_s: float = 0.0, *, may_succeed: bool = True) -> int:
    return Supervisor(job, Restarts(most), max_run_s, used_s, may_succeed=may_succeed).run()


def test_a_run_to_its_end():
    job = FakeJob((100.0, ControllerEnded(EXIT_DONE)))
    assert run(job) == 0
    assert job.states == [State.STARTING, State.RUNNING, State.ENDED]
    assert [at for at, state, _ in job.said if state is State.RUNNING] == [0, 30, 60, 90]  # not more often than every 30 s


def test_killed_without_a_finished_trial_it_is_started_three_times_and_then_fails_with_the_cause():
    job = FakeJob(*((float(at), ControllerEnded(-9)) for at in (10, 20, 30, 60)), words="Killed")
    assert run(job) == EXIT_FAULT
    assert job.started == [0, 11, 24, 46]  # 1, 4 and 16 s after the ends
    assert job.failure.startswith("3 restarts without a finished trial: the controller was ended by SIGKILL")
    assert job.said[-1][1:] == (State.FAILED, job.failure)
    assert [restart.at for restart in job.restarts] == [1010, 1020, 1030]


def test_each_finished_trial_makes_all_restarts_free_again():
    job = FakeJob(
        *((10.0 * number, ControllerEnded(-9)) for number in range(1, 7)),
        (100.0, ControllerEnded(EXIT_DONE)),
        finished=(1, 2, 3, 4, 5, 6, 6),
    )
    assert run(job, most=1) == 0
    assert job.started == [0, 11, 21, 31, 41, 51, 61]


def test_what_cannot_be_restored_is_tried_again_and_what_is_refused_is_not():
    job = FakeJob((50.0, ControllerEnded(EXIT_DONE)))
    failing = [OutriderError("S3 does not answer"), RuntimeError("torn"), None]

    def start() -> None:
        problem = failing.pop(0)
        if problem is not None:
            raise problem

    job.starting = start
    assert run(job) == 0
    assert job.started == [0, 1, 5]

    def refuse() -> None:
        raise UserError("a segment is missing", "journal/00000002", "nothing is guessed")

    job = FakeJob()
    job.starting = refuse
    assert run(job) == EXIT_FAULT
    assert job.started == [0]
    assert "journal/00000002" in job.failure


def test_a_refusal_by_the_cloud_is_tried_again_as_credentials_are_renewed():
    job = FakeJob((10.0, ControllerEnded(EXIT_CLOUD)), (60.0, ControllerEnded(EXIT_DONE)))
    assert run(job) == 0
    assert job.started == [0, 11]
    assert "the cloud refused" in job.restarts[0].why


def test_what_is_denied_for_want_of_a_permission_is_tried_once():
    denied = OutriderError("the run cannot be read")
    denied.is_denied = True

    def deny() -> None:
        raise denied

    job = FakeJob()
    job.starting = deny
    assert run(job) == EXIT_FAULT
    assert job.started == [0]
    assert job.failure == "the run is refused: the run cannot be read"
    job = FakeJob()
    job.succeeding = deny
    assert run(job, max_run_s=3600.0) == EXIT_FAULT
    assert job.now < 3600.0 - 200.0
    assert job.failure.endswith("the next generation could not be created: the run cannot be read")


def test_a_person_who_stops_the_job_has_the_trials_stopped():
    job = FakeJob((40.0, JobTold()))
    job.own_status = "Stopping"
    assert run(job) == 0
    assert job.asked == [(40, Asked.WIND_DOWN)]
    assert job.states[-2:] == [State.WINDING_DOWN, State.STOPPED]


def test_a_spot_interruption_and_no_answer_let_trials_run_on():
    for status in ("InProgress", None):
        job = FakeJob((40.0, JobTold()))
        job.own_status = status
        assert run(job) == 0
        assert job.asked == [(40, Asked.DETACH)]
        assert job.states[-1] is State.INTERRUPTED
        assert job.successors == 0


def test_told_twice_it_asks_once():
    job = FakeJob((40.0, JobTold()), (41.0, JobTold()))
    job.own_status = "Stopping"
    assert run(job) == 0
    assert job.asked == [(40, Asked.WIND_DOWN)]
    assert [line for line in job.lines if "stopped it" in line] == ["somebody stopped it: trials are stopped"]


def test_told_twice_it_says_what_it_is_at_and_not_the_other():
    for status, state in (("Stopping", State.WINDING_DOWN), ("InProgress", State.DETACHING)):
        job = FakeJob((40.0, JobTold()), (41.0, JobTold()), (90.0, ControllerEnded(EXIT_INTERRUPTED)))
        job.own_status, job.obeys = status, False
        assert run(job) == 0
        assert job.states[:-1] == [State.STARTING, State.RUNNING, state]


def test_it_hands_over_when_that_is_due_and_not_at_the_next_word():
    job = FakeJob()
    assert run(job, max_run_s=1000) == 0
    assert job.asked == [(800, Asked.HAND_OVER)]  # words come at 30, 60, ..., 780, 810
    assert job.lines[0] == "its time is nearly up: trials run on, and the next generation takes over"


def test_told_while_it_waits_to_start_again_it_does_not():
    job = FakeJob((10.0, ControllerEnded(-9)), (10.5, JobTold()))
    assert run(job) == 0
    assert job.started == [0]
    assert job.said[-1][1] is State.INTERRUPTED


def test_five_minutes_before_its_limit_it_hands_over():
    job = FakeJob()
    assert run(job, max_run_s=3600, used_s=600) == 0
    assert job.asked == [(2700, Asked.HAND_OVER)]
    assert job.successors == 1
    assert job.states[-2:] == [State.HANDING_OVER, State.HANDED_OVER]


def test_a_controller_that_does_not_detach_is_killed_before_the_limit_and_handed_over():
    job = FakeJob()
    job.obeys = False
    assert run(job, max_run_s=3600) == 0
    assert job.successors == 1
    assert 3300 + 150 <= job.now < 3600


def test_stopped_while_it_hands_over_no_generation_follows():
    job = FakeJob((3301.0, JobTold()))
    job.own_status = "Stopping"
    assert run(job, max_run_s=3600) == 0
    assert [what for _, what in job.asked] == [Asked.HAND_OVER, Asked.WIND_DOWN]
    assert job.successors == 0
    assert job.said[-1][1] is State.STOPPED


def test_stopped_by_a_mark_between_detaching_and_the_successor_none_follows():
    job = FakeJob()
    job.starting = lambda: setattr(job, "marked", True)
    assert run(job, max_run_s=3600) == 0
    assert job.successors == 0
    assert job.said[-1][1] is State.STOPPED


def test_a_successor_that_is_refused_is_tried_again_until_time_is_up():
    job = FakeJob()
    refusals = iter([True, True, False])

    def succeed() -> None:
        if next(refusals):
            raise OutriderError("ResourceLimitExceeded")

    job.succeeding = succeed
    assert run(job, max_run_s=3600) == 0
    assert job.successors == 1
    assert 3330 <= job.now < 3340

    def never() -> None:
        raise OutriderError("ResourceLimitExceeded: 1 ml.m5.large")

    job = FakeJob()
    job.succeeding = never
    assert run(job, max_run_s=3600) == EXIT_FAULT
    assert 3585 <= job.now <= 3600
    assert job.failure.endswith("could not be created: ResourceLimitExceeded: 1 ml.m5.large")


def test_the_last_generation_lets_trials_run_on_and_fails_with_the_cause():
    job = FakeJob()
    assert run(job, max_run_s=3600, may_succeed=False) == EXIT_FAULT
    assert "last generation" in job.failure
    assert [what for _, what in job.asked] == [Asked.HAND_OVER]


def test_taken_over_it_leaves_without_a_word():
    job = FakeJob((40.0, ControllerEnded(EXIT_TAKEN_OVER)))
    assert run(job) == 0
    assert job.said[-1][1] is State.RUNNING
    assert "another controller" in job.lines[-1]


def test_a_host_that_was_lost_after_it_claimed_its_successor_creates_that_and_starts_nothing():
    job = FakeJob()
    job.claimed = True
    assert run(job, may_succeed=False) == 0
    assert (job.started, job.successors) == ([], 1)


def test_an_experiment_that_is_refused_fails_the_job_with_what_was_said():
    job = FakeJob((5.0, ControllerEnded(EXIT_USAGE)), words="error: no such script")
    assert run(job) == EXIT_FAULT
    assert job.failure == "the run is refused: error: no such script"


def test_killed_after_it_was_succeeded_it_is_not_started_again():
    job = FakeJob((40.0, ControllerEnded(-9)))
    job.starting = lambda: setattr(job, "claimed", True)
    assert run(job) == 0
    assert (job.started, job.successors) == ([0], 1)
