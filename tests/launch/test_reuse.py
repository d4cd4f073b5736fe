"""`reuse: true`: what was measured already is not run again."""

from __future__ import annotations

import csv
import shutil

import pytest

pytestmark = pytest.mark.slow

LISTED = {"space": "", "trials": "[{x: 0.1}, {x: 0.5}, {x: 0.1}, {x: 0.7}]", "n_workers": "1", "budget": ""}


def rows(folder):
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def jobs(folder):
    return sorted(path.name.rpartition("-t")[2] for path in (folder / "logs").iterdir())


def test_a_duplicate_takes_the_results_of_the_first_and_costs_nothing(toy, run):
    toy.define(**LISTED, reuse="true", repeats="2")
    code, out, err = run("--benchmark", "toy.yaml", "--experiment_tag", "a")
    assert code == 0, err
    folder = toy.experiment("a", "LISTED")
    found = rows(folder)
    assert len(jobs(folder)) == 6  # three configurations, twice each
    first = {row["repeat"]: row for row in found if row["x"] == "0.1" and not row["message"]}
    again = [row for row in found if row["message"]]
    for row in again:
        # Each repeat stands for itself.
        assert row["message"] == f"reused: measured by trial {first[row['repeat']]['trial']}"
        same = ("last_loss", "best_loss", "duration_s", "fidelity", "configuration_id")
        assert [row[name] for name in same] == [first[row["repeat"]][name] for name in same]
        assert (row["attempts"], row["cost_usd"], row["status"]) == ("0", "0.0", "completed")
    assert len(again) == 2
    assert "2 of 8 trials were not run: they were measured before" in out
    assert "completed (reused)" in out
    with (folder / "reports.csv").open(encoding="utf-8", newline="") as file:
        reports = [row for row in csv.DictReader(file) if row["trial"] == again[0]["trial"]]
    assert [row["epoch"] for row in reports] == ["1", "2"]


def test_other_runs_serve_where_program_code_and_seed_are_the_same(toy, run):
    toy.define(**LISTED)
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old")[0] == 0
    old = toy.experiment("old", "LISTED")
    toy.define(reuse="true", warm_start="[old]", space="{x: {choice: [0.1, 0.5, 0.7, 0.9]}, fail_above: 9.0}", arguments="{seconds: 0.0}")
    words = ("--benchmark", "toy.yaml", "--method", "GRID", "--max_num_trials", "4")
    code, out, err = run(*words, "--experiment_tag", "b", "--dry_run")
    assert code == 0, err
    assert f"reuse: 4 of 4 measurements of {old.relative_to(toy.folder)} may be taken" in out
    assert run(*words, "--experiment_tag", "b")[0] == 0
    # What was a fixed argument there is a dimension here, of the same value.
    new = toy.experiment("b", "GRID")
    assert len(jobs(new)) == 1
    assert sorted(row["message"] for row in rows(new) if row["message"]) == sorted(
        f"reused: measured by trial {number} of results/old/toy/LISTED-local-0" for number in (0, 1, 3)
    )
    # Another version of the code measures anew, and a script that gets a seed does so for each of them.
    script = toy.folder / "toy.py"
    script.write_text(script.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    code, _, err = run(*words, "--experiment_tag", "c")
    assert "reuse: 0 of 4 measurements of results/old/toy/LISTED-local-0 may be taken; others are of another version of the code" in err
    assert len(jobs(toy.experiment("c", "GRID"))) == 4
    shutil.rmtree(toy.results / "old")
    code, _, err = run("--resume", "c", "--max_num_trials", "5")
    assert code == 0, err


@pytest.mark.parametrize("told", ["argument", "variable"])
@pytest.mark.parametrize(("seeds", "run_again"), [((0, 0), 0), ((0, 1), 2)])
def test_a_seeded_script_is_reused_for_its_seed_alone(toy, run, told, seeds, run_again):
    changes = {**LISTED, "trials": "[{x: 0.1}, {x: 0.5}]"}
    script = toy.folder / "toy.py"
    if told == "argument":
        script.write_text(script.read_text(encoding="utf-8").replace("given =", "parser.add_argument('--seed')\ngiven ="), encoding="utf-8")
        changes |= {"seed_argument": "seed"}
    else:
        # In a module beside the script, as such helpers mostly are.
        (toy.folder / "luck.py").write_text("import os\nSEED = int(os.environ['OUTRIDER_SEED'])\n", encoding="utf-8")
    toy.define(**changes)
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old", "--start_seed", str(seeds[0]))[0] == 0
    toy.define(**changes, reuse="true", warm_start="[old]")
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "new", "--start_seed", str(seeds[1]))
    assert code == 0
    assert sum(not row["message"] for row in rows(toy.experiment("new", "LISTED", seeds[1]))) == run_again
    assert ("it had another seed, and the script gets to know it" in err) == (run_again > 0)


def test_asha_stops_what_is_reused_where_it_would_have_stopped_the_job(toy, run):
    toy.define(fidelity="{kind: progressive, argument: epochs, reported_as: epoch, full: 9}", **LISTED)
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old")[0] == 0
    fidelity = "{kind: progressive, argument: epochs, reported_as: epoch, full: 9}"
    toy.define(
        fidelity=fidelity, space="{x: {choice: [0.1, 0.5, 0.7]}}", points_to_evaluate="[{x: 0.1}, {x: 0.7}, {x: 0.5}]", n_workers="1",
        reuse="true", methods="{FIRST: {base: ASHA, rungs: [1]}}", budget="{max_num_trials: 3}",
    )  # fmt: skip
    # The tag is named by the flag, for reuse alone: what ASHA learns of it would stop the first ones too.
    code, _, err = run("--benchmark", "toy.yaml", "--method", "FIRST", "--experiment_tag", "new", "--warm_start", "old")
    assert code == 0, err
    found = rows(toy.experiment("new", "FIRST"))
    assert [(row["x"], row["status"], row["fidelity"]) for row in found] == [
        ("0.1", "completed", "9"), ("0.7", "stopped", "1"), ("0.5", "completed", "9"),
    ]  # fmt: skip
    assert [row["attempts"] for row in found] == ["0"] * 3


def test_asha_that_promotes_goes_on_with_a_paused_trial_by_the_reports_that_are_left(toy, run):
    fidelity = "{kind: progressive, argument: epochs, reported_as: epoch, full: 3}"
    old = ", ".join(f"{{x: {x}}}" for x in (0.3, 0.35, 0.25, 0.4, 0.5, 0.6, 0.65, 0.7))
    toy.define(fidelity=fidelity, **LISTED | {"trials": f"[{old}]"})
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old")[0] == 0
    toy.define(
        fidelity=fidelity, space="{x: {choice: [0.5, 0.6, 0.65, 0.7]}}", points_to_evaluate="[{x: 0.5}, {x: 0.6}, {x: 0.65}, {x: 0.7}]",
        n_workers="1", reuse="true", methods="{UP: {base: ASHA, type: promotion, rungs: [1], reduction_factor: 2}}",
        budget="{max_num_trials: 4}",
    )  # fmt: skip
    code, _, err = run("--benchmark", "toy.yaml", "--method", "UP", "--experiment_tag", "new", "--warm_start", "old")
    assert code == 0, err
    folder = toy.experiment("new", "UP")
    assert not (folder / "logs").exists() or jobs(folder) == []
    # The best half goes on: 0.6 once two that are worse stand beside it.
    with (folder / "reports.csv").open(encoding="utf-8", newline="") as file:
        told = [(row["x"], row["epoch"], row["attempt"]) for row in csv.DictReader(file)]
    assert [(epoch, attempt) for x, epoch, attempt in told if x == "0.6"] == [("1", "1"), ("2", "2"), ("3", "2")]
    assert [(row["x"], row["status"], row["attempts"]) for row in rows(folder)] == [
        ("0.5", "completed", "0"), ("0.6", "completed", "0"), ("0.65", "paused", "0"), ("0.7", "paused", "0"),
    ]  # fmt: skip


def test_pbt_measures_all_itself_and_says_why(toy, run):
    fidelity = "{kind: progressive, argument: epochs, reported_as: epoch, full: 6}"
    space = "{x: {uniform: [0.0, 1.0]}}"
    methods = "{POP: {base: PBT, population_size: 2, perturbation_interval: 1, quantile_fraction: 0.5, resample_probability: 0}}"
    toy.define(fidelity=fidelity, space=space, n_workers="2", methods=methods, reuse="true", budget="{max_num_trials: 6}")
    code, _, err = run("--benchmark", "toy.yaml", "--method", "POP", "--experiment_tag", "old")
    assert code == 0, err
    assert "reuse: not with POP: it starts trials from others' checkpoints" in err
