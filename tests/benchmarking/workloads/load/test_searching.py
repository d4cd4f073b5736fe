"""Searches on a queue of a virtual clock, whose largest rate is known."""

import asyncio

import pytest

from benchmarking.workloads.load.calls import CallEnd
from benchmarking.workloads.load.endpoint import CalledEndpoint, LoadTarget
from benchmarking.workloads.load.figures import shown
from benchmarking.workloads.load.load_files import LoadFiles
from benchmarking.workloads.load.options import parse_options
from benchmarking.workloads.load.searching import KeptSearch, RunningSearch
from benchmarking.workloads.load.serving_status import ServingStatus
from tests.benchmarking.workloads.load.queues import VirtualQueue

ENDPOINT = CalledEndpoint("http://h/e", (LoadTarget(None, "m"),), {})
OPTIONS = parse_options(["--slo_ms", "50", "--percentile", "95", "--probe_s", "40"])
IDLE = [(CallEnd("", 0.0), 0.005)] * 20


def search(queue, options=OPTIONS, folder=None, idle=IDLE, files=None, clock=None, reports=None, probes=None, ends_s=float("inf")):
    reports, lines = [] if reports is None else reports, []
    probes = [] if probes is None else probes
    kept = KeptSearch(folder, ENDPOINT, options)
    files = files or LoadFiles(None, {})
    more = {"ends_s": ends_s} | ({} if clock is None else {"clock": clock})
    running = RunningSearch(
        queue,
        options,
        kept,
        files,
        ServingStatus("", ""),
        lambda **metrics: (probes if "probe_rate_per_s" in metrics else reports).append(metrics),
        lines.append,
        **more,
    )
    record = running.begin(idle)
    if record is not None:
        asyncio.run(running.run(record))
    return reports, lines


def test_it_finds_the_rate_that_a_queue_carries(tmp_path):
    queue = VirtualQueue(200.0, 0.05, seed=4)
    truth = queue.truth(95)
    probes = []
    reports, lines = search(queue, folder=tmp_path, probes=probes)
    rates = [one["max_rate_per_s"] for one in reports]
    assert [one.get("rung") for one in reports] == [1, 2, None]
    assert [one["probe_rate_per_s"] for one in probes] == queue.asked
    so_far = [one["max_rate_per_s"] for one in probes]
    assert so_far == sorted(so_far)
    assert so_far[-1] == rates[-1]
    assert {one["probe_verdict"] for one in probes} >= {"promising", "passed", "failed"}
    assert rates == sorted(rates)
    assert 0.8 * truth < rates[-1] < 1.02 * truth
    assert reports[-1]["rate_low_per_s"] < reports[-1]["rate_estimate_per_s"] < reports[-1]["rate_high_per_s"]
    assert reports[-1]["rate_estimate_per_s"] == pytest.approx(truth, rel=0.05)
    assert reports[-1]["latency_p95_ms"] <= 50
    # With probes of 40 s what lies next above is not decided: that is said, and no rung of 5 %.
    assert reports[-1]["not_passed_per_s"] <= 1.05 * rates[-1] * 1.000001
    assert reports[-1]["at_least"]
    assert "were over the limit, where 5 % may be" in reports[-1]["why"]
    assert len(lines) == len(queue.asked) + 1
    assert lines[-1].startswith(f"at least {rates[-1]:.4g}/s: ")


def test_longer_probes_reach_further_rungs():
    queue = VirtualQueue(200.0, 0.05, seed=4)
    reports, _ = search(queue, parse_options(["--slo_ms", "50", "--percentile", "95", "--probe_s", "400"]))
    assert [one.get("rung") for one in reports][:3] == [1, 2, 3]
    assert 0.95 * queue.truth(95) < reports[-1]["max_rate_per_s"] < 1.01 * queue.truth(95)


def test_a_next_incarnation_goes_on_from_the_last_probe(tmp_path):
    whole, _ = search(VirtualQueue(200.0, 0.05, seed=5))

    class Dying(VirtualQueue):
        async def open_load(self, *arguments):
            if len(self.asked) == 6:
                raise KeyboardInterrupt
            return await super().open_load(*arguments)

    first = Dying(200.0, 0.05, seed=5)
    with pytest.raises(KeyboardInterrupt):
        search(first, folder=tmp_path)
    second = VirtualQueue(200.0, 0.05)
    second.rng = first.rng
    reports, _ = search(second, folder=tmp_path)
    assert first.asked + second.asked == asked_of(5)
    assert reports[-1]["max_rate_per_s"] == whole[-1]["max_rate_per_s"]
    assert {one.get("rung") for one in reports} < {1, 2, None}  # those of the first are not repeated
    # Of another load nothing is taken up.
    other = parse_options(["--slo_ms", "60", "--percentile", "95"])
    assert KeptSearch(tmp_path, ENDPOINT, other).read() is None


def asked_of(seed):
    queue = VirtualQueue(200.0, 0.05, seed=seed)
    search(queue)
    return queue.asked


def test_credentials_that_expire_during_a_probe_end_the_search_and_lose_no_rung(tmp_path):
    class Expiring(VirtualQueue):
        async def open_load(self, rate, plan, look):
            result = await super().open_load(rate, plan, look)
            if len(self.asked) > 6:
                result.tally.sends(0, 0.0)
                result.tally.fails(0, 0, "denied", 0.1, "ExpiredTokenException")
            return result

    queue, reports = Expiring(200.0, 0.05, seed=4), []
    with pytest.raises(SystemExit, match=r"1 requests were denied: ExpiredToken"):
        search(queue, folder=tmp_path, reports=reports)
    assert reports
    assert len(queue.asked) == 7
    assert len(KeptSearch(tmp_path, ENDPOINT, OPTIONS).read().probed) == 6  # with others it goes on from here


def test_a_client_that_lags_decides_nothing():
    """k6 #2837: the rate is not reached, and the run passes all the same."""
    queue = VirtualQueue(200.0, 0.05, seed=1, lag_s=0.006)
    reports, lines = search(queue)
    assert reports[-1]["max_rate_per_s"] == 0.0
    assert reports[-1]["client_bound"]
    assert "sent late, by 6.0 ms" in reports[-1]["why"]
    assert all("client-bound" in line for line in lines)
    assert queue.asked[0] == queue.asked[1]  # once more, as the reason may have passed


@pytest.mark.parametrize(
    ("words", "idle", "said"),
    [
        (["--slo_ms", "0"], IDLE, "above slo_ms 0"),
        (["--slo_ms", "4"], IDLE, "take 5 ms and more"),
        (["--slo_ms", "50"], [(CallEnd("status_500", 0.0), 0.001)] * 20, "status_500"),
        (["--slo_ms", "200"], [(CallEnd("", 0.0), 1.97509)] * 20, "take 1975 ms and more"),
    ],
)
def test_a_limit_below_the_latency_without_load_is_rate_0(words, idle, said):
    reports, lines = search(VirtualQueue(200.0, 0.05), parse_options(words), idle=idle)
    assert [(one["rung"], one["max_rate_per_s"]) for one in reports] == [(4, 0.0)]
    assert said in reports[0]["why"]
    assert lines == [reports[0]["why"]]


def test_a_server_that_is_too_slow_or_refuses_at_every_rate_is_told_by_which_of_both_it_is():
    class Refusing(VirtualQueue):
        async def open_load(self, rate, plan, look):
            result = await super().open_load(rate, plan, look)
            for _ in range(result.tally.sent):
                result.tally.fails(0, 0, "status_500", 0.001, "")
            return result

    slow, _ = search(VirtualQueue(0.001, 0.05, seed=1))
    assert slow[-1]["max_rate_per_s"] == 0.0
    assert "/s failed: p95 " in slow[-1]["why"]
    assert slow[-1]["why"].endswith(" ms, where slo_ms is 50")
    refused, _ = search(Refusing(0.001, 0.05, seed=1))
    assert refused[-1]["max_rate_per_s"] == 0.0
    assert "; errors: " in refused[-1]["why"]
    assert refused[-1]["why"].endswith(" status_500")


def test_time_that_is_over_ends_it_with_what_is_known():
    times = iter(range(0, 10_000, 100))
    options = parse_options(["--slo_ms", "50", "--percentile", "95", "--search_s", "150"])
    reports, lines = search(VirtualQueue(200.0, 0.05), options, clock=lambda: float(next(times)))
    assert [one["rung"] for one in reports] == [1]
    assert reports[0]["max_rate_per_s"] > 0
    assert reports[0]["at_least"]
    assert "search_s 150" in lines[-1]
    assert lines[-1].startswith(f"at least {reports[0]['max_rate_per_s']:.4g}/s")


def test_a_job_that_would_be_ended_ends_its_search_before_with_what_is_known():
    now, ends = [0.0], set()

    class Timed(VirtualQueue):
        async def open_load(self, rate, plan, look):
            ends.add(plan.ends_s)
            result = await super().open_load(rate, plan, lambda at, tally: look(now[0] + at - plan.begin_s, tally))
            now[0] += plan.ramp_s + result.seconds
            return result

    reports, lines = search(Timed(200.0, 0.05, seed=4), clock=lambda: now[0], ends_s=200.0)
    assert ends == {190.0}  # nor is any answer waited for beyond it
    assert 100 < now[0] <= 190.0  # 5 % for what follows
    assert reports[-1]["max_rate_per_s"] > 0
    assert reports[-1]["at_least"]
    assert "the search ended before max_run, at rung " in lines[-1]
    assert lines[-1].startswith(f"at least {shown(reports[-1]['max_rate_per_s'])}/s: ")


def test_a_server_that_is_fast_for_its_first_seconds_is_not_certified_by_them():
    """Half as much again for 8 s: a short probe sees no more of it, and an open load of 15 s then shows what is carried."""
    queue = VirtualQueue(400.0, 0.05, seed=3, burst=(8.0, 1.6))
    options = parse_options(["--slo_ms", "50", "--percentile", "95", "--probe_s", "20", "--rate", "60"])
    probes = []
    reports, _ = search(queue, options, probes=probes)
    assert [one["probe_verdict"] for one in probes if one["probe_rate_per_s"] == 480] == ["promising", "failed"]
    truth = queue.truth(95)
    assert 0.75 * truth < reports[-1]["max_rate_per_s"] < 1.02 * truth


def test_where_the_client_is_the_limit_above_it_is_said_that_it_is_at_least_so_much():
    class Slow(VirtualQueue):
        async def open_load(self, rate, plan, look):
            self.lag_s = 0.006 if rate > 50 else 0.0
            return await super().open_load(rate, plan, look)

    reports, lines = search(Slow(200.0, 0.05, seed=1))
    assert 25 < reports[-1]["max_rate_per_s"] <= 50
    assert reports[-1]["at_least"]
    assert [one.get("rung") for one in reports if "rung" in one] == [1]
    assert lines[-1].startswith("at least ")
    assert "requests were sent late" in reports[-1]["why"]


@pytest.mark.parametrize(("value", "text"), [(62.5, "62.5"), (3.203988, "3.204"), (9999.4, "9999"), (12812.4, "12812"), (0.0, "0")])
def test_rates_are_shown_without_exponents(value, text):
    assert shown(value) == text
