"""Jobs that say where they belong in SageMaker Experiments: at no call more a trial, and at no job's cost where that goes wrong."""

from __future__ import annotations

import pytest

from backends.emulator import Settings
from benchmarking.tracking.catching_up import Telling
from tests.backends.sagemaker.cloud_lab import CloudLab
from tests.backends.sagemaker.experiments.test_tracker import Lab, counts, plain

pytestmark = pytest.mark.slow

TRIALS = [{"steps": 2, "x": 0.1 * number} for number in range(5)]


@pytest.fixture
def cloud(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, settings=Settings()) as lab:
        yield lab


def folder_of(lab, tag):
    (folder,) = (lab.folder / "results" / tag / "lab").iterdir()
    return folder


def of_experiments(calls):
    """Return the calls of SageMaker Experiments alone."""
    return {
        name: count for name, count in calls.items() if "Trial" in name or "Experiment" in name or "Metrics" in name or name == "Search"
    }


def test_the_components_of_jobs_are_made_by_their_requests(cloud):
    run = cloud.run(cloud.definition(TRIALS), is_tracked=True)
    assert run.statuses == ["completed"] * 5
    # One experiment and one trial for fifty jobs.
    made = {name: count for name, count in of_experiments(run.calls).items() if name != "ListTrainingJobs"}
    assert made == {"CreateExperiment": 1, "CreateTrial": 1}
    jobs = cloud.jobs()
    (trial,) = {job["ExperimentConfig"]["TrialName"] for job in jobs}
    assert trial == f"{jobs[0]['TrainingJobName'].rpartition('-t')[0]}-0"
    there = Lab(cloud.emulator).components(TrialName=trial)
    assert sorted(there) == [f"trial-{number}" for number in range(5)]
    assert there["trial-0"]["TrialComponentName"].endswith("-t0-a1-aws-training-job")


def test_told_while_jobs_say_it_or_afterwards_gives_the_same(cloud):
    labs = Lab(cloud.emulator)
    shown = []
    for tag, is_tracked in (("live", True), ("later", False)):
        cloud.run(cloud.definition(TRIALS[:3]), tag=tag, is_tracked=is_tracked, check=False)
        labs.clients.counts.clear()
        assert labs.told(folder_of(cloud, tag))
        made = of_experiments(labs.clients.counts)
        assert made.get("CreateTrialComponent") == (1 if is_tracked else 4)
        found = labs.components(ExperimentName=f"{tag}-lab")
        assert sorted(found) == ["LISTED-sagemaker-0", "trial-0", "trial-1", "trial-2"]
        shown.append(
            {
                name: (
                    one["Parameters"]["x"] if name != "LISTED-sagemaker-0" else None,
                    one["Status"]["PrimaryStatus"],
                    counts(one).get("loss"),
                    one["TrialComponentName"].split("-", 3)[3] if name != "LISTED-sagemaker-0" else "",
                )
                for name, one in found.items()
            }
        )
        before = {name: plain(one) for name, one in found.items()}
        assert labs.told(folder_of(cloud, tag))
        assert {name: plain(one) for name, one in labs.components(ExperimentName=f"{tag}-lab").items()} == before
    assert shown[0] == shown[1]
    assert shown[0]["trial-1"] == ({"NumberValue": 0.1}, "Completed", (2, pytest.approx(0.6)), "t1-a1-aws-training-job")


def test_a_follower_beside_the_run_makes_no_component_and_puts_none_into_its_trial(cloud):
    labs = Lab(cloud.emulator)
    follower: list[Telling] = []

    def watch(record, state, backend):
        del state, backend
        if not follower:
            follower.append(labs.telling())
            follower[0].follow_all(cloud.folder / "results" / "tag")
        follower[0].round()

    cloud.run(cloud.definition(TRIALS), is_tracked=True, watch=watch)
    assert follower[0].round()
    made = of_experiments(labs.clients.counts)
    # Of the experiment as a whole, whose trial is its own.
    assert (made["CreateTrialComponent"], made["AssociateTrialComponent"]) == (1, 1)
    found = labs.components(ExperimentName="tag-lab")
    assert [counts(found[f"trial-{number}"])["loss"][0] for number in range(5)] == [2] * 5
    assert {one["Status"]["PrimaryStatus"] for one in found.values()} == {"Completed"}


def test_a_second_attempt_is_a_component_of_its_own_in_the_trial_of_second_attempts(cloud):
    cloud.emulator.add_faults([{"kind": "capacity", "job": "*-t1-a1"}])
    run = cloud.run(cloud.definition(TRIALS[:2]), is_tracked=True)
    assert run.statuses == ["completed"] * 2
    labs = Lab(cloud.emulator)
    assert labs.told(folder_of(cloud, "tag"))
    first, again = (labs.components(TrialName=labs.trials("tag-lab")[number]) for number in (1, 2))
    assert (sorted(first), sorted(again)) == (["trial-0", "trial-1"], ["trial-1"])
    assert labs.trials("tag-lab")[2] == labs.trials("tag-lab")[1] + "-a2"
    assert (first["trial-1"]["Status"]["PrimaryStatus"], again["trial-1"]["Status"]["PrimaryStatus"]) == ("Failed", "Completed")
    assert (counts(first["trial-1"]), counts(again["trial-1"])["loss"][0]) == ({}, 2)
    labs.clients.counts.clear()
    assert labs.told(folder_of(cloud, "tag"))
    assert dict(labs.clients.counts) == {"Search": 1}


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "error", "operation": "CreateTrial", "code": "AccessDeniedException", "status": 403},
        {"kind": "throttle", "operation": "CreateExperiment"},
        {"kind": "error", "operation": "CreateTrial", "code": "InternalFailure", "status": 500},
    ],
)
def test_what_experiments_refuse_costs_no_job_and_is_said_once(cloud, fault):
    cloud.emulator.add_faults([fault])
    run = cloud.run(cloud.definition(TRIALS), is_tracked=True)
    assert run.statuses == ["completed"] * 5
    assert not any("ExperimentConfig" in job for job in cloud.jobs())
    assert sum("jobs do not say where they belong in SageMaker Experiments" in note for note in run.notes) == 1
    assert of_experiments(run.calls)["CreateExperiment"] == 1
    cloud.emulator.clear_faults()
    labs = Lab(cloud.emulator)
    assert labs.told(folder_of(cloud, "tag"))
    assert len(labs.components(ExperimentName="tag-lab")) == 6


def test_a_trial_that_is_deleted_meanwhile_costs_no_job(cloud):
    deleted = []

    def watch(record, state, backend):
        del state, backend
        if record.kind == "closed" and not deleted:
            labs = Lab(cloud.emulator)
            deleted.append(labs.tracker().delete("tag"))

    run = cloud.run(cloud.definition(TRIALS, n_workers=1), is_tracked=True, watch=watch)
    assert deleted[0] >= 1
    assert run.statuses == ["completed"] * 5
    assert ["ExperimentConfig" in job for job in cloud.jobs()][-1] is False
