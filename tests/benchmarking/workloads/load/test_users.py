"""Users who wait for their answers, against a fake endpoint."""

import pytest

from benchmarking.workloads.load.users import SEED_RAMP, UserStage, arrival_s, parse_ramp
from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, http, load


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


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_each_stage_is_told_by_its_own_requests(tmp_path, processes):
    """The notebooks' history accumulates from the beginning: a slow stage is hidden by the fast ones before it."""

    def behave(asked):
        # 4 users ask about 25 times in 2 s; then answers take longer.
        return Reply(((0.2 if asked.number > 25 else 0.05, http()),))

    with FakeEndpoint(behave) as server:
        found = load(server, tmp_path, "--load", "users", "--ramp", "4@2@40,16@2@40", "--client_processes", processes)
    assert [(one["stage"], one["users"]) for one in found] == [(1, 4), (2, 16)]
    assert found[1]["latency_p50_ms"] > 190
    # Users wait: with 16 of them, 0.275 s of thought and 0.2 s of waiting, about 34 a second.
    assert 24 < found[1]["achieved_per_s"] < 44
    assert found[0]["latency_p50_ms"] < 190


@pytest.mark.slow
def test_stages_is_how_many_are_run(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        found = load(server, tmp_path, "--load", "users", "--ramp", "2@1,3@9", "--stages", 1)
    assert [one["stage"] for one in found] == [1]
