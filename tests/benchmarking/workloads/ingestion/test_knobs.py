import argparse
import os

import pytest

from benchmarking.workloads.ingestion import Knobs, add_knobs, knobs_from


def given(*arguments):
    parser = argparse.ArgumentParser()
    add_knobs(parser)
    return knobs_from(parser.parse_args(arguments))


def test_without_options_they_are_the_defaults():
    assert given() == Knobs()


def test_each_is_an_option():
    asked = given(
        "--loader_workers", "3", "--prefetch_factor", "4", "--persistent_workers", "false", "--shuffle", "no", "--s3_buffer", "1024"
    )
    assert asked == Knobs(loader_workers=3, prefetch_factor=4, persistent_workers=False, shuffle=False, s3_buffer=1024)
    with pytest.raises(SystemExit):
        given("--start_method", "thread")
    with pytest.raises(SystemExit):
        given("--shuffle", "maybe")


def test_what_is_recorded_is_what_holds():
    cores = {"OUTRIDER_CORES": "4"}
    alone, two = Knobs().recorded(cores), Knobs(loader_workers=2).recorded(cores)
    assert (alone["prefetch_factor"], alone["persistent_workers"]) == (0, False)
    assert (two["prefetch_factor"], two["persistent_workers"]) == (2, True)
    assert (alone["torch_threads"], two["torch_threads"], Knobs(torch_threads=1).recorded(cores)["torch_threads"]) == (4, 2, 1)
    assert set(alone) == {name for name in vars(Knobs())}
    words = Knobs(loader_workers=2).text(cores).split()
    assert {"batch_size=64", "loader_workers=2", "prefetch_factor=2", "persistent_workers=true", "loader=torch"} <= set(words)
    assert len(words) == len(alone)


def test_prefetch_without_workers_is_refused():
    with pytest.raises(SystemExit, match="prefetch_factor is 4, and loader_workers 0: nobody loads ahead"):
        Knobs(prefetch_factor=4)


@pytest.mark.parametrize(
    "wrong", [{"batch_size": 0}, {"threads_per_worker": 0}, {"loader_workers": -1}, {"loader": "dali"}, {"start_method": "x"}]
)
def test_what_cannot_be_is_refused_by_name(wrong):
    with pytest.raises(SystemExit, match=next(iter(wrong))):
        Knobs(**wrong)


def test_torch_has_the_cores_that_workers_leave():
    assert Knobs(loader_workers=3).threads_of_torch({"OUTRIDER_CORES": "8"}) == 5
    assert Knobs(loader_workers=8).threads_of_torch({"OUTRIDER_CORES": "8"}) == 1
    assert Knobs(torch_threads=6, loader_workers=8).threads_of_torch({"OUTRIDER_CORES": "8"}) == 6
    assert Knobs().threads_of_torch({}) == len(os.sched_getaffinity(0))
