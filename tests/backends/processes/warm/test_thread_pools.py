"""Thread pools of a forked job have the sizes that libraries would choose by themselves."""

from __future__ import annotations

import pytest

from backends.processes.warm import thread_pools


@pytest.mark.parametrize(
    ("environment", "openblas", "openmp"),
    [
        ({}, 3, 3),
        ({"OMP_NUM_THREADS": "2"}, 2, 2),
        ({"OMP_NUM_THREADS": "4,2", "OPENBLAS_NUM_THREADS": "1"}, 1, 4),
        ({"OMP_NUM_THREADS": "x", "GOTO_NUM_THREADS": "0"}, 3, 3),
    ],
)
def test_thread_pools_have_the_sizes_that_the_libraries_would_choose(environment: dict[str, str], openblas: int, openmp: int) -> None:
    assert (thread_pools.openblas_threads(environment, 3), thread_pools.openmp_threads(environment, 3)) == (openblas, openmp)
