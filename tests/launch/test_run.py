"""`outrider run` from the outside: what it prints, leaves and returns."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys

import pytest

import launch
from tests.launch.conftest import ROOT, rows


@pytest.mark.slow
def test_run_leaves_what_was_measured(toy, run):
    code, out, err = run("--benchmark", "toy.yaml", "--experiment_tag", "first")
    assert code == 0
    folder = toy.experiment("first")
    assert out.startswith("Best seen: configuration ")
    assert out.rstrip().endswith(f"results: {folder.relative_to(toy.folder)}/trials.csv, reports.csv, journal.sqlite, logs/")
    assert err.count("starts: x=") == err.count(" completed after ") == 4
    trials = rows(folder / "trials.csv")
    assert [row["trial"] for row in trials] == ["0", "1", "2", "3"]
    assert {row["status"] for row in trials} == {"completed"}
    assert {row["fidelity"] for row in trials} == {"2"}
    for row in trials:
        assert float(row["last_loss"]) == pytest.approx((float(row["x"]) - 0.3) ** 2 + 0.5)
        assert float(row["cost_usd"]) == pytest.approx(float(row["duration_s"]) / 3600 * 0.05)
        assert row["started_at"].endswith("Z")
    reports = rows(folder / "reports.csv")
    assert sorted((row["trial"], row["epoch"]) for row in reports) == [(str(t), str(e)) for t in range(4) for e in (1, 2)]
    known = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    assert known["schema_version"] == 1
    assert "pydantic" in known["packages"]
    assert known["places"]["checkpoints"]["free_bytes"] > 0
    assert set(known["places"]) == {"cache", "checkpoints"}
    assert (folder / "definition.yaml").is_file()
    assert len(list((folder / "logs").iterdir())) == 4


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ASHA", "MSR"])
def test_a_script_that_is_not_told_how_far_to_go_is_stopped_early(toy, run, method):
    (toy.folder / "far.py").write_text(
        "import sys, time\n"
        "for epoch in range(1, 10):\n"
        "    print(f'epoch {epoch} loss {sys.argv[1][4:]}', flush=True)\n"
        "    time.sleep(30.0 * (sys.argv[1] == '--x=3'))\n"
    )
    (toy.folder / "far.yaml").write_text(
        "name: far\nscript: far.py\nspace: {x: {choice: [1, 2, 3]}}\nobjectives: {loss: min}\nn_workers: 1\n"
        "metrics: {epoch: 'epoch ([0-9]+)', loss: 'loss ([0-9]+)'}\nfidelity: {kind: progressive, reported_as: epoch, full: 9}\n"
        f"methods: {{M: {{base: {method}, {'reduction_factor: 2' if method == 'ASHA' else 'grace_population: 1'}, "
        "points_to_evaluate: [{x: 1}, {x: 2}, {x: 3}]}}\n"
    )
    code, _, err = run("--benchmark", "far.yaml", "--method", "M", "--experiment_tag", "far")
    assert code == 0, err
    found = rows(toy.results / "far" / "far" / "M-local-0" / "trials.csv")
    assert [(row["x"], row["status"], row["fidelity"]) for row in found] == [
        ("1", "completed", "9"),
        ("2", "completed", "9"),
        ("3", "stopped", "1"),
    ]


@pytest.mark.slow
def test_same_seed_same_search_and_another_seed_another(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "a")
    run("--benchmark", "toy.yaml", "--experiment_tag", "b")
    run("--benchmark", "toy.yaml", "--experiment_tag", "c", "--random_seed", "1")
    a, b, c = ([row["x"] for row in rows(toy.experiment(tag) / "trials.csv")] for tag in "abc")
    assert a == b != c


@pytest.mark.slow
def test_seeds_are_a_count_from_the_first(toy, run):
    code, out, _ = run("--benchmark", "toy.yaml", "--start-seed", "5", "--num-seeds=3", "--experiment-tag", "s", "--max-num-trials", "1")
    assert code == 0
    assert sorted(path.name for path in (toy.results / "s" / "toy").iterdir()) == ["RS-local-5", "RS-local-6", "RS-local-7"]
    assert re.match(r"benchmark +method +objective .*\n.*\ntoy +RS +loss .* 3 ", out)


@pytest.mark.slow
def test_several_benchmarks_and_methods(toy, run):
    (toy.folder / "other.yaml").write_text((toy.folder / "toy.yaml").read_text().replace("name: toy", "name: other"))
    words = ("--benchmark", "toy.yaml", "other.yaml", "--method", "RS", "GRID", "--method_args", "points=2", "--experiment_tag", "m")
    code, _, err = run(*words, "--method", "GRID", "--max_num_trials", "2")
    assert code == 0
    assert err.count(" x GRID x seed 0 on local") == 2
    code, _, err = run("--benchmark", "toy.yaml", "other.yaml", "--method", "RS", "GRID", "--experiment_tag", "n", "--max_num_trials", "1")
    assert code == 4  # the grid was not finished
    assert err.count(" on local: ") == 4


@pytest.mark.slow
def test_json_and_csv_on_stdout_hold_every_trial(toy, run):
    code, out, _ = run("--benchmark", "toy.yaml", "--format", "json", "--num_seeds", "2")
    assert code == 0
    experiments = json.loads(out)["experiments"]
    assert [(one["seed"], len(one["trials"]), one["reason"]) for one in experiments] == [(0, 4, "max_num_trials"), (1, 4, "max_num_trials")]
    _, out, _ = run("--benchmark", "toy.yaml", "--format", "csv", "--experiment_tag", experiments[0]["tag"], "--num_seeds", "2")
    table = list(csv.DictReader(io.StringIO(out)))
    assert [(row["seed"], row["trial"]) for row in table] == [(str(seed), str(trial)) for seed in (0, 1) for trial in range(4)]


def test_dry_run_shows_the_worst_case_and_starts_nothing(toy, run):
    code, out, _ = run("--benchmark", "toy.yaml", "--dry_run", "--max_run", "3595")
    assert code == 0
    assert not toy.results.exists()
    # four trials of an hour (with the grace of five seconds), one core at $0.05
    assert "worst case of all: $0.20 (nominal prices); nothing was started" in out
    assert out.splitlines()[2].split()[:6] == ["toy", "RS", "0", "local", "local.1cpu", "4"]


@pytest.mark.slow
def test_set_fixes_and_sweeps(toy, run):
    code, _, _ = run("--benchmark", "toy.yaml", "--set", "x=0.1,0.2,0.3", "--method", "GRID", "--experiment_tag", "w", "--repeats", "2")
    assert code == 4
    trials = rows(toy.experiment("w", "GRID") / "trials.csv")
    assert [(row["x"], row["repeat"]) for row in trials] == [("0.1", "0"), ("0.1", "1"), ("0.2", "0"), ("0.2", "1")]


@pytest.mark.slow
def test_listed_trials_in_interleaved_order(toy, run):
    toy.define(space="", trials="[{x: 0.1}, {x: 0.2}]", repeats="2", order="interleave")
    code, out, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "l")
    assert code == 0
    trials = rows(toy.experiment("l", "LISTED") / "trials.csv")
    assert [(row["x"], row["repeat"]) for row in trials] == [("0.1", "0"), ("0.2", "0"), ("0.1", "1"), ("0.2", "1")]
    assert "95 % interval" in out


@pytest.mark.slow
def test_failures_are_named_and_end_it_with_3(toy, run):
    code, out, err = run("--benchmark", "toy.yaml", "--set", "arguments.fail_above=-1", "--experiment_tag", "f")
    assert code == 3
    assert "is too much" in out
    assert "Traceback" not in err
    assert "mend the script, then start anew" in err
    trials = rows(toy.experiment("f") / "trials.csv")
    # Two alike are enough; what the other worker had begun may fail by itself before it is stopped.
    assert [row["cause"] for row in trials if row["status"] == "failed"] in (["script_error"] * 2, ["script_error"] * 3)
    assert len(trials) <= 3  # the second worker may have started another one meanwhile


@pytest.mark.slow
def test_export_writes_the_files_anew(toy, run, capfd):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    path = toy.experiment("t") / "trials.csv"
    before = path.read_text()
    path.unlink()
    assert launch.__main__.main(["export", "t"]) == 0
    assert path.read_text() == before
    assert str(path.relative_to(toy.folder)) in capfd.readouterr().out


@pytest.mark.slow
def test_replay_of_an_experiment_on_the_simulated_back_end(toy, run):
    toy.define(space="{x: {choice: [0.1, 0.5, 0.9]}}")
    run("--benchmark", "toy.yaml", "--experiment_tag", "real")
    reports = toy.experiment("real") / "reports.csv"
    words = ("--benchmark", "toy.yaml", "--backend", "simulated", "--set", f"simulated.table={reports}", "--experiment_tag", "again")
    code, _, _ = run(*words)
    assert code == 0
    real = {row["x"]: row["last_loss"] for row in rows(toy.experiment("real") / "trials.csv")}
    again = {row["x"]: row["last_loss"] for row in rows(toy.results / "again" / "toy" / "RS-simulated-0" / "trials.csv")}
    assert real == again


def test_list_and_show(toy, run):
    code, out, _ = run("--list")
    assert code == 0
    assert any(line.startswith("demo ") for line in out.splitlines())
    code, out, _ = run("--show", "toy.yaml", "--max_run", "7")
    assert code == 0
    assert any("max_run: 7" in line and "--set" in line for line in out.splitlines())
    assert any(line.startswith("name: toy") and "toy.yaml:1" in line for line in out.splitlines())


@pytest.mark.slow
def test_journal_is_the_only_truth(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    database = sqlite3.connect(toy.experiment("t") / "journal.sqlite")
    kinds = [kind for (kind,) in database.execute("SELECT kind FROM records ORDER BY sequence")]
    database.close()
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "code": 1,
        "suggest": 4, "start": 4, "accepted": 4, "started": 4, "reported": 8, "ended": 4, "closed": 4, "settle": 4, "tell": 4, "end": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_a_whole_per_job_level_reaches_the_script_whole(toy, run):
    toy.define(fidelity="{kind: per_job, argument: epochs, ladder: [1], full: 3}")
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "w", "--max_num_trials", "1")
    assert code == 0
    assert [row["epoch"] for row in rows(toy.experiment("w") / "reports.csv")] == ["1", "2", "3"]


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_change_the_exit_code(toy):
    words = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", "toy.yaml", "--set", "arguments.fail_above=-1"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=toy.folder)
    process.stdout.close()
    assert b"BrokenPipe" not in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 3


@pytest.mark.slow
def test_what_is_decided_for_the_user_is_said_once_before_the_first_trial(toy, run):
    code, _, err = run("--benchmark", "toy.yaml", "--num_seeds", "2", "--n_workers", "999")
    assert code == 0
    lines = err.splitlines()
    said = [line.strip() for line in lines if line.startswith("  ")]
    assert len(said) == len(set(said))
    assert any(line.startswith("n_workers 999 -> ") and line.endswith("no more of local.1cpu fit here at once") for line in said)
    assert "a job may take as long as it takes; --max_run S limits it" in said
    first = next(at for at, line in enumerate(lines) if "trial 0 starts" in line)
    assert all(lines.index(f"  {line}") < first for line in said)


NOT_FOR_A_LOCAL_RUN = (
    *("backends.emulator", "backends.sagemaker.jobs", "benchmarking.remote.keeping", "boto3", "botocore"),
    *("benchmarking.forecasting.model.draws", "launch.dry_run", "launch.launching.launching", "numpy", "pandas", "rich", "scipy", "torch"),
)


@pytest.mark.slow
def test_a_local_run_imports_nothing_of_what_it_does_not_use(toy):
    code = (
        "import sys\nfrom launch.__main__ import main\n"
        "code = main(['run', '--benchmark', 'toy.yaml', '--method', 'RS', '--max_num_trials', '1', '--experiment_tag', 'i'])\n"
        f"print([name for name in {NOT_FOR_A_LOCAL_RUN} if name in sys.modules], file=sys.stderr)\nsys.exit(code)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=toy.folder, env=environ, capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")
