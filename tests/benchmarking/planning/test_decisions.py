"""One honest line for each thing that is decided for the user, and none for what they said themselves."""

import dataclasses

from benchmarking.controller.disk_space import LeftFiles
from benchmarking.planning.decisions import Disk, Facts, decisions
from definitions.schema import Budget

SAID = Facts(Budget(max_num_trials=4, max_run=60.0), None, False, 2, 2, {"local.1cpu": 2}, False)


def lines(**changes):
    return decisions(dataclasses.replace(SAID, **changes))


def test_what_the_user_said_is_not_repeated():
    assert lines() == []
    assert lines(asked_workers=None) == []


def test_fewer_workers_than_asked_for_are_said_with_the_reason():
    assert lines(asked_workers=8) == ["n_workers 8 -> 2: no more of local.1cpu fit here at once"]
    assert lines(asked_workers=8, workers=1, exclusive=True)[0].startswith("n_workers 8 -> 1: exclusive: nothing runs beside a trial")
    assert lines(workers=1, asked_workers=None, exclusive=True)[0].startswith("exclusive: nothing")


def test_of_several_instance_types_each_is_said():
    some = {"local.1cpu": 4, "local.2cpu": 2}
    assert lines(fits=some, asked_workers=8, workers=4) == ["n_workers 8 -> 4: at once fit here 4 of local.1cpu, 2 of local.2cpu"]
    assert lines(fits=some, asked_workers=4, workers=4) == [
        "n_workers 4, but at once run at most 4 of local.1cpu, 2 of local.2cpu; further ones wait"
    ]
    assert lines(fits=some, asked_workers=2) == []
    assert lines(fits={"ml.m5.large": 2}, asked_workers=4, workers=4) == [
        "n_workers 4, but at once run at most 2 of ml.m5.large; further ones wait"
    ]


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
    assert lines(budget=Budget(max_num_trials=4), forecast_limit="3 times its forecast and 120 s") == [
        "a job may take as long as it takes, or 3 times its forecast and 120 s where it has one; --max_run S limits it"
    ]
    assert lines(budget=Budget(max_cost=1.0)) == [
        "a job may take 3600 s (default, as max_cost needs a limit); --max_run S for another limit"
    ]


def test_prices_and_preloaded_modules():
    assert lines(price_label="nominal") == ["prices are nominal: nobody is billed"]
    assert lines(real_money=True) == ["prices are real: the account is billed"]
    assert lines(preload=("auto",)) == [
        "preload auto: what takes 50 ms to import in the first trial is imported once for all others, but what cannot be forked"
    ]
    assert lines(preload=("torch",)) == ["preload torch: Python scripts are forked from a process that has imported it"]
    assert lines(remarks=("2 GPUs here",)) == ["2 GPUs here"]


GIB = 1024**3
ENOUGH = Disk(5 * GIB, "/r", 1)
KNOWN = dataclasses.replace(ENOUGH, tag="before", left=(LeftFiles(GIB // 2, 0),), trials=4, workers=2)


def test_free_disk_and_what_of_it_will_be_needed():
    assert lines(disk=ENOUGH) == ["disk: 5.0 GiB are free for results"]
    assert lines(disk=Disk(5 * GIB, "/r")) == []  # jobs write elsewhere
    assert lines(disk=Disk(GIB // 2, "/r")) == ["only 512.0 MiB of disk are free for results; make room, or give another --results_dir"]
    assert lines(disk=KNOWN) == ["disk: about 1.5 GiB of 5.0 GiB will be needed, by what the trials of before left"]
    assert lines(disk=dataclasses.replace(KNOWN, keep="all", free_bytes=GIB)) == [
        "disk: 4 trials that leave what those of before left need about 2.0 GiB at once, 1.0 GiB are free in /r; "
        "make room, give another --results_dir, or keep less (keep: none)"
    ]
    assert lines(disk=dataclasses.replace(KNOWN, trials=None)) == ["disk: 5.0 GiB are free for results"]


def test_whose_files_stay_is_said_where_nobody_said_it():
    assert lines(disk=dataclasses.replace(ENOUGH, keep_is_default=True))[1:] == [
        "checkpoints and models of the best trial stay, those of others go once it is known; --set keep=all for all"
    ]
