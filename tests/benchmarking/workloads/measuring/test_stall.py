import subprocess
import sys
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).resolve().parents[4] / "benchmarking" / "workloads"

SCRIPT = """
import sys, time
sys.path.insert(0, {workloads!r})
from torch.utils.data import DataLoader, Dataset
from measuring.epoch import EpochLimits, Instruments, run_epoch
from measuring.stall import StallWatch, answer_with_stacks
import contextlib
class Stuck(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index): return self.hangs_here()
    def hangs_here(self):
        while True: time.sleep(0.1)
workers = {workers}
loader = DataLoader(Stuck(), batch_size=2, num_workers=workers, worker_init_fn=answer_with_stacks)
iterator = None
def pids():
    import multiprocessing
    return [child.pid for child in multiprocessing.active_children()]
phase = lambda name: contextlib.nullcontext()
run_epoch(loader, print, EpochLimits(), Instruments(time.monotonic, phase, print, StallWatch(1.0, pids)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_that_gives_nothing_is_ended_with_the_stacks_of_its_workers(tmp_path, workers):
    script = tmp_path / "stuck.py"
    script.write_text(SCRIPT.format(workloads=str(WORKLOADS), workers=workers))
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 1
    assert "LoaderStalledError: the loader gave nothing for stall_s = 1 s" in found.stderr.strip().splitlines()[-1]
    assert found.stderr.count("in hangs_here") >= max(workers, 1)
