import pytest

from benchmarking.workloads.checkpointing.figures import Load, load_figures, save_figures
from benchmarking.workloads.checkpointing.saver import Save


def save(stall_s, durable_s, stored=200_000_000, cpu_s=0.5):
    return Save("n", 100_000_000, stored, stall_s, durable_s, cpu_s)


def test_all_ranks_together_are_as_slow_as_the_slowest():
    ranks = [[save(2.0, 2.0), save(4.0, 4.0), save(1.0, 1.0)], [save(3.0, 1.0, 0), save(3.0, 5.0, 0), save(3.0, 1.0, 0)]]
    assert save_figures(ranks, writers=2, train_s=21.0) == pytest.approx({
        "checkpoint_saves": 3,
        "checkpoint_bytes": 200_000_000,
        "checkpoint_save_s": 2.0,  # of 2, 5 and 1
        "checkpoint_durable_s": 2.0,
        "checkpoint_save_mb_per_s": 100.0,
        "checkpoint_save_mb_per_s_per_rank": 50.0,
        "checkpoint_stall_s": 9.0,  # of the second rank; the first stood for 7
        "checkpoint_stall_share": 0.3,
        "checkpoint_save_cpu_s": 1.0,
    })  # fmt: skip


def test_what_is_not_known_is_absent():
    found = save_figures([[save(1.0, 1.0, cpu_s=None)]], writers=1, train_s=1.0, is_durable=False)
    assert not {"checkpoint_durable_s", "checkpoint_save_cpu_s"} & set(found)
    assert save_figures([[]], writers=1, train_s=1.0) == {}


def test_ranks_load_what_they_have():
    assert load_figures([Load(100_000_000, 2.0, 1.0), Load(100_000_000, 4.0, 1.5)]) == pytest.approx({
        "checkpoint_load_s": 4.0,
        "checkpoint_load_mb_per_s": 50.0,
        "checkpoint_load_mb_per_s_per_rank": 37.5,
        "checkpoint_load_cpu_s": 2.5,
    })  # fmt: skip
