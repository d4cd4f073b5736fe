"""Several experiments at once: what they measure, what is said of them, and what becomes of them when somebody ends one or all."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import outrider
from backends.emulator.faults.injector import FaultInjector
from launch.__main__ import main
from tests.launch.conftest import ROOT

pytestmark = pytest.mark.slow

FOUR = ("--benchmark", "toy.yaml", "--method", "RS", "ASHA", "--num_seeds", "2", "--n_workers", "1", "--max_num_trials", "3")
SAME = ("trial", "configuration_id", "status", "fidelity", "repeat", "last_loss", "best_loss")


def measured(folder):
    """Return what the trials of each experiment of a tag were and came to, without times."""
    found = {}
    for path in sorted(folder.glob("*/*/trials.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.parent.name] = [{key: row[key] for key in SAME} for row in csv.DictReader(file)]
    return found


def children(process):
    """Return the processes that run experiments for a command."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or b"launch.experiment_process" not in (entry / "cmdline").read_bytes():
                continue
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == process.pid:
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(found)


def ended(process_id, within_s):
    """Fail where a process that is not our child is still there after so many seconds."""
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    with contextlib.closing(os.fdopen(descriptor)):
        assert select.select([descriptor], [], [], within_s)[0], f"process {process_id} is still there"


def test_they_measure_what_they_do_one_after_the_other_and_no_line_is_mixed_with_another(toy, run):
    code, out, err = run(*FOUR, "--experiment_tag", "apart")
    assert code == 0, out + err
    code, out, err = run(*FOUR, "--experiment_tag", "at-once", "--parallel", "2")
    assert code == 0, out + err
    found, before = measured(toy.results / "at-once"), measured(toy.results / "apart")
    assert sorted(found) == ["ASHA-local-0", "ASHA-local-1", "RS-local-0", "RS-local-1"]
    assert all(found[name] == before[name] for name in ("RS-local-0", "RS-local-1"))
    # Whether ASHA's order to stop finds a trial still running depends on the moment; what it tries does not.
    tried = [{name: [row["configuration_id"] for row in rows] for name, rows in one.items()} for one in (found, before)]
    assert tried[0] == tried[1]
    names = ("toy RS 0", "toy RS 1", "toy ASHA 0", "toy ASHA 1")
    mixed = [line for line in err.splitlines() if not line.startswith(tuple(f"{name} | " for name in names)) and "resume" not in line]
    assert mixed == []
    for name in names:
        lines = [line.removeprefix(f"{name} | ") for line in err.splitlines() if line.startswith(f"{name} | ")]
        assert re.match(r"\[\d of 4\] toy x ", lines[0])
        assert [line.split("] ")[1].split(":")[0] for line in lines if " starts" in line] == [f"trial {k} starts" for k in range(3)], lines
    assert err.count("prices are nominal") == 1
    assert "results: results/at-once" in out


def test_two_run_at_the_same_time(toy, run, gate):
    gate.opens_for(2)
    run(*FOUR, "--experiment_tag", "s", "--parallel", "2")
    spans = []
    for path in sorted((toy.results / "s").glob("*/*/trials.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file)]
        spans.append((rows[0]["started_at"], rows[-1]["ended_at"]))
    spans.sort()
    assert spans[1][0] < spans[0][1]  # the second began before the first was over
    assert spans[2][0] >= min(spans[0][1], spans[1][1])  # and no third beside them


def test_one_experiment_is_run_as_ever(toy, run):
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "s", "--parallel", "4")
    assert code == 0
    assert " | " not in err
    assert not (toy.results / "s" / "study.json").exists()


def test_one_that_is_killed_is_listed_with_its_cause_and_the_rest_runs(toy, controller, alive, run, gate):
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2")
    one.until("starts:", count=2)
    killed = children(one.process)[0]
    os.kill(killed, signal.SIGKILL)
    ended(killed, 45.0)
    gate.open()
    code, out, err = one.finish()
    assert code == 1
    assert "1 of 4 experiments did not come to a good end:" in out
    assert re.search(r"toy x \S+ x seed 0 on local: killed: its process was ended by SIGKILL", out)
    assert "Traceback" not in err
    assert alive(45.0) == []
    assert sum(len(rows) == 3 for rows in measured(toy.results / "s").values()) >= 3
    code, _, _ = run("--resume", "s", "--parallel", "2")
    assert code == 0
    assert {name: len(rows) for name, rows in measured(toy.results / "s").items()} == dict.fromkeys(
        ("ASHA-local-0", "ASHA-local-1", "RS-local-0", "RS-local-1"), 3
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_winds_down_all_that_run_and_a_resume_finishes_them(toy, controller, alive, run, gate, number):
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2")
    one.until("starts:", count=2)
    one.send(number)
    code, _, err = one.finish()
    assert code == 130
    assert err.count("winding down") == 1
    assert "Traceback" not in err
    assert alive(0.0) == []
    assert len([*(toy.results / "s").glob("*/*/result.json")]) == 2  # those that ran; no other was begun
    assert "resume with:" in err
    gate.open()
    code, _, _ = run("--resume", "s", "--parallel", "auto")
    assert code == 0
    assert [len(rows) for rows in measured(toy.results / "s").values()] == [3] * 4


def test_two_signals_stop_all_at_once(toy, controller, alive):
    (toy.folder / "toy.py").write_text(
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "from outrider_report import report\nreport(loss=1.0, epoch=1)\ntime.sleep(600)\n"
    )
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2", "--set", "local.grace_s=300", "--verbose")
    one.until("epoch=1", count=2)
    found = children(one.process)
    assert len(found) == 2
    one.send(signal.SIGINT)
    one.until("winding down")
    one.send(signal.SIGINT)
    code, _, err = one.finish()  # which waits for 80 s, not for the 300 that the scripts would make use of
    assert code == 130
    assert err.count("stopped at once; resume with") == 1
    assert "Traceback" not in err
    assert alive(45.0) == []
    for child in found:
        ended(child, 0.0)


def test_the_command_killed_takes_its_processes_with_it(toy, controller, alive, run, gate):
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2")
    one.until("starts:", count=2)
    found = children(one.process)
    one.send(signal.SIGKILL)
    one.finish()
    assert alive(45.0) == []
    for child in found:
        ended(child, 45.0)
    gate.open()
    code, _, _ = run("--resume", "s", "--parallel", "2")
    assert code == 0
    assert [len(rows) for rows in measured(toy.results / "s").values()] == [3] * 4


def test_an_exclusive_benchmark_is_alone(toy, controller, gate):
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2", "--exclusive")
    one.until("waiting for cores: ")
    gate.open()
    code, _, err = one.finish()
    assert code == 0, err
    spans = []
    for path in (toy.results / "s").glob("*/*/trials.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = [*csv.DictReader(file)]
        spans.append((rows[0]["started_at"], rows[-1]["ended_at"]))
    spans.sort()
    assert len(spans) == 4
    assert all(later[0] >= earlier[1] for earlier, later in pairwise(spans))


def test_the_exit_code_is_the_gravest_and_one_script_that_fails_everywhere_is_said_once(toy, run):
    words = ("--experiment_tag", "s", "--parallel", "2", "--set", "arguments.fail_above=0", "--max_failures", "9")
    code, out, err = run(*FOUR, *words)
    assert code == 3
    assert err.count("fail alike (") == 1
    assert "not begun" in out
    study = json.loads((toy.results / "s" / "study.json").read_text())
    assert len(study["experiments"]) == 4


def test_in_the_cloud_all_together_list_at_most_once_a_second(toy, run, monkeypatch):
    calls = []
    check_call = FaultInjector.check_call

    def counted(self, service, operation, *more):
        calls.append((time.monotonic(), operation))
        return check_call(self, service, operation, *more)

    monkeypatch.setattr(FaultInjector, "check_call", counted)
    words = (
        "--backend",
        "sagemaker",
        "--set",
        "arguments.instance_type=ml.m5.large",
        "--max_num_trials",
        "12",
        "--n_workers",
        "12",
    )
    with (toy.folder / "toy.yaml").open("a") as file:
        file.write("\nsagemaker: {framework: pytorch, framework_version: '2.9'}\n")
    words = (*words, "--benchmark", "toy.yaml", "--num_seeds", "2", "--experiment_tag", "s", "--parallel", "auto", "--yes", "--emulate")
    code, _, err = run(*words)
    assert code == 0, err
    finished = sum(len(rows) for rows in measured(toy.results / "s").values())
    assert finished == 24
    listings = [at for at, operation in calls if operation == "ListTrainingJobs"]
    assert len(listings) >= 2
    # The clock is the server's, which gets to a request later than it was sent, on a busy machine by more than a second.
    assert len(listings) <= 3 + listings[-1] - listings[0]
    made = Counter(operation for _, operation in calls if not operation.startswith("Job"))  # those are what the jobs' machines ask for
    # Looks at jobs, logs and marks to stop are as many as the seconds that the machine takes, the others as many as jobs.
    looks = sum(made[operation] for operation in ("ListTrainingJobs", "FilterLogEvents", "GetObject"))
    assert (made.total() - looks) / finished <= 4, made
    assert looks <= 2 * finished + 2 * (calls[-1][0] - calls[0][0]), made
    # Of what is kept the best remains, and the rest goes at the end of each experiment, all at once.
    assert (made["ListObjectsV2"], made["DeleteObjects"]) == (2, 2)


def test_a_study_file_says_how_many_and_python_too(toy, run, capfd):
    (toy.folder / "study.yaml").write_text(
        "benchmarks: [toy.yaml]\nmethods: [RS]\nseeds: 2\nparallel: 2\nset: {budget.max_num_trials: 2, n_workers: 1}\n"
    )
    code, _, err = run("--study", "study.yaml", "--experiment_tag", "s")
    assert code == 0
    assert {line.partition(" | ")[0] for line in err.splitlines() if " | " in line} == {"toy RS 0", "toy RS 1"}
    results = outrider.run("toy.yaml", num_seeds=2, parallel="auto", n_workers=1, max_num_trials=2, experiment_tag="p")
    assert [len(result.trials) for result in results] == [2, 2]
    assert measured(toy.results / "p") == measured(toy.results / "s")
    assert "toy RS 1 | " in capfd.readouterr().err


def test_a_resume_goes_by_how_many_the_study_runs_at_once_and_a_dry_run_says_it(toy, run):
    words = ("--benchmark", "toy.yaml", "--num_seeds", "2", "--experiment_tag", "s", "--n_workers", "1", "--max_num_trials", "1")
    assert "one experiment at a time (--parallel N runs N at once)" in run(*words, "--dry_run")[1].splitlines()
    said = "up to 2 experiments at once (--parallel 2), each as soon as this machine has cores for all its workers"
    assert said in run(*words, "--parallel", "2", "--dry_run")[1].splitlines()
    assert run(*words, "--parallel", "2")[0] == 0
    more = ("--resume", "s", "--num_seeds", "4")
    assert said in run(*more, "--dry_run")[1].splitlines()
    code, _, err = run(*more)
    assert code == 0
    assert {line.partition(" | ")[0] for line in err.splitlines() if " | " in line} == {"toy RS 2", "toy RS 3"}
    # What is said now wins, and holds from then on.
    _, _, err = run("--resume", "s", "--num_seeds", "5", "--parallel", "1")
    assert " | " not in err
    assert "--parallel 1: kept in study.json in place of 2, so that later resumes go by it too" in err.splitlines()
    assert json.loads((toy.results / "s" / "study.json").read_text())["flags"]["parallel"] == 1


def test_money_that_is_shared_first_come_is_spent_one_after_the_other(toy, run):
    words = ("--benchmark", "toy.yaml", "--num_seeds", "2", "--n_workers", "1", "--experiment_tag", "s", "--shares", "first_come")
    _, _, err = run(*words, "--max_cost", "5", "--max_run", "20", "--parallel", "2")
    assert "--parallel 2: one after the other: with `shares: first_come` each must know what those before it spent" in err
    assert " | " not in err


def test_one_panel_shows_all_of_them(toy):
    controller, terminal = pty.openpty()
    words = [*FOUR, "--parallel", "2", "--set", "arguments.seconds=0.3"]
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "hpo_main.py"), *words],
        cwd=toy.folder,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "140", "LINES": "30", "OUTRIDER_LEASES": str(toy.folder / "leases")},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    drawn = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(controller, 65536):
            drawn += chunk
    os.close(controller)
    process.communicate(timeout=60)
    assert process.returncode == 0
    text = drawn.decode()
    assert re.search(r"\| [0-3]/4 experiments over \| 2 at once", text)
    assert re.search(r"toy RS 0 \| [^|]* \| [0-3]/3 trials done", text)
    assert re.search(r"toy ASHA 0 \| [^|]* \| [0-3]/3 trials done", text)


@pytest.mark.usefixtures("gate")
def test_stop_ends_all_of_a_tag(toy, controller, alive):
    one = controller(*FOUR, "--experiment_tag", "s", "--parallel", "2")
    one.until("starts:", count=2)
    assert main(["stop", "s"]) == 0
    code, _, err = one.finish()
    assert code == 130
    assert "resume with:" in err
    assert alive(0.0) == []
    assert len([*(toy.results / "s").glob("*/*/result.json")]) == 2


def test_each_has_its_share_of_the_money_and_all_together_stay_below_the_cap(toy, run):
    words = ("--benchmark", "toy.yaml", "--method", "RS", "--num_seeds", "2", "--n_workers", "1", "--set", "arguments.seconds=0.1")
    cap = 0.0005  # a job of 10 s and its grace may cost 0.00021
    _, _, err = run(*words, "--experiment_tag", "s", "--max_cost", str(cap), "--max_run", "10", "--max_num_trials", "50", "--parallel", "2")
    study = json.loads((toy.results / "s" / "study.json").read_text())
    assert [one["share_usd"] for one in study["experiments"]] == [cap / 2] * 2
    spent = [json.loads(path.read_text())["spent_usd"] for path in (toy.results / "s").glob("*/*/result.json")]
    assert all(0 < usd <= cap / 2 for usd in spent), spent
    assert len(spent) == 2
    assert err.count(" starts: ") >= 2  # how many more depends on how long each takes
