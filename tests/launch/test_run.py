"""`hpo_main.py` from the outside: what it prints, leaves and returns."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys

import pytest

import launch
from definitions.errors import UserError
from tests.launch.conftest import ROOT


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    assert (folder / "definition.yaml").is_file()
    assert len(list((folder / "logs").iterdir())) == 4


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
    assert out.startswith("benchmark  method  seed  trials")


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
    assert [row["cause"] for row in trials if row["status"] == "failed"] == ["script_error"] * 2
    assert len(trials) <= 3  # the second worker may have started another one meanwhile


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no --benchmark is given"),
        (("--benchmark", "dmeo"), "did you mean 'demo'"),
        (("--benchmark", "nowhere.yaml"), "nowhere.yaml"),
        (("--benchmark", "toy.yaml", "--method", "RSS"), "did you mean 'RS'"),
        (("--benchmark", "toy.yaml", "--backend", "loacl"), "did you mean 'local'"),
        (("--benchmark", "toy.yaml", "--warm_pool", "1"), "warm_pool"),
        (("--benchmark", "toy.yaml", "--num_seeds", "0"), "nothing would run"),
        (("--benchmark", "toy.yaml", "--max_failurse", "1"), "did you mean --max_failures"),
        (("--benchmark", "toy.yaml", "--set", "epohcs=3"), "epohcs"),
        (("--benchmark", "toy.yaml", "--max_run", "-1"), "max_run"),
        (("--benchmark", "toy.yaml", "--n_workers", "none"), "n_workers"),
        (("--benchmark", "toy.yaml", "--method_args", "points=0", "--method", "GRID"), "points"),
        (("--benchmark", "toy.yaml", "--experiment_tag", "no/slash"), "tag"),
        (("--benchmark", "toy.yaml", "toy.yaml"), "selected twice"),
        (("--resume", "never"), "never"),
        (("--benchmark", "toy.yaml", "--resume", "never"), "never"),
        (("--benchmark", "toy.yaml", "--set", "script=gone.py"), "gone.py"),
        (("--benchmark", "toy.yaml", "--set", "instance_type=local.9999cpu"), "instance_type"),
        (("--benchmark", "toy.yaml", "--backend", "simulated"), "simulated.table"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(toy, run, words, said):
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert "error: " in err
    assert said in err
    assert "Traceback" not in err
    assert not toy.results.exists()


@pytest.mark.slow
def test_a_refused_start_does_not_occupy_its_tag(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "other", "--max_num_trials", "1")
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--set", "instance_type=local.9999cpu", "--num_seeds", "2")
    assert code == 2
    assert [path.name for path in toy.results.iterdir()] == ["other"]
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    assert code == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"space": ""}, "space"),
        ({"space": "{x: {choice: []}}"}, "choice is empty"),
        ({"space": "{x: {uniform: [1, 0]}}"}, "uniform from 1 to 0"),
        ({"objectves": "{loss: min}"}, "objectives"),
        ({"repeats": "0"}, "repeats"),
        ({"valid": "['y > 1']"}, "names 'y'"),
        ({"valid": "['x > 2']", "space": "{x: {choice: [0, 1]}}"}, "no configuration is valid"),
        ({"method": "ASHAA"}, "ASHAA"),
    ],
)
def test_wrong_definitions_are_told_with_their_file(toy, run, changes, said):
    toy.define(**changes)
    code, _, err = run("--benchmark", "toy.yaml")
    assert code == 2
    assert said in err
    assert "toy.yaml" in err or "toy" in err
    assert "Traceback" not in err


def test_results_folder_that_cannot_be_made(toy, run):
    (toy.folder / "taken").write_text("a file")
    code, _, err = run("--benchmark", "toy.yaml", "--results_dir", "taken")
    assert code == 2
    assert "cannot" in err
    assert "--results_dir" in err


@pytest.mark.slow
def test_same_tag_goes_on_if_it_is_the_same_and_is_refused_if_not(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    assert (code, err.count("starts:")) == (0, 0)
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--max_num_trials", "6")
    assert (code, err.count("starts:")) == (0, 2)
    before = (toy.experiment("t") / "trials.csv").read_text()
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--set", "seconds=0.01")
    assert code == 2
    assert "another definition" in err
    assert (toy.experiment("t") / "trials.csv").read_text() == before


@pytest.mark.slow
def test_resume_needs_only_the_tag(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--num_seeds", "2")
    (toy.folder / "toy.yaml").unlink()
    code, _, err = run("--resume", "t", "--max_num_trials", "5")
    assert (code, err.count("starts:")) == (0, 2)


@pytest.mark.slow
def test_export_writes_the_files_anew(toy, run, capfd):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    path = toy.experiment("t") / "trials.csv"
    before = path.read_text()
    path.unlink()
    assert launch.__main__.main(["export", "t"]) == 0
    assert path.read_text() == before
    assert str(path.relative_to(toy.folder)) in capfd.readouterr().out


def test_export_of_an_unknown_tag_speaks_of_export(toy, capfd):
    assert launch.__main__.main(["export", "nothere"]) == 2
    assert capfd.readouterr().err.startswith("error: export nothere: there is nothing of this tag in results\n")


def test_without_a_benchmark_those_that_exist_are_listed_with_the_command(toy, run):
    code, _, err = run()
    lines = err.splitlines()
    assert (code, lines[0], lines[-1]) == (2, "error: no --benchmark is given", "  e.g. outrider run --benchmark demo")
    assert [line.split()[0] for line in lines[2:-1]] >= ["ddp", "demo", "digits", "gbm", "resnet_cifar10"]


@pytest.mark.slow
def test_an_end_by_time_says_what_was_used_and_the_printed_line_goes_on(toy, run):
    words = ("--benchmark", "toy.yaml", "--experiment_tag", "b", "--set", "arguments.seconds=0.5", "max_num_trials=3", "--n_workers", "1")
    code, out, err = run(*words, "--max_wallclock_time", "1.4")
    assert code == 0
    assert re.search(r"^Ended by its budget: .* \(max_wallclock_time = 1\.4 s, \d\.\d s used\)\.$", out, re.M)
    assert re.search(r"interrupted .* \(budget_spent: max_wallclock_time = 1\.4 s, \d\.\d s used\)$", err, re.M)
    (line,) = re.findall(r"^resume with more: outrider run (.*)$", err, re.M)
    assert line == "--resume b --max_wallclock_time 2.8"
    code, _, err = run(*line.split()[:-1], "60")
    assert code == 0
    assert [row["status"] for row in rows(toy.experiment("b") / "trials.csv")] == ["completed"] * 3


@pytest.mark.slow
def test_too_many_failures_name_the_budget_and_how_to_go_on(toy, run):
    words = (
        "--benchmark",
        "toy.yaml",
        "--experiment_tag",
        "f",
        "--set",
        "arguments.fail_above=0.5",
        "space.x={choice: [0.1, 0.6, 0.7, 0.8]}",
    )
    code, out, err = run(*words, "--method", "GRID", "--max_failures", "1", "--n_workers", "1")
    assert code == 3
    assert "(max_failures = 1, 2 trials failed)" in out
    assert err.rstrip().endswith("or go on in spite of the failures with: outrider run --resume f --max_failures 3")


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
def test_python_twin(toy):
    (result,) = launch.run("toy.yaml", results_dir="elsewhere", experiment_tag="p", settings=["max_num_trials=2"])
    assert (result.ending.exit_code, len(result.state.trials)) == (0, 2)
    assert (toy.folder / "elsewhere" / "p" / "toy" / "RS-local-0" / "trials.csv").is_file()
    with pytest.raises(UserError, match="no such option"):
        launch.run("toy.yaml", methods=["RS"])


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
def test_an_unknown_price_is_unknown_and_cannot_be_capped(toy, run):
    (toy.folder / "table.csv").write_text(
        "x,instance_type,elapsed_s,loss\n" + "".join(f"{x},{t},{x + 1},{x}\n" for x in (1, 2) for t in TYPES)
    )
    toy.define(
        space=f"{{x: {{choice: [1, 2]}}, instance_type: {{choice: [{', '.join(TYPES)}]}}}}",
        objectives="{cost_usd: min, loss: min}",
        fidelity="",
        simulated="{table: table.csv}",
        exclusive="false",
    )
    words = ("--benchmark", "toy.yaml", "--backend", "simulated", "--experiment_tag", "u")
    code, out, _ = run(*words, "--max_cost", "5")
    assert (code, out) == (2, "")
    code, out, _ = run(*words)
    assert code == 0
    found = rows(toy.results / "u" / "toy" / "RS-simulated-0" / "trials.csv")
    assert {row["instance_type"]: row["cost_usd"] == "" for row in found} == {"ml.zz9.xlarge": True, "ml.m5.xlarge": False}
    assert {row["status"] for row in found} == {"completed"}
    verdict = out.split("\n\n")[0]
    assert "ml.m5.xlarge" in verdict
    assert "ml.zz9.xlarge" not in verdict


TYPES = ("ml.zz9.xlarge", "ml.m5.xlarge")


def an_hour_goes_by(experiment):
    """Let all that the journal says have been an hour earlier."""
    database = sqlite3.connect(experiment / "journal.sqlite")
    with database:
        database.execute("UPDATE records SET at = at - 3600")
        database.execute("UPDATE sessions SET last_at = last_at - 3600, started_at = started_at - 3600")
    database.close()


@pytest.mark.slow
def test_a_whole_per_job_level_reaches_the_script_whole(toy, run):
    toy.define(fidelity="{kind: per_job, argument: epochs, ladder: [1], full: 3}")
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "w", "--max_num_trials", "1")
    assert code == 0
    assert [row["epoch"] for row in rows(toy.experiment("w") / "reports.csv")] == ["1", "2", "3"]


@pytest.mark.slow
def test_pauses_between_sessions_do_not_count_twice(toy, run):
    words = ("--benchmark", "toy.yaml", "--experiment_tag", "n", "--max_num_trials")
    run(*words, "1")
    an_hour_goes_by(toy.experiment("n"))
    run(*words, "1")  # starts nothing
    an_hour_goes_by(toy.experiment("n"))
    _, _, err = run(*words, "2")
    (elapsed,) = re.findall(r"\[ *(-?[\d.]+) s\] trial 1 starts", err)
    assert 0.0 <= float(elapsed) < 600.0


@pytest.mark.slow
def test_a_reader_that_goes_away_does_not_change_the_exit_code(toy):
    words = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", "toy.yaml", "--set", "arguments.fail_above=-1"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=toy.folder)
    process.stdout.close()
    assert b"BrokenPipe" not in process.stderr.read()
    process.stderr.close()
    assert process.wait() == 3


def test_a_cap_that_allows_no_trial_is_told_before(toy, run):
    code, _, err = run("--benchmark", "toy.yaml", "--dry_run", "--max_cost", "0.0001")
    assert code == 2
    assert "allows no trial" in err


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


@pytest.mark.slow
def test_an_experiment_that_began_without_gpus_goes_on_without_and_a_new_one_gets_one(toy, run, monkeypatch):
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "before")
    assert code == 0
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "before", "--max_num_trials", "5")
    assert code == 0
    assert "1 GPU is here, trials ask for none" in err
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "after")
    assert code == 0
    assert "each trial gets 1 of 1 GPUs" in err
    assert "cpu.1gpu" in (toy.experiment("after") / "definition.yaml").read_text(encoding="utf-8")
    code, _, err = run("--resume", "after", "--max_num_trials", "5")
    assert code == 0
    assert "each trial gets 1 of 1 GPUs" in err
