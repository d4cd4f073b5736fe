import pytest

from benchmarking.analysis.service_shares import service_shares


def told(mean, count=100.0):
    return {"mean": mean, "max": 9 * mean, "count": count}


SERVICE = {"model_ms": told(3.0), "overhead_ms": told(1.5), "loading_wait_ms": told(20.0, 5.0), "cache_hit": told(0.95)}


def test_what_is_left_of_the_clients_mean_is_the_networks():
    found = service_shares({"call_mean_ms": 6.0}, {"service": SERVICE})
    assert found == {
        "model_ms": 3.0, "overhead_ms": 1.5, "loading_wait_ms": 1.0, "cache_hit": 0.95, "network_ms": 1.5, "network_share": 0.25
    }  # fmt: skip


def test_clocks_that_disagree_show_as_less_than_nothing():
    assert service_shares({"call_mean_ms": 4.0}, {"service": SERVICE})["network_ms"] == -0.5


@pytest.mark.parametrize(("calls", "known"), [(100, True), (96, True), (94, False)])
def test_calls_that_the_client_gave_up_are_in_the_services_mean_alone(calls, known):
    found = service_shares({"call_mean_ms": 6.0, "calls": calls}, {"service": SERVICE})
    assert ("network_ms" in found, "network_share" in found, found["model_ms"]) == (known, known, 3.0)


@pytest.mark.parametrize("last", [{}, {"call_mean_ms": 0.0}, {"call_mean_ms": "6"}])
def test_without_the_clients_mean_the_services_figures_stand_alone(last):
    assert sorted(service_shares(last, {"service": SERVICE})) == ["cache_hit", "loading_wait_ms", "model_ms", "overhead_ms"]


@pytest.mark.parametrize("usage", [{}, {"service": {}}, {"service": "gone"}, {"service": {"model_ms": {"mean": None}}}])
def test_a_service_that_says_nothing_has_no_share(usage):
    assert service_shares({"call_mean_ms": 6.0}, usage) == {}
