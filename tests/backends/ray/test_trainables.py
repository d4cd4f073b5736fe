"""What was written for Ray Tune is a trial as it is: the page's own example, on a cluster of two nodes and through the command line."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from backends.events import Reported
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
from launch.__main__ import main
from tests.backends.contract import all_closed, closed, collect, of_job

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "ray.md").read_text(encoding="utf-8")


def block(name: str) -> str:
    """Return a block of the page, by the name in the comment before it."""
    (found,) = re.findall(rf"^<!-- {re.escape(name)} -->\n```\w*\n(.*?)^```$", PAGE, re.M | re.S)
    return found


@pytest.fixture
def tuned(tmp_path, monkeypatch, cluster):
    """The folder of the example; `define` makes a definition of changes to it, `run` runs that and returns its trials and reports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)
    (tmp_path / "tuned.py").write_text(block("tuned.py"), encoding="utf-8")
    return Tuned(tmp_path, cluster.address)


class Tuned:
    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def run(self, tag: str, *words: str, **changes) -> tuple[int, list[dict[str, str]], list[dict[str, str]]]:
        ray = {"address": self.address, "checkpoints": str(self.folder / "checkpoints")}
        definition = {**yaml.safe_load(block("tuned.yaml")), "ray": ray, **changes}
        (self.folder / "tuned.yaml").write_text(yaml.safe_dump({key: value for key, value in definition.items() if value is not None}))
        code = main(["run", "--benchmark", "tuned.yaml", "--backend", "ray", "--experiment_tag", tag, *words])
        (found,) = (self.folder / "results" / tag / "tuned").iterdir()
        return code, *(
            [*csv.DictReader((found / f"{name}.csv").read_text(encoding="utf-8").splitlines())] for name in ("trials", "reports")
        )


def loss_of(lr: float, epochs: int) -> float:
    weight = 0.0
    for _ in range(epochs):
        weight += lr * (0.3 - weight)
    return (0.3 - weight) ** 2


def test_the_example_of_the_page_runs_as_it_stands(tuned):
    code, trials, reports = tuned.run("f", "--method", "ASHA", ray={"address": tuned.address})
    assert code == 0
    assert len(trials) == 6
    whole = [row for row in trials if row["status"] == "completed"]
    assert whole
    for row in whole:
        assert float(row["last_loss"]) == pytest.approx(loss_of(float(row["lr"]), 4))
    for row in trials:
        levels = [int(one["training_iteration"]) for one in reports if one["trial"] == row["trial"]]
        assert levels == [*range(1, len(levels) + 1)]


@pytest.mark.parametrize(("name", "word"), [("train", "--epochs=4"), ("Line", "--training_iteration=4")])
def test_a_function_and_a_class_go_on_from_their_checkpoint(cluster, tmp_path, name, word):
    # The first job stands still after its second report, until it is ended.
    after_report = r"\g<0>\n\1if epoch == 2 and 'STAND_STILL' in os.environ:\n\1    signal.pause()"
    script = re.sub(r"^( +)tune\.report\(.*$", after_report, block("tuned.py"), flags=re.M)
    before_step = "\n        if self.iteration == 2 and 'STAND_STILL' in os.environ:\n            signal.pause()"
    script = re.sub(r"def step\(self\):", rf"\g<0>{before_step}", script)
    (tmp_path / "tuned.py").write_text(f"import os\nimport signal\n{script}")
    backend = RayBackend(tmp_path / "experiment", address=cluster.address, grace_s=1.0, checkpoints=tmp_path / "checkpoints")
    with contextlib.closing(backend):
        command = ("python", "-m", "outrider_ray", "${source}/tuned.py", name, "--lr=0.5", word)
        first = JobSpec("one", 0, 1, "", command=command, source_dir=str(tmp_path), checkpoint="t0", instance_type="ray.1cpu")
        backend.submit(dataclasses.replace(first, environment={"STAND_STILL": "1"}))
        events = collect(backend, lambda seen: len(of_job(seen, "one", Reported)) == 2, 120.0)
        backend.stop("one", Cause.SCHEDULER)
        collect(backend, all_closed("one"), 120.0, events)
        backend.submit(dataclasses.replace(first, name="two", attempt=2, restore_from="t0"))
        collect(backend, all_closed("two"), 120.0, events)
    assert closed(events, "two").outcome is Outcome.COMPLETED, closed(events, "two")
    told = [(one.job, one.metrics["training_iteration"], one.metrics["loss"]) for one in events if isinstance(one, Reported)]
    assert [one[:2] for one in told] == [("one", 1), ("one", 2), ("two", 3), ("two", 4)]
    assert [one[2] for one in told] == pytest.approx([loss_of(0.5, epochs) for epochs in (1, 2, 3, 4)])


def test_a_script_runs_as_it_is_up_to_its_own_fit(tuned):
    command = ["python", "-m", "outrider_ray", "tuned.py", "${arguments_file}"]
    code, trials, reports = tuned.run("s", "--max_num_trials", "2", command=command, fidelity=None)
    assert code == 0
    # Its `param_space` says that there are 4 epochs, and the definition does not.
    assert [int(row["training_iteration"]) for row in reports if row["trial"] == "0"] == [1, 2, 3, 4]
    assert float(trials[0]["last_loss"]) == pytest.approx(loss_of(float(trials[0]["lr"]), 4))


FORMS = """
from ray import train, tune
from ray.air import session
from ray.tune import report

def old(config):
    tune.report(loss=1.0)
    train.report({"loss": 2.0})
    session.report({"loss": 3.0})
    report({"loss": 4.0, "context": tune.get_context().get_trial_id() + str(train.get_context().get_world_size())})

def yields(config):
    for k in range(config["n"]):
        yield {"loss": k}

def returns(config):
    return 0.5

def endless(config):
    while True:
        tune.report({"loss": 0.0})

given = tune.with_parameters(lambda config, data: tune.report({"loss": sum(data)}), data=[1, 2])
"""


# Ray is imported once for all of them.
MANY = """
import json, os, sys, ray.tune
for number, words in enumerate(json.loads(sys.argv[1])):
    child = os.fork()
    if not child:
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{number}.{name}", os.O_CREAT | os.O_WRONLY), stream)
        from outrider_ray.trial import main
        sys.exit(main(words))
    with open(f"{number}.code", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


def called(folder: Path, *calls: list[str]) -> list[tuple[int, list[tuple[int, float]], str]]:
    """Return of each call of `outrider_ray` its exit code, its reports, and what it said."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "backends" / "reporter"), "HOME": str(folder / "home"), "OUTRIDER_TRIAL": "7"}
    subprocess.run([sys.executable, "-c", MANY, json.dumps(calls)], cwd=folder, env=environment, check=True)
    found = []
    for number in range(len(calls)):
        code, out, err = ((folder / f"{number}.{name}").read_text() for name in ("code", "out", "err"))
        lines = [json.loads(line.partition(": ")[2]) for line in out.splitlines() if line.startswith("[tune-metric]")]
        reports = [(line["training_iteration"], line.get("loss", line.get("_metric"))) for line in lines]
        found.append((int(code), reports, err + "".join(str(line.get("context", "")) for line in lines)))
    return found


def test_every_way_to_report_is_known(tmp_path):
    (tmp_path / "forms.py").write_text(FORMS)
    names = [["old"], ["yields", "--n=2"], ["returns"], ["given"], ["endless", "--training_iteration=3"]]
    old, yields, returns, given, endless = called(tmp_path, *(["forms.py", *words] for words in names))
    assert old == (0, [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)], "71")
    assert yields[:2] == (0, [(1, 0), (2, 1)])
    assert returns[:2] == (0, [(1, 0.5)])
    assert given[:2] == (0, [(1, 3)])
    assert endless[:2] == (0, [(1, 0.0), (2, 0.0), (3, 0.0)])


def test_a_class_leaves_nothing_in_the_home_of_the_user(tmp_path):
    (tmp_path / "tuned.py").write_text(block("tuned.py"))
    (found,) = called(tmp_path, ["--checkpoint_frequency=3", "tuned.py", "Line", "--lr=0.5", "--training_iteration=4"])
    assert found[0] == 0
    assert [number for number, _ in found[1]] == [1, 2, 3, 4]
    assert not (tmp_path / "home" / "ray_results").exists()
    assert [path.name for path in (tmp_path / "checkpoints" / "ray").iterdir()] == ["checkpoint_00000004"]


def test_what_cannot_be_run_is_said_in_a_sentence(tmp_path):
    whole = block("tuned.py")
    scripts = {"tunes": whole.replace('if __name__ == "__main__":', "if True:"), "whole": whole, "hello": "print(1)\n", "one": "a = 1\n"}
    scripts |= {
        "asks": whole.replace("max_t=4)),", "max_t=4)),\n        run_config=tune.RunConfig(stop=lambda trial, result: True),"),
        "trains": whole.replace('tune.with_resources(train, {"cpu": 1})', "TorchTrainer(train)").replace(
            "import tune", "import tune\nfrom ray.train.torch import TorchTrainer\n", 1
        ),
    }
    for name, text in scripts.items():
        (tmp_path / f"{name}.py").write_text(text)
    said = {
        ("tunes.py", "train"): "tunes.py tunes when it is imported",
        ("whole.py",): "whole.py searches over lr, which the definition's space has to name too",
        ("asks.py", "--lr=0.1"): "stop of asks.py is a function, which nobody here would ask; let the trainable end by itself",
        (
            "trains.py",
            "--lr=0.1",
        ): "trains.py tunes a TorchTrainer, whose workers Ray Train starts; name the function that each of them runs",
        ("hello.py",): "hello.py has ended without Tuner.fit or tune.run",
        ("one.py", "b"): "one.py has no b",
        ("one.py", "a"): "1 is neither a function nor a class of ray.tune.Trainable",
        ("gone.py", "a"): "there is no file ",
    }
    for (code, reports, text), expected in zip(called(tmp_path, *map(list, said)), said.values(), strict=True):
        assert (code, reports) == (2, [])
        assert f"outrider_ray: {expected}" in text
        assert "Traceback" not in text
