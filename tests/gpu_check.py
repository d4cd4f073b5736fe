"""Checks GPU leases, GPU sampling and warm starts on a machine that has a GPU and PyTorch: `python tests/gpu_check.py`. By hand, no test.

Prints one line a check; ends with 0 when all are OK, 1 when one is not, 2 where there is nothing to check with. Takes about a minute.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REPORTER = ROOT / "backends" / "reporter"
LIMIT_S = 60.0
GIB = 2**30

BUSY = """
import time
import torch
from outrider_report import phase, report
with phase("allocate"):
    block = torch.empty(2**30, dtype=torch.uint8, device="cuda").zero_()
    torch.cuda.synchronize()
report(devices=torch.cuda.device_count())
with phase("train"):
    a = torch.randn(4096, 4096, device="cuda")
    end = time.monotonic() + 8.0
    while time.monotonic() < end:
        for _ in range(20):
            a = torch.nn.functional.normalize(a @ a)
        torch.cuda.synchronize()
with phase("idle"):
    time.sleep(5.0)
"""

LEASED = """
import os, time
began = time.monotonic()
import torch
from outrider_report import report
value = float(torch.ones(8, device="cuda").sum()) if torch.cuda.is_available() else None
time.sleep(1.0)
report(visible=os.environ["CUDA_VISIBLE_DEVICES"], order=os.environ.get("CUDA_DEVICE_ORDER"), devices=torch.cuda.device_count(),
       value=value, began=began, ended=time.monotonic(), forked="zygote" in open("/proc/self/cmdline").read())
"""

failed: list[str] = []


def check(what: str, passed: bool, found: object = "") -> None:
    print(f"{'OK    ' if passed else 'FAILED'} {what}: {found}", flush=True)
    if not passed:
        failed.append(what)


def sampling() -> None:
    """A job that allocates 1 GiB and multiplies matrices is seen to do so."""
    environment = {**os.environ, "PYTHONPATH": str(REPORTER), "OUTRIDER_SAMPLING": "0.5"}
    done = subprocess.run([sys.executable, "-c", BUSY], env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[outrider-summary]: ")]
    if not lines:
        check("the job ran", False, done.stderr[-2000:])
        return
    usage = json.loads(lines[-1].partition(" ")[2])["usage"]
    train, idle = usage.get("train", {}), usage.get("idle", {})
    memory, busy = train.get("gpu_memory_bytes", {}), train.get("gpu_percent", {})
    check("sampling sees 1 GiB on the GPU", memory.get("peak", 0) >= GIB, memory)
    check("sampling sees the GPU at work", busy.get("p50", 0) > 0, busy)
    check("sampling sees it at rest", idle.get("gpu_percent", {}).get("p50", 100) < busy.get("p50", 0), idle.get("gpu_percent"))


def cost() -> None:
    """One sample with the driver asked takes less than 1 % of a core at one a second."""
    sys.path.insert(0, str(REPORTER))
    from outrider_report import Gpus, Sampler

    gpus = Gpus.find(os.environ)
    check("the driver's library is found", gpus is not None)
    sampler = Sampler(os.environ, lambda: {"train": (time.monotonic(), time.process_time())}, 3600.0)
    sampler.start(1.0)
    time.sleep(1.0)
    before = time.process_time()
    for _ in range(50):
        sampler._sample()
    one_ms = 1e3 * (time.process_time() - before) / 50
    check("a sample costs less than 10 ms of a core", one_ms < 10.0, f"{one_ms:.2f} ms")
    sampler.finish()


def leases(folder: Path) -> None:
    """Jobs get the GPUs that they lease, take turns where there are too few, and use CUDA in a forked process."""
    try:
        from backends.common.gpus import gpu_ids
        from backends.local.backend import LocalBackend
    except ImportError as error:
        print(f"       without the back-end, as it cannot be imported ({error}):")
        pieces(folder)
        return
    count = len(gpu_ids(os.environ))
    check("GPUs are counted", count >= 1, count)
    backend = LocalBackend(folder / "experiment", leases_dir=folder / "leases", preload=("torch",))
    try:
        found = run(backend, folder, {"none": "local.1cpu", **{f"gpu{n}": "local.1cpu.1gpu" for n in range(count + 1)}})
    finally:
        check("the back-end closes", backend.close() == [])
    none = found.pop("none")
    check("a job without a lease sees no GPU", none.get("visible") == "" and none.get("devices") == 0, none)
    check("each job with one sees one", all(one.get("devices") == 1 and one.get("value") == 8.0 for one in found.values()), found)
    check("CUDA works in forked jobs", all(one.get("forked") for one in found.values()))
    turns: dict[Any, list[tuple[float, float]]] = {}
    for one in found.values():
        turns.setdefault(one.get("visible"), []).append((one.get("began", 0.0), one.get("ended", 0.0)))
    apart = all(first[1] <= second[0] for spans in map(sorted, turns.values()) for first, second in itertools.pairwise(spans))
    check("no GPU is leased twice at a time", apart and len(found) == count + 1, turns)


def pieces(folder: Path) -> None:
    """As `leases`, with the parts of the back-end that need nothing but the standard library."""
    from backends.common.child_process import allowed_cores
    from backends.common.command_line import StartCommand
    from backends.common.gpus import gpu_ids
    from backends.common.leases import LeaseBook
    from backends.common.subreaper import Subreaper
    from backends.processes.warm.worker import ProcessSpec, WarmWorker

    names = gpu_ids(os.environ)
    check("GPUs are counted", len(names) >= 1, names)
    book, cores = LeaseBook(folder / "leases", allowed_cores()), allowed_cores()
    held = [book.acquire(1, 1, names, exclusive=False) for _ in names]
    leased = [lease.gpus[0] for lease in held if lease]
    check("each GPU is leased once", sorted(leased) == sorted(names), leased)
    check("and not twice at a time", book.acquire(1, 1, names, exclusive=False) is None)
    script = folder / "leased.py"
    script.write_text(LEASED)
    token = "0123456789abcdef"

    def launch(number: int, visible: str) -> ProcessSpec:
        mark = f"{token}.{number};"
        own = {"PYTHONPATH": str(REPORTER), "CUDA_VISIBLE_DEVICES": visible, "OUTRIDER_CONTROLLER": mark}
        (folder / f"job-{number}").mkdir()
        program = StartCommand((sys.executable, str(script)), script)
        return ProcessSpec(program, folder / f"job-{number}", {**os.environ, **own}, cores[:1], mark)

    Subreaper().claim()
    launches = [launch(0, ""), *(launch(1 + at, lease.gpus[0]) for at, lease in enumerate(held) if lease)]
    worker = WarmWorker(["torch"], launches[0], python=sys.executable, token=token, allowed=cores, log=folder / "worker.log")
    try:
        ready = select.select([worker.descriptor], [], [], LIMIT_S)[0]
        reason, _ = worker.outcome() if ready else ("it does not answer", "")
        check("the warm worker is ready", reason == "", reason)
        for one in launches:
            worker.ask(one)
            select.select([worker.descriptor], [], [], LIMIT_S)
            child, _ = worker.answer()
            os.set_blocking(child.output, True)
            with open(child.output, encoding="utf-8") as file:  # noqa: PTH123
                text = file.read()
            code = child.reap()
            reports = [json.loads(line.partition(" ")[2]) for line in text.splitlines() if line.startswith("[tune-metric]: ")]
            found = reports[0] if reports else {}
            visible = one.environment["CUDA_VISIBLE_DEVICES"]
            wanted = (visible, 1 if visible else 0, 8.0 if visible else None, True)
            seen = tuple(found.get(key) for key in ("visible", "devices", "value", "forked"))
            check(f"a forked job with CUDA_VISIBLE_DEVICES={visible!r}", code == 0 and seen == wanted, seen if reports else text[-1000:])
    finally:
        worker.close()
    for lease in held:
        if lease:
            lease.release()
    check("a lease that was given back is had again", book.acquire(1, 1, names, exclusive=False) is not None)


def unsafe(folder: Path) -> None:
    """A preload that initialises CUDA is not forked."""
    try:
        from backends.local.backend import LocalBackend
    except ImportError:
        return
    (folder / "hasty.py").write_text("import torch\ntorch.ones(1, device='cuda')\n")
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("backends.processes").addHandler(handler)
    backend = LocalBackend(folder / "second", leases_dir=folder / "leases", preload=("hasty",))
    try:
        found = run(backend, folder, {"cold": "local.1cpu.1gpu"})["cold"]
    finally:
        backend.close()
    check("a preload that initialises CUDA makes jobs start cold", found.get("value") == 8.0 and found.get("forked") is False, said)


def run(backend: Any, folder: Path, jobs: dict[str, str]) -> dict[str, Any]:
    """Run the script on each instance type and return what each job reported."""
    from backends.events import Closed, Reported
    from backends.job_spec import JobSpec

    script = folder / "leased.py"
    script.write_text(LEASED)
    for name, instance_type in jobs.items():
        backend.submit(JobSpec(name, 0, 1, str(script), instance_type=instance_type))
    found: dict[str, Any] = {name: {} for name in jobs}
    left, deadline = {*jobs}, time.monotonic() + LIMIT_S
    while left and time.monotonic() < deadline:
        for event in backend.wait(1.0):
            if isinstance(event, Reported):
                found[event.job] = dict(event.metrics)
            elif isinstance(event, Closed):
                left.discard(event.job)
                if event.message:
                    print(f"       {event.job}: {event.message}")
    return found


def main() -> int:
    sys.path.insert(0, str(ROOT))
    code = "import torch; print(torch.__version__, torch.cuda.get_device_name(0) if torch.cuda.is_available() else '')"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    version, _, name = asked.stdout.strip().partition(" ")
    if not name:
        print(f"nothing to check: torch {version or 'is missing'}, no GPU that it can use")
        return 2
    print(f"torch {version} on {name}, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as text:
        steps: list[Callable[[], None]] = [cost, sampling, lambda: leases(Path(text)), lambda: unsafe(Path(text))]
        for step in steps:
            try:
                step()
            except Exception as error:  # noqa: BLE001 (one check that cannot be made must not hide the others)
                check(getattr(step, "__name__", "step"), False, f"{type(error).__name__}: {error}")
    print(f"{len(failed)} failed" if failed else "all OK")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
