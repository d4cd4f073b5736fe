"""`import outrider`: functions, mappings and tags from Python, beside a user's own files that are called as our packages are."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import outrider
from definitions.errors import UserError
from definitions.remote import RemoteOptions
from definitions.schema import BenchmarkDefinition
from launch import face
from launch.cli import make_parser
from launch.planning import Planned
from tests.launch.conftest import ROOT, rows, with_signals

TUNE = """\
import json, sys
import outrider

def returned(x):
    return (x - 0.5) ** 2

def reported(x):
    import launch
    outrider.report(loss=x, mine=launch.MINE)

if __name__ == "__main__":
    first = outrider.run(returned, space={"x": {"choice": [0.5, 1.5]}}, method="GRID", results_dir=sys.argv[1], experiment_tag="a")
    again = outrider.load("a", sys.argv[1])
    second = outrider.run(reported, space={"x": {"choice": [2, 3]}}, method="GRID", max_num_trials=1,
                          results_dir=sys.argv[1], experiment_tag="b")
    print(json.dumps([first.best_config, first.best_value, again.best_value, repr(first), len(second.trials), second.best_value]))
"""


@pytest.mark.slow
def test_functions_are_tuned_beside_a_users_own_launch_and_benchmarking(tmp_path):
    folder = tmp_path / "mine"
    (folder / "benchmarking").mkdir(parents=True)
    (folder / "benchmarking" / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    (folder / "backends.py").write_text("raise RuntimeError('not ours')\n")
    (folder / "launch.py").write_text("MINE = 7\n")
    (folder / "tune.py").write_text(TUNE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "tune.py", str(tmp_path / "results")]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    configuration, value, read_again, text, trials, other = json.loads(done.stdout)
    assert configuration == {"x": 0.5}
    assert value == read_again == 0.0
    assert text == "<returned x GRID x seed 0 on local: 2 trials, best 0.0 at {'x': 0.5}>"
    assert (trials, other) == (1, 2.0)


@pytest.mark.slow
def test_a_file_is_run_as_the_command_line_does(toy):
    result = outrider.run("toy.yaml", results_dir="elsewhere", experiment_tag="p", settings=["max_num_trials=2"])
    assert [row["status"] for row in result.trials] == ["completed"] * 2
    assert result.ended == "max_num_trials is reached after 2 trials (max_num_trials = 2, 2 started)"
    assert (toy.folder / "elsewhere" / "p" / "toy" / "RS-local-0" / "trials.csv").is_file()
    assert repr(outrider.load("p", "elsewhere")) == repr(result)
    with pytest.raises(UserError, match="no such option"):
        outrider.run("toy.yaml", methodd="RS")


SLOW = """\
import sys, time
import outrider

def slow(x):
    outrider.report(loss=x)
    time.sleep(60)

if __name__ == "__main__":
    try:
        outrider.run(slow, space={"x": {"choice": [1.5, 2.5]}}, method="GRID", n_workers=1, experiment_tag="i", verbose=True)
    except KeyboardInterrupt as caught:
        again = outrider.load("i")
        print(type(caught) is outrider.Interrupted, caught, len(caught.result.trials), sep="|", end="|")
        print(again.trials[0]["last_loss"], again.trials[0]["status"], sep="|")
"""


@pytest.mark.slow
def test_ctrl_c_ends_the_jobs_keeps_what_was_measured_and_is_heard_by_the_script(toy):
    (toy.folder / "slow.py").write_text(SLOW)
    words = [*with_signals([]), "slow.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, cwd=toy.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert next(line for line in process.stderr if "loss=1.5" in line)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    is_ours, message, trials, loss, status = out.strip().split("|")
    assert (is_ours, trials, loss, status) == ("True", "1", "1.5", "interrupted")
    assert message == "interrupted after 1 trials; outrider.load('i') reads what was measured, and this goes on: outrider run --resume i"


def test_limits_give_a_function_no_value_and_settings_may(toy):
    def train(x, rate):
        return x * rate

    with pytest.raises(UserError, match="nothing gives it 'rate'"):
        outrider.run(train, space={"x": {"choice": [1]}}, max_num_trials=1, max_failures=1, dry_run=True)
    assert outrider.run(train, space={"x": {"choice": [1]}}, settings={"arguments.rate": 2}, dry_run=True) is None


def test_an_unknown_option_gets_the_nearest_one():
    with pytest.raises(UserError, match=r"(?s)max_num_trial=.*max_num_trials"):
        outrider.run("first", max_num_trial=3)


MAPPING = {"name": "toy", "script": "toy.py", "space": {"x": {"uniform": [0, 1]}}, "objectives": {"loss": "min"}}


@pytest.mark.parametrize(
    "changed",
    [
        {"objectives": None},
        {"objectvies": {"loss": "min"}},
        {"space": {"x": {"unifrom": [0, 1]}}},
        {"space": {"x": {"uniform": [1, 0]}}},
        {"repeats": 0},
        {"budget": {"max_num_trial": 3}},
        {"method": "RSS"},
        {"local": {"n_worker": 1}},
        {"script": "gone.py"},
        {"valid": ["y > 1"]},
        {"datasets": "gone.yaml"},
    ],
    ids=str,
)
def test_a_mapping_is_refused_in_the_words_in_which_a_file_is(toy, changed):
    data = {key: value for key, value in {**MAPPING, **changed}.items() if value is not None}
    (toy.folder / "file.yaml").write_text(json.dumps(data))
    with pytest.raises(UserError) as by_file:
        outrider.run("file.yaml")
    with pytest.raises(UserError) as by_mapping:
        outrider.run(data)
    assert str(by_mapping.value) == re.sub(r"file\.yaml:\d+", "python", str(by_file.value)).replace("file.yaml", "the mapping")
    assert "pydantic" not in str(by_mapping.value)
    assert not toy.results.exists()


@pytest.mark.slow
def test_values_are_taken_as_python_has_them(toy):
    from syne_tune.config_space import loguniform

    data = {**MAPPING, "script": Path("toy.py"), "arguments": {"seconds": numpy.float32(0.0), "epochs": numpy.int64(1)}}
    first = outrider.run(data, space={"x": {"choice": numpy.array([0.25, 0.5])}}, method="GRID", experiment_tag="n")
    assert sorted(row["x"] for row in first.trials) == [0.25, 0.5]
    second = outrider.run(data, space={"x": loguniform(0.1, 0.2)}, max_num_trials=1, experiment_tag="s")
    assert 0.1 <= second.trials[0]["x"] <= 0.2
    third = outrider.run(data, space={"x": {"choice": range(3)}}, method="GRID", max_num_trials=3, experiment_tag="r")
    assert [row["x"] for row in third.trials] == [0, 1, 2]


@pytest.mark.slow
def test_keys_from_python_lie_over_those_of_a_file_and_of_a_definition(toy):
    grid = {"method": "GRID", "max_num_trials": 3}
    (toy.folder / "inner").mkdir()
    for name in ("toy.py", "toy.yaml"):
        (toy.folder / name).rename(toy.folder / "inner" / name)
    result = outrider.run(Path("inner/toy.yaml"), space={"x": {"choice": [0.25, 0.5]}}, experiment_tag="f", **grid)
    assert [row["x"] for row in result.trials] == [0.25, 0.5]
    assert result.spec.resolved.origins["space.x"] == "python"
    assert result.spec.resolved.origins["script"] == "toy.yaml:3"
    definition = BenchmarkDefinition.model_validate({**MAPPING, "source_dir": "inner"})
    again = outrider.run(definition, space={"x": {"choice": [0.25, 0.5]}}, arguments={"epochs": 2}, experiment_tag="d", **grid)
    assert [row["last_loss"] for row in again.trials] == [row["last_loss"] for row in result.trials]
    whole = outrider.run(definition, max_num_trials=1, experiment_tag="w")
    assert len(whole.trials) == 1
    with pytest.raises(UserError, match=r"python: space.x: .*choice is empty"):
        outrider.run("inner/toy.yaml", space={"x": {"choice": []}})


@pytest.mark.slow
def test_repeats_are_compared_with_the_intervals_of_the_verdict(toy):
    data = {**MAPPING, "space": {"x": {"choice": [0.3, 0.5, 0.9]}}, "objectives": {"loss": "min", "duration_s": "min"}}
    result = outrider.run(data, method="GRID", repeats=3, experiment_tag="c")
    leader, *others = result.compare()
    assert (leader["x"], leader["n"], leader["factor"]) == (0.3, 3, None)
    losses = {row["x"]: row["last_loss"] for row in result.trials}
    assert {row["x"]: row["factor"] for row in others} == pytest.approx({x: losses[x] / losses[0.3] for x in (0.5, 0.9)})
    # A function without noise: the interval has no width, and so decides.
    assert all(row["decided"] and row["low"] == pytest.approx(row["high"]) for row in others)
    assert str(result.compare()).splitlines()[0] == result.verdict.splitlines()[0]
    frame = result.to_pandas()
    assert list(frame["last_loss"]) == [row["last_loss"] for row in result.trials]
    assert (len(frame), str(frame["x"].dtype)) == (9, "float64")


@pytest.mark.slow
def test_several_experiments_come_as_a_list_in_their_order(toy):
    results = outrider.run(["toy.yaml", {**MAPPING, "name": "other"}], num_seeds=2, max_num_trials=1, experiment_tag="l")
    assert [one.spec.number for one in results] == [0, 0, 1, 1]
    assert {(one.spec.definition.name, one.spec.number) for one in results} == {("toy", 0), ("toy", 1), ("other", 0), ("other", 1)}
    assert sorted(map(repr, outrider.load("l"))) == sorted(map(repr, results))
    assert str(results).splitlines()[0].split() == ["benchmark", "method", "seed", "trials", "objective", "best"]
    assert results._repr_html_().count("<tr>") == 1 + 4
    assert list(results.to_pandas()["benchmark"]) == [one.spec.definition.name for one in results]


@pytest.mark.slow
def test_reports_and_usage_are_tables_too(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "tables", "--num_seeds", "2", "--max_num_trials", "2")
    results = outrider.load("tables")
    one = toy.experiment("tables")
    assert list(results[0].to_pandas("reports")["trial"]) == [int(row["trial"]) for row in rows(one / "reports.csv")]
    assert list(results[0].to_pandas("usage")["job"]) == [row["job"] for row in rows(one / "usage.csv")]
    frame = results.to_pandas("reports")
    assert (len(frame), set(frame["seed"])) == (8, {0, 1})
    with pytest.raises(UserError, match=r"(?s)table\('report'\).*trials, reports, usage"):
        results[0].to_pandas("report")


@pytest.mark.slow
def test_methods_are_compared_over_their_seeds(toy):
    space = {"x": {"uniform": [0, 1]}}
    keys = {"num_seeds": 3, "experiment_tag": "m", "settings": {"n_workers": 1}, "max_num_trials": 2}
    results = outrider.run(MAPPING, space=space, method=["RS", "GRID"], **keys)
    by_method = {name: [one.best_value for one in results if one.spec.method == name] for name in ("RS", "GRID")}
    assert len(set(by_method["RS"])) > 1
    found = results.compare()
    assert [(row["method"], row["verdict"]) for row in found] == [("RS", "baseline"), ("GRID", "one run only")]
    # Seeds of GRID are one run; what is said is what the command says.
    assert (found[0]["value"], found[0]["seeds"], found[1]["seeds"]) == (pytest.approx(sum(by_method["RS"]) / 3), 3, 1)
    assert found.caption.startswith("GRID and RS: one run only (GRID has 1, RS 3, in common 1)")
    assert outrider.load("m").compare() == found
    assert results.best.best_value == min(value for values in by_method.values() for value in values)


def test_every_flag_of_a_run_has_its_like_in_python(monkeypatch):
    asked = []
    monkeypatch.setattr(face, "plan", lambda request: asked.append(request) or Planned(()))
    monkeypatch.setattr(face, "describe", lambda specs, environ, study: "")
    # A benchmark is an argument, results are what is returned, and a command and its objectives are keys of a mapping.
    elsewhere = {
        "help",
        "version",
        "benchmark",
        "command",
        "objective",
        "list",
        "show",
        "format",
        "save_tuner",
        "launched_remotely",
        "check_script",
    }
    # What controllers are like is `remote={...}`; who launches from Python has a handle, by which to wait.
    elsewhere |= {"watch", "take_over", "controllers", "remote", *(f"remote_{name}" for name in RemoteOptions.model_fields)}
    flags = {action.dest for action in make_parser()._actions} - elsewhere  # noqa: SLF001 (argparse has no other list)
    values = {"order": "random", "exclusive": True, "settings": {"x": [1, 2.5]}, "method_args": {"points": 2}, "ladder": [0.1, 0.3]}
    values |= {"max_num_trials": numpy.int64(3), "warm_pool": 1, "cache_dir": "c", "results_dir": "r", "method": "RS", "warm_start": "t"}
    values["track"] = "mlflow"
    values["parallel"] = "auto"
    values |= dict.fromkeys(("dry_run", "accept_changes", "verbose", "yes"), True) | {"emulate": False, "backend": None}
    values |= dict.fromkeys(("num_seeds", "start_seed", "random_seed"), 1) | dict.fromkeys(("experiment_tag", "resume"), "t")
    values |= {"study": {"shares": "equal"}, "study_order": "methods", "shares": "first_come", "skip_unfit": False, "shared_start": 3}
    limits = {"n_workers", "max_wallclock_time", "max_failures", "max_cost", "max_num_trials", "max_run", "repeats", "scale"}
    values = {**dict.fromkeys(limits, 1), **values}
    assert set(values) == flags
    outrider.run("demo", **values)
    (request,) = asked
    assert {"x=[1,2.5]", "budget.max_num_trials=3", "repeats=1", "exclusive=true", "budget.max_cost=1"} <= set(request.settings)
    assert request.method_args == {"points": 2, "ladder": [0.1, 0.3], "shared_start": 3}
    assert (request.backend, request.method, request.warm_start, request.dry_run) == ("warm_pool", ("RS",), ("t",), True)
    assert request.parallel == "auto"
    assert (request.study_order, request.shares, request.skip_unfit) == ("methods", "first_come", False)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_seeds": 2.0}, "num_seeds=2.0)\n  it is a whole number"),
        ({"num_seeds": True}, "it is a whole number"),
        ({"experiment_tag": 3}, "it is text"),
        ({"dry_run": "no"}, "it is True or False"),
        ({"max_num_trials": "many"}, "max_num_trials"),
        ({"settings": {"epohcs": 3}}, "epohcs"),
        ({"backend": "loacl"}, "did you mean 'local'"),
        ({"parallel": 0}, "--parallel 0\n  it is how many experiments run at once"),
    ],
    ids=str,
)
def test_options_of_a_wrong_kind_are_told(toy, options, said):
    with pytest.raises(UserError, match=re.escape(said)):
        outrider.run("toy.yaml", **options)
    assert not toy.results.exists()


@pytest.mark.parametrize(
    ("thing", "said"), [(3, "outrider.run(3)"), ({1: 2}, "the key 1 is not text"), ({"space": {"x": {2}}}, "has no order")]
)
def test_what_is_no_benchmark_is_told(thing, said):
    with pytest.raises(UserError, match=re.escape(said)):
        outrider.run(thing)


def test_an_unknown_tag_is_told(tmp_path):
    with pytest.raises(UserError, match="load nothere: there is nothing of this tag"):
        outrider.load("nothere", tmp_path)


def test_a_dry_run_prints_the_worst_case_and_starts_nothing(toy, capsys):
    assert outrider.run("toy.yaml", dry_run=True, max_run=3595) is None
    assert "worst case of all: $0.20 (nominal prices); nothing was started" in capsys.readouterr().out
    assert not toy.results.exists()


@pytest.mark.slow
def test_a_tag_goes_on_by_its_name_alone(toy):
    first = outrider.run("toy.yaml", max_num_trials=1, experiment_tag="t")
    again = outrider.run(resume="t", max_num_trials=3)
    assert (len(first.trials), len(again.trials)) == (1, 3)
    with pytest.raises(UserError, match=r"outrider.run\(space=...\)\n  there is no benchmark"):
        outrider.run(resume="t", space={})


@pytest.mark.slow
def test_a_function_is_tuned_on_emulated_training_jobs(toy):
    keys = {"sagemaker": {"image": "image:1", "arguments": {"instance_type": "ml.m5.large"}}}
    offset = numpy.array([3.0, 4.0])

    def train(x):
        return x + offset.sum()

    result = outrider.run(train, space={"x": {"choice": [0.5]}}, method="GRID", backend="sagemaker", emulate=True, **keys)
    assert (result.best_config, result.best_value) == ({"x": 0.5}, 7.5)


def test_real_money_is_asked_for_as_on_the_command_line(toy, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    keys = {"sagemaker": {"image": "image:1", "arguments": {"instance_type": "ml.m5.large"}}}
    with pytest.raises(UserError, match="spends real money\n  no max_cost is given"):
        outrider.run({**MAPPING, **keys}, backend="sagemaker", max_num_trials=1)
    assert not toy.results.exists()


@pytest.mark.slow
def test_a_file_that_runs_anew_in_each_trial_is_told_to_guard_its_call(toy):
    script = (
        "import outrider\n\ndef train(x):\n    return x\n\nresult = outrider.run(train, space={'x': {'choice': [1.5]}}, method='GRID')\n"
    )
    (toy.folder / "tune.py").write_text(script + "print(result.trials[0]['message'])\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "tune.py"], cwd=toy.folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith('outrider.run in a trial, which runs its file: put the call below `if __name__ == "__main__":`\n')


@pytest.mark.slow
def test_two_threads_run_at_the_same_time_and_the_users_names_are_theirs_after(toy):
    (toy.folder / "launch.py").write_text("MINE = 7\n")
    (toy.folder / "tune.py").write_text(
        "import threading, launch, outrider\n"
        "def train(x):\n    return x\n"
        "def go(number):\n"
        "    space = {'x': {'choice': [float(number), 9.0]}}\n"
        "    found[number] = outrider.run(train, space=space, method='GRID', experiment_tag=f't{number}').best_value\n"
        "if __name__ == '__main__':\n"
        "    found = {}\n"
        "    threads = [threading.Thread(target=go, args=(number,)) for number in (1, 2)]\n"
        "    [one.start() for one in threads]\n    [one.join() for one in threads]\n"
        "    import launch as again\n"
        "    print(sorted(found.items()), launch.MINE, again is launch)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "tune.py"], cwd=toy.folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[(1, 1.0), (2, 2.0)] 7 True\n"), done.stderr


@pytest.mark.slow
def test_what_a_function_measured_is_replayed_without_it(toy):
    (toy.folder / "tune.py").write_text(
        "import outrider\n"
        "def train(x):\n    return x\n"
        "if __name__ == '__main__':\n"
        "    keys = {'space': {'x': {'choice': [1.5, 2.5]}}, 'method': 'GRID'}\n"
        "    first = outrider.run(train, experiment_tag='a', **keys)\n"
        "    table = str(first.spec.folder / 'reports.csv')\n"
        "    again = outrider.run(train, experiment_tag='b', backend='simulated', simulated={'table': table}, **keys)\n"
        "    print(first.best_value, again.best_value)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "tune.py"], cwd=toy.folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1.5 1.5\n"), done.stderr
