"""Canaries of some numbers of instances as those of another."""

import dataclasses

import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.model.instances import on_instances
from definitions.errors import UserError


def run(machines, fraction=0.1, **changes):
    work = 1000 * fraction / machines
    made = Canary(
        "job",
        fraction,
        instance_count=machines,
        startup_s=5.0,
        load_s=0.2 * work,
        train_s=0.8 * work,
        total_s=5.0 + work,
        step_s=0.4 / machines,
    )
    return dataclasses.replace(made, **changes)


def test_canaries_are_scaled_outside_their_start_up():
    table = on_instances(CanaryTable((run(1), run(2))), 4)
    (scaled,) = table.canaries
    assert (scaled.instance_count, scaled.startup_s) == (4, 5.0)
    assert (scaled.load_s, scaled.train_s, scaled.step_s) == (pytest.approx(5.0), pytest.approx(20.0), pytest.approx(0.1))
    assert scaled.total_s == pytest.approx(30.0)
    assert table.notes["job"] == ("scaled from 1, 2 to 4 instances by Ernest's terms",)


def test_the_nearest_number_by_ratio_is_scaled():
    at = CanaryTable((run(1, rss_bytes=1.0), run(2, rss_bytes=2.0), run(9, rss_bytes=9.0)))
    assert [one.rss_bytes for one in on_instances(at, 5).canaries] == [9.0]  # 9 is 1.8 times 5, 2 is 2.5 times less
    assert [one.rss_bytes for one in on_instances(at, 4).canaries] == [2.0]
    assert [one.rss_bytes for one in on_instances(at, 16).canaries] == [9.0]


def test_each_fraction_is_scaled_by_its_own_ratio():
    # Small runs do not get faster with more machines, large ones do.
    machines = (1, 2, 3, 8)
    small = [dataclasses.replace(run(m, 0.01), total_s=15.0, train_s=8.0) for m in machines]
    found = {one.fraction: one for one in on_instances(CanaryTable((*small, *map(run, machines))), 4).canaries}
    assert found[0.01].total_s == pytest.approx(15.0, rel=0.01)
    assert found[0.1].total_s == pytest.approx(30.0, rel=0.01)


def test_a_fraction_that_ran_on_one_number_only_goes_by_all_of_them():
    found = on_instances(CanaryTable((run(1), run(2), run(2, 0.3))), 4).canaries
    assert [(one.fraction, one.total_s < other.total_s) for one, other in zip(found, (run(2), run(2, 0.3)), strict=True)] == [
        (0.1, True),
        (0.3, True),
    ]


def test_a_number_that_was_measured_keeps_all_its_own_runs():
    failed = run(2, status="failed", total_s=None)
    table = on_instances(CanaryTable((run(1), run(2), failed), {"job": ("a note",)}), 2)
    assert table.canaries == (run(2), failed)
    assert table.notes == {"job": ("a note",)}


def test_one_number_alone_or_none_is_refused():
    with pytest.raises(UserError, match=r"job on 2 instances[\s\S]*it was measured on 1 only"):
        on_instances(CanaryTable((run(1),)), 2)
    with pytest.raises(UserError, match="no run of it was completed"):
        on_instances(CanaryTable((run(1, status="failed"),)), 2)
