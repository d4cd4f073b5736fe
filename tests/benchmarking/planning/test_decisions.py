"""One honest line for each thing that is decided for the user, and none for what they said themselves."""

import dataclasses

from benchmarking.planning.decisions import Facts, decisions
from definitions.schema import Budget

SAID = Facts(Budget(max_num_trials=4, max_run=60.0), None, False, 2, 2, ("local.1cpu",), False)


def lines(**changes):
    return decisions(dataclasses.replace(SAID, **changes))


def test_what_the_user_said_is_not_repeated():
    assert lines() == []
    assert lines(asked_workers=None) == []


def test_fewer_workers_than_asked_for_are_said_with_the_reason():
    assert lines(asked_workers=8) == ["n_workers 8 -> 2: no more of local.1cpu fit here at once"]
    assert lines(asked_workers=8, workers=1, exclusive=True)[0].startswith("n_workers 8 -> 1: exclusive: nothing runs beside a trial")
    assert lines(workers=1, asked_workers=None, exclusive=True)[0].startswith("exclusive: nothing")


def test_no_budget_is_said_of_a_search_without_end_alone():
    budget = Budget(max_run=60.0)
    assert lines(budget=budget)[0].startswith("no budget: it goes on until it is interrupted")
    assert lines(budget=budget, finite=True) == []
    for limited in ({"max_cost": 1.0}, {"max_wallclock_time": 9.0}, {"max_num_trials": 3}):
        assert lines(budget=Budget(max_run=60.0, **limited)) == []


def test_the_time_that_a_job_may_take_is_said_where_nobody_gave_it():
    assert lines(budget=Budget(max_num_trials=4)) == ["a job may take as long as it takes; --max_run S limits it"]
    assert lines(budget=Budget(max_num_trials=4), default_max_run_s=3600.0) == [
        "a job may take 3600 s (default); --max_run S for another limit"
    ]
    assert lines(budget=Budget(max_cost=1.0)) == [
        "a job may take 3600 s (default, as max_cost needs a limit); --max_run S for another limit"
    ]


def test_prices_preloaded_modules_and_a_full_disk():
    assert lines(price_label="nominal") == ["prices are nominal: nobody is billed"]
    assert lines(real_money=True) == ["prices are real: the account is billed"]
    assert lines(preload=("torch",)) == ["preload torch: Python scripts are forked from a process that has imported it"]
    assert lines(free_bytes=2**29) == ["only 512.0 MiB of disk are free for results; make room, or give another --results_dir"]
    assert lines(free_bytes=2**30) == []
    assert lines(remarks=("2 GPUs here",)) == ["2 GPUs here"]
