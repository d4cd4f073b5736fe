"""Jobs end with all their processes, whatever those do against it."""

from __future__ import annotations

import dataclasses
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.adopted import AdoptedJob
from backends.events import Ended, Reported
from backends.failures import Cause, Outcome
from backends.job_spec import Limits
from tests.backends.contract import all_closed, check_order, closed, collect, of_job
from tests.backends.local_bench import LocalBench, alive, zombies

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

STUBBORN = """
    import os, signal, sys, time
    def child(escape):
        read, write = os.pipe()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if escape:
                os.setsid()
                if os.fork():
                    os._exit(0)
            os.write(write, str(os.getpid()).encode())
            os.close(write)
            while True:
                time.sleep(60)
        return int(os.read(read, 20))
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[LocalBench]:
    bench = LocalBench(tmp_path)
    yield bench
    assert bench.backend.close() == []


@pytest.mark.parametrize("escape", [False, True], ids=["ignores TERM", "and leaves its session"])
@pytest.mark.parametrize("own_end", [False, True], ids=["stopped", "after a normal end"])
def test_no_descendant_outlives_its_job(bench: LocalBench, escape: bool, own_end: bool) -> None:
    wait = "" if own_end else "    time.sleep(60)\n"
    before = {*zombies()}
    job = bench.job("one", STUBBORN + f"    report(pid=child({escape}))\n" + wait)
    events = bench.begin(job)
    (report,) = of_job(events, "one", Reported)
    pid = report.metrics["pid"]
    if not own_end:
        assert alive(pid)
        bench.backend.stop("one", Cause.SCHEDULER)
    collect(bench.backend, lambda events: bool(of_job(events, "one", Ended)), into=events)
    assert not alive(pid)
    collect(bench.backend, all_closed("one"), into=events)
    check_order(events)
    assert closed(events, "one").outcome is (Outcome.COMPLETED if own_end else Outcome.STOPPED)
    if not own_end:
        assert {*zombies()} <= before


def test_processes_that_hide_their_environment_are_found_by_descent(bench: LocalBench) -> None:
    code = """
        import os, subprocess, sys, time
        sleeper = subprocess.Popen(["sleep", "60"], env={}, start_new_session=True)
        report(pid=sleeper.pid)
        time.sleep(60)
    """
    events = bench.begin(bench.job("one", code))
    bench.backend.stop("one", Cause.SCHEDULER)
    collect(bench.backend, all_closed("one"), into=events)
    assert not alive(of_job(events, "one", Reported)[0].metrics["pid"])


def test_what_counted_as_anothers_child_is_reaped_once_it_is_known_as_the_jobs(bench: LocalBench) -> None:
    # In a session of its own and without a mark, it looks like a child of the controller's program as soon as the job has exited.
    code = """
        import subprocess, time
        subprocess.Popen(["sleep", "60"], env={}, start_new_session=True)
        report(epoch=1)
        time.sleep(2.5)  # ten times the time between two samples, so that it is seen while its parent lives
    """
    before = {*zombies()}
    events = bench.begin(bench.job("one", code))
    collect(bench.backend, all_closed("one"), into=events)
    assert {*zombies()} <= before


def test_other_children_of_the_controller_are_left_alone(bench: LocalBench) -> None:
    mine = subprocess.Popen(["sleep", "60"])
    ended = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=True)
    try:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        events = bench.begin(bench.job("one", STUBBORN + "    report(pid=child(True))\n    time.sleep(60)\n"))
        bench.backend.stop("one", Cause.BUDGET)
        collect(bench.backend, all_closed("one"), into=events)
        assert mine.poll() is None
        assert ended.wait() == 7
    finally:
        mine.kill()
        mine.wait()


def test_exit_with_success_after_a_stop_is_a_stop(bench: LocalBench) -> None:
    code = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        report(epoch=1)
        for _ in range(600):
            time.sleep(0.1)
    """
    events = bench.begin(bench.job("one", code))
    bench.backend.stop("one", Cause.PAUSED)
    end = closed(collect(bench.backend, all_closed("one"), into=events), "one")
    assert (end.outcome, end.cause) == (Outcome.STOPPED, Cause.PAUSED)


def test_an_end_that_somebody_else_has_waited_for_is_lost_and_not_taken_for_success(bench: LocalBench) -> None:
    bench.backend.submit(bench.job("one", "report(epoch=1)\n"))
    (local,) = bench.backend.jobs.values()
    assert local.child is not None
    os.waitpid(local.child.pid, 0)
    end = closed(collect(bench.backend, all_closed("one")), "one")
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.LOST)


def test_a_stop_after_the_script_finished_changes_nothing(bench: LocalBench) -> None:
    bench.backend.submit(bench.job("one", "report(epoch=1)\n"))
    (local,) = bench.backend.jobs.values()
    assert local.child is not None
    select.select([local.child.ended], [], [], 90.0)
    bench.backend.stop("one", Cause.BUDGET)
    end = closed(collect(bench.backend, all_closed("one")), "one")
    assert (end.outcome, end.cause) == (Outcome.COMPLETED, None)


def test_a_hanging_script_ends_at_max_run_and_says_so(bench: LocalBench) -> None:
    code = """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        report(epoch=1)
        time.sleep(60)
    """
    job = dataclasses.replace(bench.job("one", code), limits=Limits(max_run_s=2.0, grace_s=0.3))
    end = bench.end_of(job)
    assert (end.outcome, end.cause, end.message) == (Outcome.FAILED, Cause.TIME_OUT, "ran longer than max_run = 2 s")
    assert 2.3 <= end.billable_s < 30.0  # not the minute that it would sleep


@pytest.mark.parametrize(
    ("code", "cause", "message"),
    [
        ("import os; os.kill(os.getpid(), 11)", Cause.SCRIPT_ERROR, "ended by signal SIGSEGV"),
        ("raise ImportError('no module named left_pad')", Cause.SCRIPT_ERROR, "ImportError: no module named left_pad"),
        ("raise SystemExit(3)", Cause.SCRIPT_ERROR, "exit code 3"),
        ("x = bytearray(10**15)", Cause.OUT_OF_MEMORY, "MemoryError"),
        ("print('done so far')", Cause.NO_METRICS, "ended with success but reported nothing; last line: done so far"),
        ("print('[tune-metric]: {\"a\": ')", Cause.NO_METRICS, "ended with success but reported nothing that could be read (1 malformed)"),
    ],
)
def test_a_scripts_own_end_has_its_cause(bench: LocalBench, code: str, cause: Cause, message: str) -> None:
    end = bench.end_of(bench.job("one", code))
    assert (end.outcome, end.cause) == (Outcome.FAILED, cause)
    assert end.message.startswith(message)


def test_a_script_that_cannot_be_run_fails_its_job_alone(bench: LocalBench) -> None:
    good = bench.job("good", "report(epoch=1)\n")
    missing = dataclasses.replace(good, name="missing", script=str(bench.folder / "nothing.py"))
    plain = bench.folder / "train"
    plain.write_text("exit 0\n")
    forbidden = dataclasses.replace(good, name="forbidden", script=str(plain))
    alien = bench.folder / "alien"
    alien.write_bytes(b"#!/no/such/interpreter\n")
    alien.chmod(0o755)
    events = bench.run(missing, forbidden, dataclasses.replace(good, name="alien", script=str(alien)), good)
    ends = {name: closed(events, name) for name in ("missing", "forbidden", "alien")}
    assert {end.cause for end in ends.values()} == {Cause.SCRIPT_ERROR}
    assert "nothing.py does not exist" in ends["missing"].message
    assert "chmod +x" in ends["forbidden"].message
    assert "cannot be started" in ends["alien"].message
    assert all(end.billable_s == 0.0 and end.started_at is None for end in ends.values())
    assert closed(events, "good").outcome is Outcome.COMPLETED


def test_a_script_of_another_kind_runs_by_itself_and_values_keep_their_spaces(bench: LocalBench) -> None:
    script = bench.folder / "train.sh"
    script.write_text('#!/bin/sh\necho "[tune-metric]: {\\"count\\": $#, \\"last\\": \\"$2\\"}"\n')
    script.chmod(0o755)
    job = dataclasses.replace(bench.job("one", ""), script=str(script), arguments=("--text", "two  words; $HOME *"))
    assert bench.metrics_of(job) == [{"count": 2, "last": "two  words; $HOME *"}]


def test_arguments_arrive_unsplit(bench: LocalBench) -> None:
    values = ("--a", "x y", "", '"quoted" \\ $HOME', "é\n2")
    assert bench.metrics_of(bench.job("one", "import sys\nreport(arguments=sys.argv[1:])\n", *values)) == [{"arguments": list(values)}]


CONTROLLER = """
import sys
from pathlib import Path
from backends.job_spec import JobSpec
from backends.events import Reported
from backends.local.backend import LocalBackend
folder = Path(sys.argv[1])
backend = LocalBackend(folder / "experiment", leases_dir=folder / "leases")
backend.submit(JobSpec("one", 1, 1, sys.argv[2], instance_type="local.1cpu"))
while True:
    for event in backend.wait(30.0):
        if isinstance(event, Reported):
            print(event.metrics["pid"], event.metrics["leader"], flush=True)
"""


def start_controller(bench: LocalBench, escape: bool) -> tuple[subprocess.Popen[str], list[int]]:
    job = bench.job("one", STUBBORN + f"    report(pid=child({escape}), leader=os.getpid())\n    time.sleep(60)\n")
    command = [sys.executable, "-c", CONTROLLER, str(bench.folder), job.script]
    controller = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert controller.stdout is not None
    return controller, [int(word) for word in controller.stdout.readline().split()]


def gone_within(pids: list[int], limit_s: float = 45.0) -> bool:
    deadline = time.monotonic() + limit_s
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_jobs_die_with_a_killed_controller(bench: LocalBench) -> None:
    controller, pids = start_controller(bench, escape=True)
    assert len(pids) == 2
    controller.kill()
    controller.wait()
    assert controller.stdout is not None
    controller.stdout.close()
    assert gone_within(pids)


def test_adoption_ends_what_a_dead_controller_and_its_dead_watchdog_left(bench: LocalBench) -> None:
    controller, pids = start_controller(bench, escape=True)
    children = Path(f"/proc/{controller.pid}/task/{controller.pid}/children").read_text().split()
    (watchdog,) = [int(pid) for pid in children if b"watchdog_process.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(watchdog, signal.SIGKILL)
    controller.kill()
    controller.wait()
    assert controller.stdout is not None
    controller.stdout.close()
    assert all(map(alive, pids))
    spec = bench.job("one", "")
    bench.backend.adopt([AdoptedJob(spec, submitted_at=0.0, started=True, reports=1)], last_seen_at=0.0)
    assert not any(map(alive, pids))
    end = closed(bench.backend.wait(0.0), "one")
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.CONTROLLER)


def test_a_process_that_got_the_number_of_an_old_job_is_spared(bench: LocalBench) -> None:
    innocent = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        folder = bench.folder / "experiment" / "jobs" / "one"
        folder.mkdir(parents=True)
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        trace = {"pid": innocent.pid, "mark": "0123456789abcdef.1;", "started_ticks": [1, 2], "boot_id": boot_id}
        (folder / "process.json").write_text(json.dumps(trace))
        bench.backend.adopt([AdoptedJob(bench.job("one", ""), submitted_at=0.0, started=True)], last_seen_at=0.0)
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_close_ends_jobs_that_ignore_it_and_returns_in_bounded_time(tmp_path: Path) -> None:
    bench = LocalBench(tmp_path)
    events = bench.begin(bench.job("one", STUBBORN + "    report(pid=child(True))\n    time.sleep(60)\n"))
    before = time.monotonic()
    assert bench.backend.close() == []
    assert time.monotonic() - before < 30.0  # not the minute that they sleep
    assert not alive(of_job(events, "one", Reported)[0].metrics["pid"])
    assert bench.backend.wait(None) == []
    with pytest.raises(RuntimeError, match="closed"):
        bench.backend.submit(bench.job("two", ""))


def test_interrupt_of_the_terminal_does_not_reach_a_job(bench: LocalBench) -> None:
    events = bench.begin(
        bench.job("one", "import os, time\nreport(group=os.getpgid(0), session=os.getsid(0), pid=os.getpid())\ntime.sleep(60)\n")
    )
    found = of_job(events, "one", Reported)[0].metrics
    assert found["group"] == found["session"] == found["pid"] != os.getpgid(0)


HIDDEN = """
    import os, subprocess, sys, time
    code = [
        "import os, signal, sys, time",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "os.setsid()",
        "if {twice} and os.fork(): os._exit(0)",
        "print(os.getpid(), flush=True)",
        "os.close(1)",
        "time.sleep(600)",
    ]
    env = {"PATH": os.environ["PATH"]}
    child = subprocess.Popen([sys.executable, "-c", chr(10).join(code)], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    report(pid=int(child.stdout.readline()))
    time.sleep({wait_s})
"""


@pytest.mark.parametrize(("twice", "wait_s"), [("1", 0.0), ("0", 1.0)], ids=["forked twice", "seen while its parent lived"])
def test_a_descendant_that_hides_all_signs_is_ended_and_its_chase_is_not_the_script_s_time(
    bench: LocalBench, twice: str, wait_s: float
) -> None:
    code = HIDDEN.replace("{twice}", twice).replace("{wait_s}", str(wait_s))
    job = bench.job("one", code)
    events = bench.begin(job)
    (report,) = of_job(events, "one", Reported)
    collect(bench.backend, all_closed("one"), into=events)
    end = closed(events, "one")
    assert end.outcome is Outcome.COMPLETED
    assert not alive(int(report.metrics["pid"]))
    (over,) = of_job(events, "one", Ended)
    assert end.ended_at is not None
    assert over.at - end.ended_at >= 0.4
    assert end.billable_s == pytest.approx(end.ended_at - (end.started_at or 0.0))


def test_a_script_that_goes_on_in_the_background_is_told_that_this_was_ended(bench: LocalBench) -> None:
    code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n    os._exit(0)\nprint('started')"
    end = bench.end_of(bench.job("one", code))
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.NO_METRICS)
    assert "reported nothing; last line: started; what it had started and left running was ended with it" in end.message


def test_what_a_script_left_running_does_not_hold_its_cores_for_the_whole_grace_period(tmp_path: Path) -> None:
    bench = LocalBench(tmp_path, grace_s=600.0)
    events = bench.run(bench.job("one", STUBBORN + "    report(pid=child(True))\n"))
    assert not alive(of_job(events, "one", Reported)[0].metrics["pid"])
    assert closed(events, "one").outcome is Outcome.COMPLETED
    assert bench.backend.close() == []
