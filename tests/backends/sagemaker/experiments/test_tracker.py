"""Experiments told to SageMaker Experiments on the emulator: what is there, once, whenever it is told, and what limits and faults do."""

from __future__ import annotations

import contextlib
import itertools
import math
import random

import pytest

from backends.emulator import Emulator
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.iam_operations import CALLER
from backends.sagemaker.aws.rate_limiter import RateLimiter
from backends.sagemaker.experiments.calls import PacedCalls
from backends.sagemaker.experiments.tracker import SageMakerTracker
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.tracking.catching_up import FollowedExperiment, Telling
from launch.__main__ import main
from tests.backends.tag_bench import use
from tests.benchmarking.experiments import FakeJobs, MemoryJournal
from tests.benchmarking.tracking.told import DEFINITION, IDENTITY, SCRIPT, finished, prepared, run_into, spec_of

pytestmark = pytest.mark.slow


class KilledError(Exception):
    """Stands for a kill -9."""


class MortalCalls(PacedCalls):
    """Calls that end when so many have changed something."""

    left = math.inf

    def sagemaker(self, operation, **request):
        if operation != "Search":
            self._live()
        return super().sagemaker(operation, **request)

    def metrics(self, operation, **request):
        self._live()
        return super().metrics(operation, **request)

    def _live(self):
        if not self.left:
            raise KilledError
        self.left -= 1


class Lab:
    """An emulator, and what is in its SageMaker Experiments."""

    def __init__(self, emulator):
        self.emulator, self.client = emulator, emulator.client("sagemaker")
        self.clients = Clients("us-east-1", emulator.environment)
        self.said = []

    def tracker(self, dies_after=math.inf):
        clock = itertools.count(0.0, 100.0)
        calls = MortalCalls(self.clients, RateLimiter(random.Random(0)), lambda: next(clock), lambda s: None)
        calls.left = dies_after
        return SageMakerTracker(self.emulator.environment, calls)

    def telling(self, make=None):
        # Whoever looks at this clock finds every pause over.
        clock = itertools.count(0.0, 100.0)
        return Telling(make or self.tracker, "sagemaker", self.said.append, lambda: next(clock))

    def told(self, folder, make=None):
        one = self.telling(make)
        one.follow(folder)
        return one.round()

    def components(self, **where):
        """Return the components by display name; asserts that none is there twice."""
        filters = [{"Name": f"Parents.{name}", "Operator": "Equals", "Value": value} for name, value in where.items()]
        results = self.client.search(Resource="ExperimentTrialComponent", SearchExpression={"Filters": filters}, MaxResults=100)["Results"]
        found = {one["TrialComponent"]["DisplayName"]: one["TrialComponent"] for one in results}
        assert len(found) == len(results)
        return found

    def trials(self, experiment):
        pages = self.client.get_paginator("list_trials").paginate(ExperimentName=experiment)
        return sorted(one["TrialName"] for page in pages for one in page["TrialSummaries"])


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as found:
        yield found


@pytest.fixture
def lab(emulator, monkeypatch, tmp_path):
    use(monkeypatch, emulator.environment, tmp_path)
    return Lab(emulator)


def counts(component):
    return {one["MetricName"]: (one["Count"], one["Last"]) for one in component.get("Metrics", ())}


def plain(component):
    """Return a component without what differs from one time to the next."""
    return {name: value for name, value in component.items() if name not in ("CreationTime", "LastModifiedTime")}


def test_a_trial_is_a_component_with_parameters_metrics_by_level_and_its_end(lab, tmp_path):
    folder = finished(tmp_path, tag="whole", own_names=True, space={"x": {"choice": [3]}, "word": "v" * 3000}, budget={"max_num_trials": 1})
    assert lab.told(folder)
    found = lab.components(ExperimentName="whole-fake")
    assert sorted(found) == ["RS-local-0", "trial-0"]
    trial, whole = found["trial-0"], found["RS-local-0"]
    prefix = whole["TrialComponentName"].removesuffix("-experiment")
    assert trial["TrialComponentName"] == f"{prefix}-t0-a1"
    assert lab.trials("whole-fake") == [prefix, f"{prefix}-0"]
    assert trial["Parents"] == [{"TrialName": f"{prefix}-0", "ExperimentName": "whole-fake"}]
    assert (trial["Parameters"]["x"], whole["Parameters"]["method"]) == ({"NumberValue": 3.0}, {"StringValue": "RS"})
    assert len(trial["Parameters"]["word"]["StringValue"]) == 2500
    assert trial["Parameters"]["last.phase"] == {"StringValue": "warm"}
    assert trial["Status"]["PrimaryStatus"] == whole["Status"]["PrimaryStatus"] == "Completed"
    assert (trial["EndTime"] - trial["StartTime"]).total_seconds() == pytest.approx(3.25, abs=0.002)
    assert counts(trial)["loss"] == (3, pytest.approx(1 / 3 + 0.03))
    assert counts(trial)["a b%"] == (3, 0.5)
    assert counts(trial)["cost_usd"] == (1, pytest.approx(3.25 * 3.6 / 3600))
    assert counts(whole)["best_loss"] == (1, pytest.approx(1 / 3 + 0.03))
    assert "nan" not in counts(trial)
    assert lab.said == ["SageMaker takes no NaN and no infinity, so that such values of 'nan' are not told"]


def test_twice_gives_nothing_twice_and_costs_one_search(lab, tmp_path):
    folder = finished(tmp_path, tag="twice", own_names=True)
    assert lab.told(folder)
    before = lab.components(ExperimentName="twice-fake")
    lab.clients.counts.clear()
    assert lab.told(folder)
    assert dict(lab.clients.counts) == {"Search": 1}
    assert lab.components(ExperimentName="twice-fake") == before
    assert [counts(one)["loss"][0] for name, one in before.items() if name != "RS-local-0"] == [3, 3, 3]


def test_a_teller_killed_after_any_call_has_told_nothing_twice(lab, tmp_path):
    for after in range(1, 100):
        tag = f"killed-{after}"
        folder = finished(tmp_path, tag=tag, own_names=True, budget={"max_num_trials": 1})
        first = lab.telling(lambda number=after: lab.tracker(dies_after=number))
        first.follow(folder)
        try:
            if first.round():
                break
        except KilledError:
            first.close()
        assert lab.told(folder)
        found = lab.components(ExperimentName=f"{tag}-fake")
        assert sorted(found) == ["RS-local-0", "trial-0"]
        assert {count for count, _ in counts(found["RS-local-0"]).values()} == {1}
        assert {name: count for name, (count, _) in counts(found["trial-0"]).items() if count != 1} == {"loss": 3, "a b%": 3, "fine": 3}
        assert {one["Status"]["PrimaryStatus"] for one in found.values()} == {"Completed"}
    assert after > 8


def test_each_trial_has_50_components_and_a_full_experiment_is_followed_by_the_next(lab, tmp_path):
    lab.client.create_experiment(ExperimentName="many-fake")
    for number in range(299):
        lab.client.create_trial(TrialName=f"other-{number}", ExperimentName="many-fake")
    folder = finished(tmp_path, tag="many", own_names=True, budget={"max_num_trials": 52})
    assert lab.told(folder)
    (whole,) = [trial for trial in lab.trials("many-fake") if not trial.startswith("other-")]
    assert lab.trials("many-fake-2") == [f"{whole}-0", f"{whole}-1"]
    assert len(lab.components(TrialName=f"{whole}-0")) == 50
    assert sorted(lab.components(TrialName=f"{whole}-1")) == ["trial-50", "trial-51"]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "throttle", "operation": "BatchPutMetrics", "times": 1},
        {"kind": "error", "operation": "UpdateTrialComponent", "code": "InternalFailure", "status": 500, "times": 1},
        {"kind": "expired_token", "operation": "CreateTrial", "times": 1},
    ],
)
def test_what_passes_is_said_once_and_made_good(lab, tmp_path, fault):
    tag = f"fault-{fault['kind'][:5]}"
    folder = finished(tmp_path, tag=tag, own_names=True, budget={"max_num_trials": 2})
    lab.emulator.add_faults([fault])
    one = lab.telling()
    one.follow(folder)
    assert not one.round()
    assert not one.refused
    lab.emulator.clear_faults()
    assert one.round()
    assert sum("could not be told" in line for line in lab.said) == 1
    found = lab.components(ExperimentName=f"{tag}-fake")
    assert [counts(found[name])["loss"][0] for name in ("trial-0", "trial-1")] == [3, 3]


def test_what_is_denied_is_a_refusal(lab, tmp_path):
    folder = finished(tmp_path, tag="denied", own_names=True, budget={"max_num_trials": 1})
    lab.emulator.add_faults([{"kind": "error", "operation": "Search", "code": "AccessDeniedException", "status": 403}])
    one = lab.telling()
    one.follow(folder)
    try:
        assert not one.round()
        assert one.refused
        assert "AccessDeniedException" in one.last_error
    finally:
        lab.emulator.clear_faults()


def test_export_and_clean_by_command(lab, tmp_path, capsys):
    finished(tmp_path, tag="command", own_names=True)
    words = ["--results_dir", str(tmp_path / "results")]
    assert main(["export", "command", *words, "--to", "sagemaker"]) == 0
    assert capsys.readouterr().out == "sagemaker has 1 experiment of command\n"
    found = lab.components(ExperimentName="command-fake")
    assert sorted(found) == ["RS-local-0", "trial-0", "trial-1", "trial-2"]
    lab.client.create_trial_component(TrialComponentName="mine")
    lab.client.associate_trial_component(TrialComponentName="mine", TrialName=found["trial-0"]["Parents"][0]["TrialName"])
    assert main(["clean", "--tag", "command", "--tracking", "sagemaker", *words, "--yes"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[-2].split() == ["sagemaker", "command-fake", "4"]
    assert out[-1] == "4 runs of command deleted at sagemaker"
    assert lab.client.describe_trial_component(TrialComponentName="mine")["TrialComponentName"] == "mine"
    with pytest.raises(lab.client.exceptions.ResourceNotFound):
        lab.client.describe_experiment(ExperimentName="command-fake")
    assert main(["clean", "--tag", "command", "--tracking", "sagemaker", *words, "--yes"]) == 0
    assert capsys.readouterr().out == "sagemaker has nothing of command\n"


def test_a_deletion_that_is_killed_anywhere_is_finished_by_the_next(lab, tmp_path):
    folder = finished(tmp_path, tag="rid", own_names=True, budget={"max_num_trials": 2})
    for after in range(100):
        assert lab.told(folder)
        names = [one["TrialComponentName"] for one in lab.components(ExperimentName="rid-fake").values()]
        assert len(names) == 3
        try:
            lab.tracker(dies_after=after).delete("rid")
            break
        except KilledError:
            lab.tracker().delete("rid")
        assert lab.tracker().holds("rid") == {}
        for name in names:
            with pytest.raises(lab.client.exceptions.ResourceNotFound):
                lab.client.describe_trial_component(TrialComponentName=name)
    assert after > 8


def test_what_a_killed_controller_left_in_progress_is_closed(lab, tmp_path):
    spec = spec_of(tmp_path, tag="left", budget={"max_num_trials": 2})
    folder = prepared(spec)
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        whole = MemoryJournal()
        run_into(whole, spec, jobs=FakeJobs(prefix=spec.job_prefix(IDENTITY)))
        records = [*whole.records()]
        until = [number for number, record in enumerate(records) if record.kind == "reported"][1]
        for record in records[: until + 1]:
            journal.append(record.at, record.kind, record.body)
    one, tracker = FollowedExperiment(folder, is_live=lambda folder: True), lab.tracker()
    one.catch_up(tracker, lab.said.append)
    one.close()
    running = lab.components(ExperimentName="left-fake")
    assert {component["Status"]["PrimaryStatus"] for component in running.values()} == {"InProgress"}
    assert lab.told(folder)
    closed = lab.components(ExperimentName="left-fake")
    assert sorted(closed) == sorted(running)
    assert {component["Status"]["PrimaryStatus"] for component in closed.values()} == {"Stopped"}
    assert all("EndTime" in component for component in closed.values())


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_told_while_a_command_runs_and_then_exported_changes_nothing(lab, tmp_path, monkeypatch, capsys, backend):
    (tmp_path / "toy.py").write_text(SCRIPT, encoding="utf-8")
    block = "sagemaker: {image: 'image:1', log_settle_s: 1}\narguments: {instance_type: ml.m5.large}\n" if backend == "sagemaker" else ""
    (tmp_path / "toy.yaml").write_text(DEFINITION + block, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    tag = f"live-{backend}"
    words = ["--experiment_tag", tag, "--results_dir", "results", "--track", "sagemaker", "--yes"]
    assert main(["run", "--benchmark", "toy.yaml", "--backend", backend, *words]) == 0
    err = capsys.readouterr().err
    assert "lacks something" not in err, err
    live = {name: plain(one) for name, one in lab.components(ExperimentName=f"{tag}-toy").items()}
    assert sorted(live) == [f"RS-{backend}-0", "trial-0", "trial-1", "trial-2"]
    assert [counts(live[f"trial-{number}"])["loss"][0] for number in range(3)] == [4, 4, 4]
    assert {one["Status"]["PrimaryStatus"] for one in live.values()} == {"Completed"}
    jobs = lab.client.search(Resource="TrainingJob", SearchExpression={"Filters": [{"Name": "Tags.outrider:tag", "Value": tag}]})["Results"]
    assert {"ExperimentConfig" in one["TrainingJob"] for one in jobs} == ({True} if backend == "sagemaker" else set())
    assert main(["export", tag, "--results_dir", "results", "--to", "sagemaker"]) == 0
    assert {name: plain(one) for name, one in lab.components(ExperimentName=f"{tag}-toy").items()} == live


def test_the_policy_of_whoever_starts_has_every_call(lab, tmp_path):
    assert lab.told(finished(tmp_path, tag="policy", own_names=True, budget={"max_num_trials": 1}))
    assert lab.tracker().delete("policy") == 2
    assert {"CreateExperiment", "BatchPutMetrics", "DeleteTrial", "Search"} <= set(lab.clients.counts) <= set(CALLER)
