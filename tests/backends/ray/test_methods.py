"""Methods, forecasts, studies, status and report on a Ray cluster of two nodes: one of each, through the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from launch.__main__ import main
from tests.launch.conftest import ROOT, rows

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]

LADDER = "{kind: per_job, argument: epochs, ladder: [2, 4], full: 8}"
COUNTS = """
import os, time
from outrider_report import progress, report
for done in range(1, 401):
    # From half on it goes on only when it has been seen.
    while done > 200 and not os.path.exists({go!r}):
        time.sleep(0.02)
    progress(done, 400)
    time.sleep(0.01 if done < 200 else 0.0)
report(loss=1.0)
"""


@pytest.fixture
def bench(toy, cluster):
    """The toy on the cluster; `define` replaces entries of its definition."""
    address = f"{{address: '{cluster.address}', grace_s: 1, usd_per_hour: {{ray.1cpu: 0.36}}}}"
    fixed = {"ray": address, "exclusive": "false", "n_workers": "2"}
    plain = toy.define
    toy.define = lambda **lines: plain(**{**fixed, **lines})
    toy.define()
    return toy


def run(tag: str, *words: str) -> int:
    return main(["run", "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", tag, *words])


def trials(bench, tag: str, method: str, seed: int = 0) -> list[dict[str, str]]:
    return rows(bench.results / tag / "toy" / f"{method}-ray-{seed}" / "trials.csv")


def test_a_multi_fidelity_method_of_ours_stops_what_is_behind(bench):
    # Bad ones have long epochs, so that they hear of their stop at the first rung.
    (bench.folder / "toy.py").write_text((bench.folder / "toy.py").read_text().replace("given.seconds", "given.x if epoch > 1 else 0"))
    bench.define(
        space="{x: {choice: [0.3, 5.0, 6.0, 7.0]}}",
        arguments="{fail_above: 9.0}",
        fidelity="{kind: progressive, argument: epochs, reported_as: epoch, full: 9}",
        points_to_evaluate="[{x: 0.3}, {x: 5.0}, {x: 6.0}, {x: 7.0}]",
    )
    assert run("a", "--method", "ASHA", "--method_args", "grace_period=1", "reduction_factor=3", "--n_workers", "1") == 0
    found = trials(bench, "a", "ASHA")
    assert [row["status"] for row in found] == ["completed", "stopped", "stopped", "stopped"]
    assert {row["cause"] for row in found[1:]} == {"stopped_by_method"}
    assert float(found[0]["cost_usd"]) == pytest.approx(float(found[0]["duration_s"]) * 0.36 / 3600, rel=0.01)


def test_a_method_of_syne_tune(bench):
    assert run("t", "--method", "TPE", "--max_num_trials", "6") == 0
    found = trials(bench, "t", "TPE")
    assert [row["status"] for row in found] == ["completed"] * 6
    assert len({row["x"] for row in found}) == 6


TUNER = """
from syne_tune import StoppingCriterion, Tuner
from syne_tune.config_space import uniform
from syne_tune.optimizer.baselines import ASHA

from benchmarking.syne_tune_adapter import OutriderBackend

if __name__ == "__main__":
    scheduler = ASHA({"x": uniform(0.0, 1.0)}, metric="loss", do_minimize=True, time_attr="epoch", max_t=2)
    backend = OutriderBackend("toy.yaml", backend="ray")
    tuner = Tuner(
        trial_backend=backend, scheduler=scheduler, stop_criterion=StoppingCriterion(max_num_trials_finished=3), n_workers=2, sleep_time=0
    )
    tuner.run()
    print("finished", tuner.tuning_status.num_trials_finished, "failed", tuner.tuning_status.num_trials_failed)
"""


def test_syne_tunes_own_tuner_over_the_cluster(bench, tmp_path):
    (tmp_path / "tuner.py").write_text(TUNER)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYNETUNE_FOLDER": str(tmp_path / "syne-tune")}
    done = subprocess.run([sys.executable, "tuner.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (said,) = re.findall(r"^finished (\d+) failed (\d+)$", done.stdout, re.M)
    assert int(said[0]) >= 3
    assert said[1] == "0"


def test_canaries_forecast_the_full_job_and_a_race_ranks_by_it(bench, capfd):
    # An epoch takes its processor time; the dearer of two configurations takes longer in full than the second that is billed at least.
    work = "until = time.process_time() + 0.08 * given.x\n    while time.process_time() < until:\n        pass"
    (bench.folder / "toy.py").write_text((bench.folder / "toy.py").read_text().replace("time.sleep(given.seconds)", work))
    bench.define(fidelity=LADDER, space="{x: {choice: [1.0, 5.0]}}", arguments="{fail_above: 9.0}", objectives="{cost_usd: min}")
    assert run("c", "--method", "CANARY", "--n_workers", "1", "--max_num_trials", "8") == 0
    assert {row["status"] for row in trials(bench, "c", "CANARY")} == {"completed"}
    capfd.readouterr()
    assert main(["forecast", "c", "--format", "json"]) == 0
    cost = {one["configuration"]: one["median"] for one in json.loads(capfd.readouterr().out) if one["metric"] == "cost_usd"}
    assert cost["x=1"] < cost["x=5"]
    # Whether jobs this short decide it is a matter of the machine (exit code 4: not decided); what they are forecast to cost is not.
    assert run("r", "--method", "RACE", "--n_workers", "1", "--max_num_trials", "12") in (0, 4)
    forecasts = rows(bench.results / "r" / "toy" / "RACE-ray-0" / "forecasts.csv")
    usd = {row["configuration"]: float(row["median"]) for row in forecasts if row["metric"] == "cost_usd" and row["median"]}
    assert usd["x=1"] < usd["x=5"]


def test_a_running_job_is_shown_with_its_end_and_studies_in_a_report(bench, capfd):
    go = bench.folder / "go"
    (bench.folder / "toy.py").write_text(COUNTS.format(go=str(go)))
    bench.define(space="{x: {choice: [0.5]}}", arguments="", fidelity="")
    words = ["run", "--benchmark", "toy.yaml", "--backend", "ray", "--experiment_tag", "f", "--method", "GRID"]
    with subprocess.Popen([sys.executable, str(ROOT / "hpo_main.py"), *words], cwd=bench.folder, stderr=subprocess.DEVNULL) as controller:
        told = ""
        while " done, its loop ends in " not in told and controller.poll() is None:
            if (bench.results / "f").is_dir():
                main(["status", "f"])
                told = capfd.readouterr().out
        assert re.search(r"^f/toy GRID 0, trial 0: \d+% done, its loop ends in .* s \(.*\), will have cost \$", told, re.M), told
        assert re.search(r"^f +toy +GRID +0 +running ", told, re.M), told
        go.touch()
        assert controller.wait(120) == 0
    assert main(["report", "f"]) == 0
    (page,) = bench.results.rglob("*.html")
    assert "GRID" in page.read_text(encoding="utf-8")


def test_two_studies_with_two_experiments_at_once_share_a_cluster(bench):
    words = ["run", "--benchmark", "toy.yaml", "--backend", "ray", "--method", "RS", "ASHA", "--parallel", "2"]
    words += ["--max_num_trials", "3"]
    command = [sys.executable, str(ROOT / "hpo_main.py"), *words]
    pipe = subprocess.PIPE
    studies = {
        tag: subprocess.Popen(
            [*command, "--experiment_tag", tag], cwd=bench.folder, env=dict(os.environ), stdout=pipe, stderr=subprocess.STDOUT, text=True
        )
        for tag in ("one", "two")
    }
    for tag, study in studies.items():
        said = study.communicate()[0]
        assert study.returncode == 0, said
        folders = [Path(folder) for folder in (bench.results / tag / "toy").iterdir()]
        assert sorted(folder.name for folder in folders) == ["ASHA-ray-0", "RS-ray-0"]
        ends = Counter(row["status"] for folder in folders for row in rows(folder / "trials.csv"))
        assert sum(ends.values()) == 6
        assert not ends.keys() - {"completed", "stopped"}
    assert main(["compare", "one"]) == 0
