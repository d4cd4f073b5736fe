"""The example of a plug-in, installed as its users would install it: all that it adds works, and no line of Outrider knows of it."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from backends.base import Backend
from backends.job_spec import JobSpec
from tests.backends.contract import BackendContract

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "plugin"

SCRIPTS = {
    "reports3": "from outrider_report import report\nfor epoch in (1, 2, 3):\n    report(epoch=epoch, loss=1 / epoch)\n",
    "fails": "from outrider_report import report\nreport(epoch=1)\nraise SystemExit('no such file: data.csv')\n",
    "silent": "print('done')\n",
    "counts": "from outrider_report import progress, report\nprogress(0, 4)\nprogress(4, 4)\nreport(epoch=1)\n",
    "steps": (
        "import time\nfrom outrider_report import progress, report\n"
        "for k in range(1000):\n    time.sleep(0.05)\n    progress(k + 1, 1000)\nreport(epoch=1)\n"
    ),
    "endless": "import time\nfrom outrider_report import report\nreport(epoch=1)\nwhile True:\n    time.sleep(60)\n",
}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which the plug-in is installed, with its entry points."""
    target = tmp_path_factory.mktemp("site")
    copy = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(EXAMPLE), str(copy)], check=True)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*command, str(copy)], check=True, capture_output=True, text=True, timeout=100)
    return target


def installed_here() -> bool:
    """Return whether the environment of the tests has the plug-in itself."""
    return any(distribution.name == "outrider-other" for distribution in metadata.distributions())


class Commands:
    """The command line in a folder of its own, with the plug-in on the path."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.folder = folder
        path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
        own = {"OUTRIDER_LEASES": "leases", "OUTRIDER_CACHE": "cache", "OUTRIDER_PRICES": "no.csv", "OUTRIDER_RESULTS": "results"}
        self.environ = {**os.environ, "PYTHONPATH": path, **{name: str(folder / value) for name, value in own.items()}}

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a verb; return its output, or where it is to fail, what it says of that."""
        done = subprocess.run(
            [sys.executable, "-m", "launch", *words],
            cwd=self.folder,
            env={**self.environ, "PYTHONPATH": f"{self.environ['PYTHONPATH']}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == code, done.stderr
        return done.stderr if code in (1, 2) else done.stdout

    def experiment(self, tag: str, method: str, backend: str = "other") -> Path:
        return self.folder / "results" / tag / "other_demo" / f"{method}-{backend}-0"

    def trials(self, tag: str, method: str, backend: str = "other") -> list[dict[str, str]]:
        with (self.experiment(tag, method, backend) / "trials.csv").open() as file:
            return list(csv.DictReader(file))


@pytest.fixture
def outrider(site, tmp_path):
    return Commands(site, tmp_path)


def test_its_benchmark_and_its_block_are_shown(outrider):
    lines = [line.split() for line in outrider("list").splitlines()]
    assert [(line[0], line[-1]) for line in lines if "interpreter." in line] == [("other_demo", "outrider-other")]
    shown = outrider("show", "other_demo", "--backend", "other", "--set", "other.site=north")
    block = shown[shown.index("\nother:") :]
    assert [line.split() for line in block.strip().splitlines()[1:]] == [
        ["cores:", "2", "#", "other_demo.yaml:14", "(other)"],
        ["site:", "north", "#", "--set"],
    ]


def test_settings_are_checked_by_its_model(outrider):
    said = outrider("run", "--benchmark", "other_demo", "--backend", "other", "--dry_run", "--set", "other.site=west", code=2)
    assert "--set other.site=west: other.site: must be one of south, north; 'west' was given" in said
    said = outrider("run", "--benchmark", "other_demo", "--backend", "other", "--dry_run", "--set", "other.coers=2", code=2)
    assert "did you mean other.cores?" in said


def test_prices_are_its_own_by_site_in_dry_run_and_table(outrider):
    for site, usd in (("south", 0.02), ("north", 0.03)):
        said = outrider("run", "--benchmark", "other_demo", "--backend", "other", "--dry_run", "--set", f"site={site}")
        # Two jobs on one core and two on two, each for max_run and the seconds of grace.
        assert f"worst case of all: ${(2 * 1 + 2 * 2) * usd * 65 / 3600:.4f} (in-house prices)" in said
        shown = outrider("prices", "other.2cpu", "--region", site)
        assert f"{usd * 2:g}" in shown
        assert "hosting" not in shown
    assert "south" in outrider("prices", "other.2cpu")
    assert "nothing to check" in outrider("doctor", "--backend", "other")
    assert "their names begin with local. or ml. or ray. or other." in outrider("prices", "ohter.2cpu", code=2)


def test_doctor_asks_it(outrider):
    said = outrider("doctor", "--backend", "other", "--benchmark", "other_demo", "--format", "json")
    assert {check["name"]: check["found"] for check in json.loads(said)["checks"]} == {
        "definition": "other_demo resolves for this back-end",
        "instance type other.1cpu": "2 fit at once",
        "instance type other.2cpu": "1 fits at once",
    }
    assert "nobody needs a policy for it" in outrider("doctor", "--backend", "other", "--policy", code=2)


def test_it_runs_reads_generated_data_and_resumes(outrider):
    pytest.importorskip("sklearn")
    pytest.importorskip("PIL")
    run = ("run", "--backend", "other", "--experiment_tag", "t")
    said = json.loads(outrider(*run, "--benchmark", "other_demo", "--max_num_trials", "2", "--format", "json", code=4))
    assert said["experiments"][0]["price_label"] == "in-house"
    text = outrider("run", "--resume", "t", "--max_num_trials", "4")
    assert "other-logs/" in text
    assert "emulat" not in text
    assert "in-house" in outrider("status", "t")
    trials = outrider.trials("t", "GRID")
    assert [trial["status"] for trial in trials] == ["completed"] * 4
    with (outrider.experiment("t", "GRID") / "reports.csv").open() as file:
        assert {row["files"] for row in csv.DictReader(file)} == {"24"}
    for trial in trials:
        cores = int(trial["instance_type"].removeprefix("other.").removesuffix("cpu"))
        assert float(trial["cost_usd"]) == pytest.approx(float(trial["duration_s"]) / 3600 * 0.02 * cores, rel=0.02)
    assert len(list((outrider.experiment("t", "GRID") / "other-logs").glob("*.log"))) == 4


def test_it_finds_metrics_by_expression_and_says_that_it_reads_no_files(outrider):
    (outrider.folder / "prints.py").write_text("print('loss: 0.5')\nprint('loss: 0.25')\n")
    text = "name: other_demo\nscript: prints.py\ntrials: [{}]\nobjectives: {loss: min}\nmethod: LISTED\n"
    (outrider.folder / "prints.yaml").write_text(text + "metrics: {loss: 'loss: (.*)'}\n")
    outrider("run", "--backend", "other", "--experiment_tag", "p", "--benchmark", "prints.yaml")
    assert [trial["last_loss"] for trial in outrider.trials("p", "LISTED")] == ["0.25"]
    (outrider.folder / "reads.yaml").write_text(text + "read: m.csv\n")
    said = outrider("run", "--backend", "other", "--benchmark", "reads.yaml", code=2)
    assert "reads.yaml:6: read: back-end other reads no files; print the metrics, and say `metrics`" in said


def test_its_method_runs_on_a_built_in_back_end_too(outrider):
    pytest.importorskip("sklearn")
    pytest.importorskip("PIL")
    here = ("run", "--benchmark", "other_demo", "--method", "EVERY_OTHER", "--set", "instance_type=local.1cpu", "--experiment_tag", "m")
    outrider(*here)
    assert [trial["steps"] for trial in outrider.trials("m", "EVERY_OTHER", "local")] == ["2"]
    assert "stride" in outrider(*here[:-1], "n", "--method_args", "strode=3", code=2)


WORK = """
import argparse, time
from outrider_report import phase, report, step
parser = argparse.ArgumentParser()
parser.add_argument("--fraction", type=float)
parser.add_argument("--wait", type=float)
given = parser.parse_args()
with phase("train"):
    time.sleep(given.wait * given.fraction)
    step(samples=int(1000 * given.fraction))
report(loss=given.wait)
"""

WITHOUT_A_TYPE = """
name: canaries
script: work.py
space: {wait: {choice: [1, 4]}}
objectives: {cost_usd: min}
fidelity: {kind: per_job, argument: fraction, ladder: [0.05, 0.1, 0.2], full: 1.0}
budget: {max_run: 60}
"""


@pytest.mark.parametrize("method", ["CANARY", "RACE"])
def test_forecasts_of_its_jobs_are_priced_by_it_where_nobody_names_an_instance_type(outrider, method):
    (outrider.folder / "work.py").write_text(WORK)
    (outrider.folder / "c.yaml").write_text(WITHOUT_A_TYPE)
    run = ("run", "--benchmark", "c.yaml", "--backend", "other", "--method", method, "--method_args", "stretch_s=0")
    outrider(*run, "--experiment_tag", "c", "--set", "site=north")
    folder = outrider.folder / "results" / "c" / "canaries" / f"{method}-other-0"
    with (folder / "trials.csv").open() as file:
        trials = list(csv.DictReader(file))
    assert len(trials) >= 4
    for trial in trials:
        assert float(trial["cost_usd"]) == pytest.approx(float(trial["duration_s"]) / 3600 * 0.03, rel=0.02)
    with (folder / "forecasts.csv").open() as file:
        median = {(row["configuration"], row["metric"]): float(row["median"]) for row in csv.DictReader(file) if row["median"]}
    priced = [configuration for configuration, metric in median if metric == "cost_usd"]
    assert priced
    for configuration in priced:
        # What is billed is whole seconds.
        assert median[configuration, "cost_usd"] == pytest.approx(math.ceil(median[configuration, "total_s"]) / 3600 * 0.03, rel=1e-3)


def test_what_was_measured_is_read_where_the_plug_in_is_gone(outrider):
    pytest.importorskip("sklearn")
    pytest.importorskip("PIL")
    if installed_here():
        pytest.skip("the plug-in is installed beside Outrider, so that it cannot be gone")
    outrider("run", "--benchmark", "other_demo", "--backend", "other", "--method", "EVERY_OTHER", "--experiment_tag", "t")
    before = outrider.trials("t", "EVERY_OTHER")
    outrider.environ["PYTHONPATH"] = ""
    (outrider.experiment("t", "EVERY_OTHER") / "trials.csv").unlink()
    outrider("export", "t")
    assert outrider.trials("t", "EVERY_OTHER") == before
    assert "install the package that brings 'other', then resume" in outrider("run", "--resume", "t", code=2)


class TestOtherBackend(BackendContract):
    many = 4

    @pytest.fixture(autouse=True)
    def _path(self, site, monkeypatch):
        monkeypatch.syspath_prepend(str(site))

    def make_backend(self, folder: Path) -> Backend:
        from outrider_other.backend import OtherBackend

        self.folder = folder
        return OtherBackend(folder / "experiment", sys.executable, 2, "south", os.environ)

    def job(self, kind: str, name: str) -> JobSpec:
        script = self.folder / f"{kind}.py"
        script.write_text(SCRIPTS[kind])
        return JobSpec(name=name, trial=0, attempt=1, script=str(script), instance_type="other.1cpu")

    def wide(self, spec: JobSpec) -> JobSpec:
        return dataclasses.replace(spec, instance_type="other.64cpu")
