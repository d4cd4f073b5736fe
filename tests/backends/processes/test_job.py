"""What the end of a job means beside what its script says."""

import shutil
from pathlib import Path

import pytest

from backends.failures import Cause, Outcome
from backends.processes.job import Termination, with_shared_memory
from definitions.quantities import size_text

BUS = "RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. Perhaps dataloader's workers are out of shared memory."
ADVICE = "load with fewer workers or smaller batches, or make it larger (docker run --shm-size)"


def ended(cause: Cause, message: str, folder: Path) -> str:
    return with_shared_memory(Termination(Outcome.FAILED, cause, message), folder).message


def test_shared_memory_that_ran_out_is_told_with_its_size_and_what_to_do(tmp_path: Path) -> None:
    size = size_text(shutil.disk_usage(tmp_path).total)
    assert ended(Cause.OUT_OF_MEMORY, BUS, tmp_path) == f"{BUS} ({tmp_path} has {size} in all: {ADVICE})"
    assert ended(Cause.OUT_OF_MEMORY, BUS, tmp_path / "none") == f"{BUS} ({ADVICE})"


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (Cause.OUT_OF_MEMORY, "MemoryError: no room"),
        (Cause.SCRIPT_ERROR, "KeyError: 'shared memory'"),
        (Cause.OUT_OF_MEMORY, "SharedMemoryError: batches need 3 GB; use fewer loader_workers"),  # which says what to do itself
    ],
)
def test_all_else_stays_as_it_is(cause: Cause, message: str, tmp_path: Path) -> None:
    assert ended(cause, message, tmp_path) == message
