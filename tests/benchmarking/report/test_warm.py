"""Warm instances in words."""

from types import SimpleNamespace

from benchmarking.controller.warm_usage import KeptPool, WarmFigures
from benchmarking.report.warm import forked_text, warm_document, warm_text


def state(spent_usd=5.0, retained_usd=0.5, retained_s=600.0, pools=(), **figures):
    given = {"jobs": 10, "warm": 6, "eligible": 8, "cold_s": 120.0, "warm_s": 20.0, "kept": 7, "quotas_at_zero": ()} | figures
    found = WarmFigures(**given)
    open_pools = {str(number): KeptPool("t", 1, 0.0, worst_usd) for number, worst_usd in enumerate(pools)}
    money = SimpleNamespace(retained_usd=retained_usd, retained_s=retained_s, spent_usd=spent_usd, pools=open_pools)
    return SimpleNamespace(warm=SimpleNamespace(figures=lambda: found), money=money)


def test_what_was_had_and_what_it_saved_and_cost():
    assert warm_text(state(), "emulated") == (
        "Warm pools: of 8 jobs that came after the first instances were kept, 6 (75 %) started warm, in 20.0 s on average where a cold "
        "start took 120.0 s, which saved 10 min 0 s of waiting. Spent (emulated): $4.50 on trials and $0.50 on 10 min 0 s of "
        "kept instances, "
        "$5.00 together."
    )


def test_where_none_started_warm_nothing_was_saved():
    text = warm_text(state(warm=0, warm_s=None))
    assert "0 (0 %) started warm. Spent:" in text


def test_nothing_kept_says_why():
    assert warm_text(state(kept=0)) == "No warm pools: no instances were kept. Every job started cold."
    assert warm_text(state(kept=0, quotas_at_zero=("a",))) == "No warm pools: the quota 'a' is 0. Every job started cold."
    assert "the quotas 'a' and 'b' are 0." in warm_text(state(kept=0, quotas_at_zero=("a", "b")))


def test_kept_for_nobody():
    assert warm_text(state(warm=0, eligible=0)).startswith("Warm pools: instances were kept, but no job came that could have had them.")


def test_what_is_not_known_yet_is_bounded_and_an_unknown_price_is_no_zero():
    assert "What 2 more kept sets of instances cost is not known yet: $0.75 at most; a resume looks." in warm_text(state(pools=(0.5, 0.25)))
    assert "is not known yet: unknown at most" in warm_text(state(pools=(0.5, None)))
    assert "$5.00 on trials and unknown on" in warm_text(state(retained_usd=None))


def test_some_quotas_at_zero_are_said_at_the_end():
    assert warm_text(state(quotas_at_zero=("a",))).endswith("Some jobs could not be kept warm: the quota 'a' is 0.")


def test_the_document_has_the_same_figures():
    found = warm_document(state(pools=(0.5,), quotas_at_zero=("a",)))
    assert (found["warm_jobs"], found["eligible_jobs"], found["hit_rate"], found["saved_s"]) == (6, 8, 0.75, 600.0)
    assert (found["pools_kept"], found["pools_open"], found["retained_usd"], found["quotas_at_zero"]) == (7, 1, 0.5, ["a"])


def test_how_many_trials_were_forked_is_said_where_modules_were_preloaded():
    trials = [SimpleNamespace(usage=usage) for usage in ({"forked": True}, {"forked": False}, {"forked": True}, {})]
    assert forked_text(trials) == "Preloaded: 2 of 3 trials (67 %) were forked from a process that had imported the modules."
    assert forked_text(trials[3:]) == ""
