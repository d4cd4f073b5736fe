"""Memory of processes and of this machine, as Linux tells it."""

import os
import resource

import pytest

from backends.common import memory

GIB = 2**30


def test_a_container_with_less_counts_and_one_without_a_limit_does_not(tmp_path):
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = tmp_path / "memory.max"

    def found():
        return memory.machine_bytes((tmp_path / "none", limit))

    assert found() == whole
    limit.write_text("max\n")
    assert found() == whole
    limit.write_text(f"{whole // 2}\n")
    assert found() == whole // 2
    limit.write_text(f"{2 * whole}\n")
    assert found() == whole


def test_this_process_uses_what_the_system_says():
    now, peak = memory.resident_bytes([os.getpid()])
    assert 2**20 < now <= peak
    assert peak == pytest.approx(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, rel=0.05)


def test_the_sum_is_the_peak_where_it_is_more_than_any_single_one():
    now, _ = memory.resident_bytes([os.getpid()])
    twice, peak = memory.resident_bytes([os.getpid(), os.getpid()])
    assert twice == pytest.approx(2 * now, rel=0.02)
    assert peak == twice


def test_what_is_gone_uses_nothing():
    assert memory.resident_bytes([2**22 + 1]) == (0, 0)
    assert memory.proportional_bytes([2**22 + 1]) == 0
    assert memory.resident_bytes([]) == (0, 0)


def test_shared_pages_are_divided_so_that_no_more_is_counted():
    now, _ = memory.resident_bytes([os.getpid()])
    assert 2**20 < memory.proportional_bytes([os.getpid()]) <= now * 1.02


def test_kills_by_the_kernel_are_a_count():
    assert memory.kernel_kills() >= 0
