import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarking.workloads.ingestion.shared_memory import (
    FittingBatches,
    SharedMemoryError,
    free_bytes,
    shared_memory_problem,
    tensor_bytes,
)

ROOT = Path(__file__).resolve().parents[4]
MB = 10**6


@pytest.mark.parametrize(
    ("workers", "prefetch", "free", "fits"),
    [(2, 2, 50 * MB, True), (2, 2, 50 * MB - 1, False), (0, 0, 0, True), (8, 4, None, True), (1, 1, 20 * MB, True), (1, 1, 19 * MB, False)],
)
def test_as_many_batches_as_workers_make_ahead_and_one_in_training_have_to_fit(workers, prefetch, free, fits):
    assert (shared_memory_problem(10 * MB, workers, prefetch, free) is None) is fits


def test_what_does_not_fit_is_said_with_what_is_needed_what_there_is_and_what_to_do():
    said = shared_memory_problem(38 * MB, 4, 2, 64 * MB)
    assert said.startswith("batches of 38.0 MB need up to 342.0 MB of shared memory (4 workers with 2 each, and the one in training)")
    assert "/dev/shm has 64.0 MB free; use fewer loader_workers" in said


def test_tensors_count_wherever_they_are_in_a_batch():
    four = torch.zeros(4, dtype=torch.float32)
    assert tensor_bytes(({"a": [four, four]}, four, b"not sent that way", 3)) == 48


def test_only_the_first_batch_is_looked_at_and_nothing_of_bytes_is_shared():
    collate = FittingBatches(torch.stack, 1, 1, 100)
    with pytest.raises(SharedMemoryError, match=r"need up to 0\.0 MB"):
        collate([torch.zeros(16)])
    assert collate([torch.zeros(16)]).shape == (1, 16)
    assert FittingBatches(list, 1, 1, 0)([b"abc"]) == [b"abc"]


def test_room_that_is_gone_when_a_batch_is_made_is_said():
    def full(samples):
        raise RuntimeError("unable to allocate shared memory(shm) for file </torch_1>: No space left on device (28)")

    with pytest.raises(SharedMemoryError, match=r"a batch does not fit into /dev/shm, which had 3\.0 MB free before the first batch"):
        FittingBatches(full, 1, 1, 3 * MB)([1])
    with pytest.raises(ValueError, match="something else"):
        FittingBatches(other, 1, 1, 3 * MB)([1])


def other(samples):
    raise ValueError("something else")


def test_a_place_that_there_is_not_says_nothing(tmp_path):
    assert free_bytes(str(tmp_path / "none")) is None
    assert free_bytes(str(tmp_path)) > 0


SMALL = """
import sys
sys.path.insert(0, "benchmarking/workloads")
from pathlib import Path
import torch
from ingestion import Channel, Knobs, make_loader, open_channel
folder = Path(sys.argv[1])
for number in range(16):
    (folder / f"{number:03}.bin").write_bytes(b"x")
knobs = Knobs(batch_size=4, loader_workers=2, shuffle=False)
with open_channel(Channel(str(folder), "files", "files", format="bin", labels="none"), {}, knobs) as opened:
    for batch in make_loader(opened, knobs, lambda samples: [torch.ones(150_000) for _ in samples]):
        pass
print("all read")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("room", "last"), [("8m", "shared_memory.SharedMemoryError"), ("64m", "all read")])
def test_a_loader_in_a_container_with_little_shared_memory_ends_before_training(tmp_path, room, last):
    # PyTorch itself waits for ever here: the batch is lost in the thread that sends it.
    small = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size={room} tmpfs /dev/shm && exec "$@"', "sh"]
    try:
        is_allowed = subprocess.run([*small, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        is_allowed = False
    if not is_allowed:
        pytest.skip("a mount of one's own needs a privilege that there is not here")
    run = subprocess.run(
        [*small, sys.executable, "-c", SMALL, tmp_path], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    said = (run.stdout + run.stderr).strip()
    assert last in said, said
    assert ("need up to 12.0 MB of shared memory (2 workers with 2 each" in said) is (room == "8m")
