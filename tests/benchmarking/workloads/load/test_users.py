"""Users who wait for their answers, against a fake endpoint."""

import pytest

from benchmarking.workloads.load.calls import CallEnd
from benchmarking.workloads.load.figures import figures_of
from benchmarking.workloads.load.tally import LoadTally
from benchmarking.workloads.load.users import SEED_RAMP, UserRamp, UserStage, arrival_s, parse_ramp
from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, load
from tests.benchmarking.workloads.load.virtual_loop import virtual_loop


def test_the_ramp_of_the_notebooks():
    stages = parse_ramp(SEED_RAMP)
    assert [stage.users for stage in stages] == [10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]
    assert sum(stage.seconds for stage in stages) == 340
    assert stages[1] == UserStage(20, 30.0, 1.0)
    assert arrival_s(10, stages[1]) == 10.0
    assert arrival_s(20, UserStage(10, 30.0, 5.0)) == 2.0


@pytest.mark.parametrize("text", ["", " , ", "10", "10@", "0@30", "10@-1", "10@30@0", "a@30", "10@30@1@1", "10@0", "10@inf", "10@5@1"])
def test_a_ramp_that_is_none_is_refused(text):
    with pytest.raises(SystemExit, match="ramp"):
        parse_ramp(text)


class Answerer:
    """Answers after as long as `seconds_of` says of the time of the question, on the loop's clock; the interface is that of `Caller`."""

    payloads = 1

    def __init__(self, loop, seconds_of):
        self.loop, self.seconds_of, self.in_flight = loop, seconds_of, 0

    def call(self, target, payload, end):
        self.in_flight += 1
        self.loop.call_later(self.seconds_of(self.loop.time()), self._ended, end)

    def _ended(self, end):
        self.in_flight -= 1
        end(CallEnd("", self.loop.time()))

    def sweep(self):
        pass

    def give_up(self):
        pass


def test_each_stage_is_told_by_its_own_requests():
    """The notebooks' history accumulates from the beginning: a slow stage is hidden by the fast ones before it."""
    told = []
    with virtual_loop() as loop:
        answerer = Answerer(loop, lambda now: 0.05 if now < 10 else 0.2)
        ramp = UserRamp(answerer, 1, 0.0, 0, (0, 1), lambda: LoadTally(1.0, 10.0), clock=loop.time)
        stages = parse_ramp("4@10@40,16@10@40")
        loop.run_until_complete(ramp.run(stages, 0.0, lambda number, tally, _: told.append((number, figures_of(tally, 9.8)))))
    assert [number for number, _ in told] == [0, 1]
    fast, slow = (figures for _, figures in told)
    assert fast["latency_max_ms"] == pytest.approx(50, rel=0.02)
    assert slow["latency_p50_ms"] == pytest.approx(200, rel=0.02)
    # Users wait: with 4 of them, 0.275 s of thought and 0.05 s of waiting, 12.3 a second; with 16 and 0.2 s of waiting 33.7.
    assert fast["achieved_per_s"] == pytest.approx(12.3, rel=0.15)
    assert slow["achieved_per_s"] == pytest.approx(33.7, rel=0.15)


def test_what_each_stage_took_of_its_client_is_told():
    """Half of a core in the first, all of it in the second; what comes while users arrive does not count."""
    told = []
    with virtual_loop() as loop:

        def cpu_s():
            now = loop.time()
            return now / 2 if now < 10 else 5 + 10 * (now - 10) if now < 10.2 else 7 + now - 10.2

        answerer = Answerer(loop, lambda now: 0.05)
        ramp = UserRamp(answerer, 1, 0.0, 0, (0, 1), lambda: LoadTally(1.0, 10.0), clock=loop.time, cpu_s=cpu_s, sockets=lambda: 3)
        loop.run_until_complete(ramp.run(parse_ramp("4@10@40,16@10@12"), 0.0, lambda number, _, client: told.append((number, client))))
    assert [number for number, _ in told] == [0, 1]
    assert [client.sockets for _, client in told] == [3, 3]
    assert told[0][1].cpu_share == pytest.approx(0.5, rel=0.01)
    assert told[1][1].cpu_share == pytest.approx(1.0, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_stages_are_told_once_of_all_processes(tmp_path, processes):
    with FakeEndpoint(lambda asked: Reply()) as server:
        found = load(server, tmp_path, "--load", "users", "--ramp", "4@1@40,16@1@40", "--client_processes", processes)
        answered = len(server.asked)
    assert [(one["stage"], one["users"]) for one in found] == [(1, 4), (2, 16)]
    assert all(0 <= one["client_cpu_share"] <= processes + 0.5 and one["sockets"] >= 1 for one in found)
    assert sum(one["requests"] for one in found) <= answered  # those of stages that grow are not counted
    assert all(one.get("error_share", 0.0) == 0.0 for one in found)


@pytest.mark.slow
def test_stages_is_how_many_are_run(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        found = load(server, tmp_path, "--load", "users", "--ramp", "2@1,3@9", "--stages", 1)
    assert [one["stage"] for one in found] == [1]
