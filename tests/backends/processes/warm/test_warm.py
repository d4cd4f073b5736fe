"""Jobs forked by a warm worker are like jobs of their own interpreter, and keep out of each other's way."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backends.base import Backend
from backends.common import process_tree
from backends.common.child_process import allowed_cores
from backends.events import Closed, Ended, Reported
from backends.failures import Cause, Outcome
from backends.local.backend import LocalBackend
from tests.backends.contract import all_closed, closed, collect, of_job
from tests.backends.local.test_backend import TestLocalBackend as _ColdContract
from tests.backends.local.test_ending import CONTROLLER, ROOT, STUBBORN, gone_within
from tests.backends.local_bench import LocalBench, alive, zombies
from tests.backends.processes.warm.warm_bench import HEAVY, worker_of

pytestmark = pytest.mark.slow


class TestWarmContract(_ColdContract):
    def make_backend(self, folder: Path) -> Backend:
        self.folder = folder
        return LocalBackend(folder / "experiment", grace_s=2.0, leases_dir=folder / "leases", preload=("decimal",))


def test_jobs_are_forked_from_one_worker_that_did_the_imports_once(bench: LocalBench) -> None:
    code = "import heavy, os\nreport(by=heavy.BY, pid=os.getpid(), parent=os.getppid())\n"
    found = [bench.metrics_of(bench.job(f"j{n}", code))[0] for n in range(3)]
    assert {metrics["by"] for metrics in found} == {worker_of(bench)}
    assert len({metrics["pid"] for metrics in found} - {worker_of(bench)}) == 3
    assert {metrics["parent"] for metrics in found} == {os.getpid()}


FACTS = """
import inspect, os, resource, signal, sys, threading
import heavy
PLACES = ("OUTRIDER_LEASES", "SM_MODEL_DIR", "SM_OUTPUT_DATA_DIR", "OUTRIDER_CONTROLLER")
report(
    argv=sys.argv[1:], script=os.path.basename(sys.argv[0]), same=sys.argv[0] == __file__, command=sys.orig_argv[1:] == sys.argv,
    path=sys.path[1:], first=sys.path[0] == os.path.dirname(__file__), own=[name for name in sys.modules if name.startswith("backends")],
    name=__name__, names=sorted(globals()), spec=repr(__spec__), package=__package__, loader=type(__loader__).__name__,
    main=sys.modules["__main__"].report is report, frames=len(inspect.stack()) <= 3,
    cwd=os.path.basename(os.getcwd()), cores=sorted(os.sched_getaffinity(0)), umask=os.umask(0o22), nice=os.nice(0),
    limits=resource.getrlimit(resource.RLIMIT_NOFILE), leads=[os.getpid() == os.getsid(0), os.getpid() == os.getpgid(0)],
    files=sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
    standard=[os.readlink(f"/proc/self/fd/{number}")[:6] for number in range(3)],
    stream=[sys.stdout.line_buffering, sys.stdout.write_through, sys.stdout.encoding, sys.stdin.read()],
    signals=[repr(signal.getsignal(number)) for number in (2, 13, 15)], mask=sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    threads=[threading.active_count(), len(os.listdir("/proc/self/task")), threading.current_thread().name],
    environment={name: value for name, value in os.environ.items() if name not in PLACES},
    controller=[len(os.environ["OUTRIDER_CONTROLLER"]), os.environ["OUTRIDER_CONTROLLER"][-2:]],
)
"""


def test_a_forked_job_finds_what_a_new_interpreter_gives_it(bench: LocalBench, cold: LocalBench) -> None:
    fields: dict[str, Any] = {"environment": {"MINE": "a b\n"}, "configuration": {"x": 1}}
    assert bench.metrics_of(bench.job("one", FACTS, "--a", "x  y", "", **fields)) == cold.metrics_of(
        cold.job("one", FACTS, "--a", "x  y", "", **fields)
    )


def test_a_worker_that_preloads_nothing_adds_two_modules_to_those_of_a_new_interpreter(tmp_path: Path) -> None:
    # Each module of the worker's own is memory to copy and to take down in each job, and hides a script's module of that name.
    code = "import sys\nreport(names=sorted(sys.modules))\n"
    loaded = []
    for preload in (("sys",), ()):
        bench = LocalBench(tmp_path / f"{len(loaded)}", preload=preload)
        loaded.append({*bench.metrics_of(bench.job("one", code))[0]["names"]})
        assert bench.backend.close() == []
    assert loaded[0] - loaded[1] == {"_socket", "gc"}


LEAK = """
import heavy, os, random, signal, sys, threading, time
seen = [dict(heavy.state), os.environ.get("LEAK"), os.getcwd(), len(os.listdir("/proc/self/fd")), threading.active_count(),
        repr(signal.getsignal(10)), sys.gettrace() is None, hasattr(sys, "leak")]
heavy.state["leak"] = os.environ["LEAK"] = sys.leak = "x"
sys.path.insert(0, "/nowhere")
keep = open(__file__), open("left", "w")
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
signal.signal(10, signal.SIG_IGN)
os.chdir("/")
draw = random.random()
random.seed(1)
report(seen=seen[:2] + seen[3:], cwd=os.path.basename(seen[2]), draw=draw, path="/nowhere" in sys.path[1:])
"""


def test_nothing_of_a_job_is_found_by_the_next_or_by_one_beside_it(bench: LocalBench) -> None:
    events = bench.run(*(bench.job(f"j{n}", LEAK) for n in range(4)))
    found = [of_job(events, f"j{n}", Reported)[0].metrics for n in range(4)]
    assert {str(metrics["seen"][:2]) for metrics in found} == {"[{}, None]"}
    assert len({str(metrics["seen"]) for metrics in found}) == 1
    assert [metrics["cwd"] for metrics in found] == ["j0", "j1", "j2", "j3"]
    assert len({metrics["draw"] for metrics in found}) == 4
    assert not any(metrics["path"] for metrics in found)


@pytest.mark.parametrize(
    ("code", "outcome", "cause", "message"),
    [
        ("report(n=1)", Outcome.COMPLETED, None, ""),
        ("raise SystemExit(3)", Outcome.FAILED, Cause.SCRIPT_ERROR, "exit code 3"),
        ("raise SystemExit('no data')", Outcome.FAILED, Cause.SCRIPT_ERROR, "no data"),
        ("import os; os._exit(9)", Outcome.FAILED, Cause.SCRIPT_ERROR, "exit code 9"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", Outcome.FAILED, Cause.SCRIPT_ERROR, "ended by signal SIGSEGV"),
        ("raise KeyboardInterrupt", Outcome.STOPPED, Cause.OUTSIDE, "ended by SIGINT, which neither this program nor the kernel sent"),
        ("x = bytearray(10**15)", Outcome.FAILED, Cause.OUT_OF_MEMORY, "MemoryError"),
        ("x = = 1", Outcome.FAILED, Cause.SCRIPT_ERROR, "SyntaxError: invalid syntax"),
        ("import atexit; atexit.register(report, n=2)", Outcome.COMPLETED, None, ""),
        (
            "import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), report(n=3))).start()",
            Outcome.COMPLETED,
            None,
            "",
        ),
    ],
)
def test_a_forked_script_ends_as_it_would_by_itself(
    bench: LocalBench, code: str, outcome: Outcome, cause: Cause | None, message: str
) -> None:
    end = bench.end_of(bench.job("one", code))
    assert (end.outcome, end.cause, end.message) == (outcome, cause, message)
    assert worker_of(bench)


@pytest.mark.parametrize(
    "code",
    [
        "import heavy\ndef f():\n    raise KeyError('x') from ValueError('y')\nf()\n",
        "x = = 1\n",
        "import sys\nsys.excepthook = lambda kind, _, trace: print(kind.__name__, trace.tb_frame.f_code.co_name, trace.tb_lineno)\n1 / 0\n",
        "import sys\nsys.excepthook = lambda *_: 1 / 0\nraise KeyError(3)\n",
    ],
)
def test_errors_are_printed_as_a_new_interpreter_prints_them(bench: LocalBench, cold: LocalBench, code: str) -> None:
    logs = []
    for one in (bench, cold):
        job = one.job("one", code)
        one.end_of(job)
        logs.append(one.log(job).read_text().replace(str(one.folder), ""))
    warm_log, cold_log = logs
    # Where a script's own hook fails, the interpreter says so in words of its own.
    assert warm_log.splitlines()[-2:] == cold_log.splitlines()[-2:]
    if "1 / 0\nraise" not in code:
        assert warm_log == cold_log


def test_a_crash_or_a_kill_of_one_job_leaves_the_others_and_the_worker_alone(bench: LocalBench) -> None:
    code = "import heavy, time\nreport(by=heavy.BY)\ntime.sleep(60)\n"
    waiting = "import heavy, pathlib, sys, time\nreport(by=heavy.BY)\nwhile not pathlib.Path(sys.argv[1]).exists():\n    time.sleep(0.01)\n"
    last = bench.folder / "last"
    events = bench.begin(bench.job("stays", waiting, str(last)))
    worker = worker_of(bench)
    if len(allowed_cores()) > 1:
        bench.run(bench.job("crashes", "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"))
        killed = bench.begin(bench.job("killed", code))
        bench.backend.stop("killed", Cause.SCHEDULER)
        collect(bench.backend, all_closed("killed"), into=killed)
    last.touch()
    collect(bench.backend, all_closed("stays"), into=events)
    assert closed(events, "stays").outcome is Outcome.COMPLETED
    assert bench.metrics_of(bench.job("next", "import heavy\nreport(by=heavy.BY)\n")) == [{"by": worker}]


def test_descendants_of_a_forked_job_are_found_though_its_environment_is_the_workers(bench: LocalBench) -> None:
    events = bench.begin(bench.job("one", STUBBORN + "    report(pid=child(True))\n    time.sleep(60)\n"))
    pid = of_job(events, "one", Reported)[0].metrics["pid"]
    mark = bench.backend.jobs["one"].mark
    assert mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    assert mark.encode() not in Path(f"/proc/{worker_of(bench)}/environ").read_bytes()
    bench.backend.stop("one", Cause.SCHEDULER)
    collect(bench.backend, lambda events: bool(of_job(events, "one", Ended)), into=events)
    assert not alive(pid)
    assert alive(worker_of(bench))


def test_the_start_up_phase_begins_with_the_fork(bench: LocalBench) -> None:
    bench.run(bench.job("first", "report(n=1)\n"))
    # The worker is older than the second job by more than that takes; the kernel tells a start in hundredths of a second.
    time.sleep(0.3)
    before = time.monotonic()
    (second,) = of_job(bench.run(bench.job("second", "report(n=1)\n")), "second", Closed)
    assert 0 <= second.usage["phases_s"]["startup"] < time.monotonic() - before + 0.02


def test_a_reporter_that_was_preloaded_begins_anew_in_each_job(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from outrider_report import report\n")
    bench = LocalBench(tmp_path, preload=("mine",))
    code = "import os\nreport(n=1)\nreport(n=2, rank=os.environ['OUTRIDER_TRIAL'])\n"
    for name in ("one", "two"):
        before = time.monotonic()
        events = bench.run(bench.job(name, code, checkpoint=name))
        assert [report.sequence for report in of_job(events, name, Reported)] == [0, 1]
        assert closed(events, name).usage["phases_s"]["startup"] < time.monotonic() - before + 0.02
    assert bench.backend.close() == []


def test_a_job_over_its_memory_is_ended_warm_too(bench: LocalBench) -> None:
    code = "import time\nreport(n=1)\nblock = b'x' * (150 * 2**20)\ntime.sleep(60)\n"
    end = bench.end_of(bench.job("one", code, instance_type="local.1cpu.100mib"))
    assert end.cause is Cause.OUT_OF_MEMORY
    assert 100 * 2**20 < end.usage["peak_rss_bytes"] < 200 * 2**20


def test_processes_of_all_kinds_can_be_started_by_a_forked_job(bench: LocalBench) -> None:
    code = """
        import multiprocessing, subprocess, sys
        def square(x):
            return x * x
        if __name__ == "__main__":
            found = {}
            for method in ("fork", "spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    found[method] = pool.map(square, [2, 3])
            found["run"] = subprocess.run([sys.executable, "-c", "print(7)"], capture_output=True, text=True).stdout
            report(**found)
    """
    assert bench.metrics_of(bench.job("one", code)) == [{"fork": [4, 9], "spawn": [4, 9], "forkserver": [4, 9], "run": "7\n"}]


def test_what_imports_do_to_the_environment_reaches_the_job(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text("import os\nos.environ['SET_BY_IMPORT'] = '1'\nos.environ.pop('HOME', None)\n")
    bench = LocalBench(tmp_path, preload=("heavy",))
    code = (
        "import os\nfound = {name: os.environ.get(name) for name in ('OPENBLAS_NUM_THREADS', 'JE_ARROW_MALLOC_CONF')}\n"
        "report(set=os.environ.get('SET_BY_IMPORT'), home='HOME' in os.environ, **found)\n"
    )
    quiet = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "JE_ARROW_MALLOC_CONF")}
    wanted = {"set": "1", "home": False, **quiet}
    assert bench.metrics_of(bench.job("one", code)) == [wanted]
    assert bench.backend.close() == []


def test_long_requests_arrive_whole(bench: LocalBench) -> None:
    long = "x" * 100_000
    code = "import os, sys\nreport(lengths=[len(sys.argv[1]), len(sys.argv[2]), len(os.environ['OUTRIDER_LONG'])])\n"
    job = bench.job("one", code, long, "é" * 50_000, environment={"OUTRIDER_LONG": long})
    assert bench.metrics_of(job) == [{"lengths": [100_000, 50_000, 100_000]}]
    assert worker_of(bench)


def test_worker_and_jobs_die_with_a_killed_controller(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text(HEAVY)
    bench = LocalBench(tmp_path)
    program = CONTROLLER.replace('leases_dir=folder / "leases"', 'leases_dir=folder / "leases", preload=("heavy",)')
    program = program.replace('event.metrics["leader"]', 'event.metrics["leader"], backend._runner._starter._worker.pid')
    job = bench.job("one", STUBBORN + "    report(pid=child(True), leader=os.getpid())\n    time.sleep(60)\n")
    command = [sys.executable, "-c", program, str(bench.folder), job.script]
    controller = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert controller.stdout is not None
    pids = [int(word) for word in controller.stdout.readline().split()]
    assert len(pids) == 3
    # Its watchdog is among them, and ends last.
    family = process_tree.children(controller.pid)
    controller.kill()
    controller.wait()
    controller.stdout.close()
    assert gone_within([*pids, *family])
    # Orphans have become this process's, and the next test counts its zombies.
    for pid in zombies():
        os.waitpid(pid, 0)
    assert bench.backend.close() == []


TORCH = """
import os, sys
import numpy, torch
draws = [float(torch.rand(1)), float(numpy.random.rand())]
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return torch.tensor(float(at))
total = 0.0
for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1):
    total += float(batch.sum())
loss = (torch.ones(64, 64, requires_grad=True) @ torch.ones(64, 64)).sum()
loss.backward()
report(torch_draw=draws[0], numpy_draw=draws[1], threads=torch.get_num_threads(), total=total, seed=torch.initial_seed(), loss=float(loss))
"""


def test_torch_works_in_a_forked_job_as_in_a_new_process(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    bench = LocalBench(tmp_path, preload=("torch",), environment=environment)
    cores = min(2, len(allowed_cores()))
    jobs = [bench.job(name, TORCH, instance_type=kind) for name, kind in (("a", "local.1cpu"), ("b", f"local.{cores}cpu"))]
    found = [bench.metrics_of(job)[0] for job in jobs]
    assert [metrics["threads"] for metrics in found] == [1, cores]
    assert [(metrics["total"], metrics["loss"]) for metrics in found] == [(28.0, 64.0**3)] * 2
    for key in ("torch_draw", "numpy_draw", "seed"):
        assert found[0][key] != found[1][key], key
    assert bench.backend._runner._starter._worker is not None
    assert bench.backend.close() == []


def test_a_script_that_changes_between_two_jobs_is_run_as_it_is(bench: LocalBench) -> None:
    # The worker keeps the compiled script, and a job must not get that of another version, of equal length and name.
    first = bench.job("one", "report(n=1)\n")
    assert bench.metrics_of(first) == [{"n": 1}]
    Path(first.script).write_text(Path(first.script).read_text().replace("n=1", "n=2"))
    assert bench.metrics_of(dataclasses.replace(first, name="two")) == [{"n": 2}]
    Path(first.script).write_text("x = = 1\n")
    assert "SyntaxError" in bench.end_of(dataclasses.replace(first, name="three")).message
    assert worker_of(bench)


def test_what_the_compiler_warns_of_is_printed_in_each_job(bench: LocalBench, cold: LocalBench) -> None:
    logs = []
    for one in (bench, cold):
        jobs = [one.job("one", "if 1 is 1:\n    report(n=1)\n")]
        jobs.append(dataclasses.replace(jobs[0], name="two"))
        one.run(*jobs)
        logs += [one.log(job).read_text().replace(str(one.folder), "").partition("[tune")[0] for job in jobs]
    assert 'SyntaxWarning: "is" with' in logs[0]
    assert len({*logs}) == 1


def test_the_peak_of_a_short_forked_job_is_its_own(bench: LocalBench) -> None:
    # Over before the first sample of its memory, and smaller than this process.
    ballast = b"x" * (150 * 2**20)
    peaks = [bench.end_of(bench.job(f"j{n}", f"block = b'x' * ({n} * 2**20)\nreport(n=1)\n")).usage["peak_rss_bytes"] for n in (1, 60)]
    del ballast
    assert 55 * 2**20 < peaks[1] - peaks[0] < 65 * 2**20


def test_a_job_whose_peak_is_measured_is_not_forked_and_that_is_said(bench: LocalBench, caplog: pytest.LogCaptureFixture) -> None:
    code = "import heavy, os\nreport(own=heavy.BY == os.getpid())\n"
    assert bench.metrics_of(bench.job("one", code, is_measured_alone=True)) == [{"own": True}]
    assert "its peak of memory, is told apart by processes of their own; what this concerns starts cold" in caplog.text
