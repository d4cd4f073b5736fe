"""`outrider run` used wrongly: a sentence, no traceback, and nothing is left behind."""

from __future__ import annotations

import pytest

import launch
from tests.launch.conftest import rows

TYPES = ("ml.zz9.xlarge", "ml.m5.xlarge")


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
    # Beside the tags are the sources that were measured, each content once.
    assert {path.name for path in toy.results.iterdir()} == {"other", ".source"}
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


def test_export_of_an_unknown_tag_speaks_of_export(toy, capfd):
    assert launch.__main__.main(["export", "nothere"]) == 2
    assert capfd.readouterr().err.startswith("error: export nothere: there is nothing of this tag in results\n")


def test_without_a_benchmark_those_that_exist_are_listed_with_the_command(toy, run):
    code, _, err = run()
    lines = err.splitlines()
    assert (code, lines[0], lines[-1]) == (2, "error: no --benchmark is given", "  e.g. outrider run --benchmark demo")
    assert {line.split()[0] for line in lines[2:-1]} >= {"ddp", "demo", "digits", "gbm", "resnet_cifar10"}


def test_a_cap_that_allows_no_trial_is_told_before(toy, run):
    code, _, err = run("--benchmark", "toy.yaml", "--dry_run", "--max_cost", "0.0001")
    assert code == 2
    assert "allows no trial" in err


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
