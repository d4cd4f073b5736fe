"""`launch --resume TAG` and `--resume TAG --take_over` on an emulator: who may go on with a launched run, and with what."""

from __future__ import annotations

import dataclasses
import json

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import Delays
from benchmarking.remote.launch_record import as_json, from_json
from benchmarking.report.text import dollars
from benchmarking.studies.record import from_json as study_from_json
from launch.__main__ import main
from tests.launch.test_launch import DEFINITION, jobs, launch, launching_to, read, runs, toy_source

pytestmark = pytest.mark.slow


@pytest.fixture
def emulator(monkeypatch, tmp_path):
    with Emulator(settings=Settings(delays=Delays(cold_start_s=3600.0))) as running:
        launching_to(monkeypatch, running, tmp_path)
        yield running


@pytest.fixture
def source(tmp_path):
    return toy_source(tmp_path)


def end(emulator, *names):
    for name in names:
        emulator.client("sagemaker").stop_training_job(TrainingJobName=name)
        waiter = emulator.client("sagemaker").get_waiter("training_job_completed_or_stopped")
        waiter.wait(TrainingJobName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})


def described(emulator, name):
    return emulator.client("sagemaker").describe_training_job(TrainingJobName=name)


def resume(*words):
    return main(["launch", "--resume", "t1", *words])


def test_a_run_whose_controller_lives_is_refused_for_both(emulator, source, capsys):
    assert launch(source) == 0
    (job,) = jobs(emulator)
    before = runs(emulator)
    assert resume() == 2
    assert main(["run", "--resume", "t1", "--take_over"]) == 2
    err = capsys.readouterr().err
    assert err.count(f"{job} is InProgress") == 2
    assert (jobs(emulator), runs(emulator)) == ([job], before)


def test_the_next_generation_is_as_the_one_before_and_the_mark_is_lifted(emulator, source, capsys):
    assert launch(source, "--remote_volume_gb", "44", "--remote_tags", "team=x", "--controllers", "2", "--num_seeds", "2") == 0
    first = jobs(emulator)
    end(emulator, *first)
    emulator.client("s3").put_object(Bucket="sagemaker-us-east-1-123456789012", Key="outrider/runs/t1/.stop", Body=b"{}")
    capsys.readouterr()
    assert resume() == 0
    captured = capsys.readouterr()
    assert "the mark to stop is lifted" in captured.err
    second = sorted(set(jobs(emulator)) - {*first})
    assert second == [name.replace("-g1", "-g2") for name in first]
    assert not [key for key in runs(emulator) if key.endswith(".stop")]
    for one, two in zip(first, second, strict=True):
        before, after = described(emulator, one), described(emulator, two)
        for key in (
            "RoleArn",
            "Environment",
            "ResourceConfig",
            "StoppingCondition",
            "InputDataConfig",
            "OutputDataConfig",
            "CheckpointConfig",
        ):
            assert after[key] == before[key], key
        words, again = (found["AlgorithmSpecification"]["ContainerArguments"] for found in (before, after))
        assert again == [*words[:-1], "2"]
        tags = emulator.client("sagemaker").list_tags(ResourceArn=after["TrainingJobArn"])["Tags"]
        assert {"team": "x", "outrider:generation": "2"}.items() <= {tag["Key"]: tag["Value"] for tag in tags}.items()


def test_controllers_are_as_they_are_asked_for_when_it_goes_on(emulator, source, capsys):
    assert launch(source, "--remote_tags", "team=x", "--num_seeds", "2", "--max_cost", "5") == 0
    (first,) = jobs(emulator)
    end(emulator, first)
    capsys.readouterr()
    words = ("--remote_instance_type", "ml.c5.xlarge", "--controllers", "2", "--remote_volume_gb", "70", "--remote_restarts", "1")
    for refused, said in (
        ((*words,), "of max_cost is set aside for them"),
        (("--remote_requirements", "a==1"), "add --accept_changes, which sends both anew"),
        (("--track", "sagemaker"), "a run has the trackers with which it was launched"),
        (("--remote_instance_type", "m5.large"), "types of training jobs begin with ml."),
    ):
        before = {key: read(emulator, key) for key in runs(emulator)}
        assert resume(*refused) == 2
        assert said in capsys.readouterr().err
        assert {key: read(emulator, key) for key in runs(emulator)} == before
    assert resume(*words, "--max_cost", "6", "--verbose", "--remote_tags", "team=y") == 0
    one, two = sorted(set(jobs(emulator)) - {first}, key=lambda name: name.endswith("-g1"))
    assert one == first.replace("-g1", "-g2")
    for name in (one, two):
        found = described(emulator, name)
        assert found["ResourceConfig"] == {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 70}
        tags = emulator.client("sagemaker").list_tags(ResourceArn=found["TrainingJobArn"])["Tags"]
        assert [tag["Value"] for tag in tags if tag["Key"] == "team"] == ["y"]
    record = from_json(read(emulator, "runs/t1/launch.json"), "")
    known = record.controller
    assert (known["instance_type"], record.count, known["volume_gb"], known["restarts"]) == ("ml.c5.xlarge", 2, 70, 1)
    assert record.child == ("--verbose",)
    # 2600 s of one were set aside: as much for each of two, at the price of the dearer type.
    assert record.money.controllers_usd == pytest.approx(2 * 2600 / 3600 * 0.204)
    assert record.money.max_cost == 6.0
    assert study_from_json(read(emulator, "runs/t1/study.json").decode(), "").flags.max_cost == pytest.approx(record.money.trials_usd)
    # Requirements that did not install are replaced by those that do, for all that follows.
    end(emulator, one, two)
    assert resume("--accept_changes", "--remote_requirements", "outrider-other==1") == 0
    after = from_json(read(emulator, "runs/t1/launch.json"), "")
    assert (after.controller["requirements"], after.count) == (["outrider-other==1"], 2)
    assert after.code.hash != record.code.hash
    end(emulator, *({*jobs(emulator)} - {first, one, two}))
    capsys.readouterr()
    assert resume("--accept_changes") == 0
    assert "its code is as it was launched" in capsys.readouterr().err


def test_code_that_was_mended_is_sent_where_that_is_asked_for(emulator, source, capsys):
    assert launch(source) == 0
    end(emulator, *jobs(emulator))
    before = from_json(read(emulator, "runs/t1/launch.json"), "")
    (source / "run.py").write_text("print(2)\n", encoding="utf-8")
    # As if another Outrider had launched it.
    old = dataclasses.replace(before, code=dataclasses.replace(before.code, key="code/0123/", hash="0123"))
    key = "outrider/runs/t1/launch.json"
    emulator.client("s3").put_object(Bucket="sagemaker-us-east-1-123456789012", Key=key, Body=as_json(old).encode())
    assert resume("--accept_changes") == 0
    after = from_json(read(emulator, "runs/t1/launch.json"), "")
    assert f"sent: toy as it is now ({after.sources['toy'].hash}, it was {before.sources['toy'].hash}), outrider as it is now" in (
        capsys.readouterr().err
    )
    assert after.sources["toy"].hash != before.sources["toy"].hash
    assert read(emulator, f"{after.sources['toy'].key}source.tar.gz")
    assert after.code.hash == before.code.hash
    assert after.child == ("--accept_changes",)
    assert (after.nonce, after.sources["toy"].source_dir) == (before.nonce, str(source))
    (job,) = [name for name in jobs(emulator) if name.endswith("-g2")]
    (channel,) = described(emulator, job)["InputDataConfig"]
    assert channel["DataSource"]["S3DataSource"]["S3Uri"].endswith(f"/outrider/{before.code.key}")
    # Where nothing changed nothing is sent; a source that is not here cannot be.
    end(emulator, job)
    assert resume("--accept_changes") == 0
    assert "its code is as it was launched" in capsys.readouterr().err
    end(emulator, job.replace("-g2", "-g3"))
    source.rename(source.with_name("elsewhere"))
    assert resume("--accept_changes") == 2
    assert "there is no such folder on this machine" in capsys.readouterr().err


def test_a_generation_that_was_claimed_and_never_created_is_created(emulator, source):
    assert launch(source) == 0
    (job,) = jobs(emulator)
    end(emulator, job)
    claim = {"job": job.replace("-g1", "-g2"), "nonce": from_json(read(emulator, "runs/t1/launch.json"), "").nonce, "at": ""}
    emulator.client("s3").put_object(
        Bucket="sagemaker-us-east-1-123456789012", Key="outrider/runs/t1/.controllers/1/g2.json", Body=json.dumps(claim).encode()
    )
    assert resume() == 0
    assert jobs(emulator) == sorted([job, claim["job"]])


def test_a_launch_that_was_cut_off_before_its_first_job_goes_on(emulator, source):
    assert launch(source) == 0
    (job,) = jobs(emulator)
    # As if the launcher had died before the claim: there is launch.json and study.json alone, and no job was ever made.
    with Emulator(settings=Settings(delays=Delays(cold_start_s=3600.0))) as other:
        other.create_bucket("sagemaker-us-east-1-123456789012")
        for key in ("runs/t1/launch.json", "runs/t1/study.json"):
            other.client("s3").put_object(Bucket="sagemaker-us-east-1-123456789012", Key=f"outrider/{key}", Body=read(emulator, key))
        with pytest.MonkeyPatch.context() as patch:
            for name, value in other.environment.items():
                patch.setenv(name, value)
            assert resume() == 0
        assert jobs(other) == [job]
        one, two = described(emulator, job), described(other, job)
        assert one["AlgorithmSpecification"]["MetricDefinitions"]
        for description in (one, two):
            del description["AlgorithmSpecification"]["EnableSageMakerMetricsTimeSeries"]
        for key in ("AlgorithmSpecification", "StoppingCondition", "ResourceConfig", "Environment", "InputDataConfig"):
            assert one[key] == two[key], key


def metrics_of(emulator, name):
    return [one["Name"] for one in described(emulator, name)["AlgorithmSpecification"].get("MetricDefinitions", ())]


def test_the_console_shows_what_was_added_to_a_study_when_it_goes_on(emulator, source):
    assert launch(source) == 0
    (job,) = jobs(emulator)
    first = metrics_of(emulator, job)
    assert "best_experiment" not in first
    end(emulator, job)
    added = source / "other.yaml"
    added.write_text(DEFINITION.replace("name: toy", "name: other"), encoding="utf-8")
    assert resume("--benchmark", str(source / "toy.yaml"), str(added), "--method", "RS", "--num_seeds", "2") == 0
    (second,) = {*jobs(emulator)} - {job}
    assert {*metrics_of(emulator, second)} == {
        *(*first, "best_experiment"),
        *(f"other:{name}" for name in ("best_metric_value", "best_trial_id", "best_experiment", "best_hp_x")),
    }


def test_a_run_that_was_launched_without_metrics_has_none_when_it_goes_on(emulator, source):
    assert launch(source, "--no-remote_tuning_metrics") == 0
    (job,) = jobs(emulator)
    end(emulator, job)
    assert resume("--num_seeds", "2") == 0
    assert [metrics_of(emulator, name) for name in jobs(emulator)] == [[], []]


def test_a_launch_that_was_cut_off_before_its_study_was_written_is_cleaned_and_launched_again(emulator, source, capsys):
    bucket = "sagemaker-us-east-1-123456789012"
    assert launch(source) == 0
    end(emulator, *jobs(emulator))
    for key in runs(emulator):
        if not key.endswith("/launch.json"):
            emulator.client("s3").delete_object(Bucket=bucket, Key=f"outrider/{key}")
    before = jobs(emulator)
    assert resume() == 2
    assert "it has no study.json" in capsys.readouterr().err
    assert jobs(emulator) == before
    assert main(["clean", "--tag", "t1", "--yes"]) == 0
    assert launch(source) == 0
    assert len(jobs(emulator)) == 2


def test_a_study_gets_more_seeds_and_methods_when_it_goes_on(emulator, source, capsys):
    assert launch(source, "--num_seeds", "1") == 0
    end(emulator, *jobs(emulator))
    before = study_from_json(read(emulator, "runs/t1/study.json").decode(), "")
    assert resume("--num_seeds", "2", "--method", "ASHA_NOT") == 2
    capsys.readouterr()
    assert resume("--num_seeds", "3") == 0
    assert "added: toy x RS x seed 1 and" in capsys.readouterr().err.replace(", toy x RS x seed 2", " and")
    after = study_from_json(read(emulator, "runs/t1/study.json").decode(), "")
    assert after.experiments[: len(before.experiments)] == before.experiments
    assert [one.number for one in after.experiments] == [0, 1, 2]
    assert f"source_dir: {source}" in after.definitions["toy"]


def test_a_cap_that_is_raised_sets_the_same_aside_again(emulator, source, capsys):
    assert launch(source, "--num_seeds", "2", "--max_cost", "5") == 0
    usd = 2600 / 3600 * 0.115
    end(emulator, *jobs(emulator))
    assert resume("--max_cost", "4.99") == 2  # more than trials have now, less than the whole was
    assert resume("--max_cost", "6") == 0
    assert "max_cost $6.00: $0.083 for controllers, $5.92 for trials" in capsys.readouterr().out
    assert from_json(read(emulator, "runs/t1/launch.json"), "").money.max_cost == 6.0
    study = study_from_json(read(emulator, "runs/t1/study.json").decode(), "")
    assert study.flags.max_cost == pytest.approx(6.0 - usd)
    assert [one.share_usd for one in study.experiments] == [pytest.approx((6.0 - usd) / 2)] * 2


def test_a_tag_that_was_never_launched_is_said(emulator, capsys):
    emulator.create_bucket("sagemaker-us-east-1-123456789012")
    assert resume() == 2
    assert "there is no launched run 't1'" in capsys.readouterr().err
    assert main(["run", "--take_over", "--benchmark", "digits"]) == 2
    assert "say with which" in capsys.readouterr().err


SCRIPT = """
import sys
from outrider_report import report
report(loss=float(next(word for word in sys.argv if word.startswith("--x=")).partition("=")[2]))
"""


@pytest.fixture
def running(monkeypatch, tmp_path):
    """An emulator on which jobs start at once."""
    with Emulator() as found:
        launching_to(monkeypatch, found, tmp_path)
        yield found


def assert_the_bill_is_the_emulators(running, capsys):
    """What `status` and `collect` say was spent is what the emulator bills for all jobs, controllers apart."""
    billed = {name: described(running, name)["BillableTimeInSeconds"] * 0.115 / 3600 for name in jobs(running)}
    controllers_usd = sum(usd for name, usd in billed.items() if name.startswith("ctl-"))
    capsys.readouterr()
    assert main(["status", "t1", "--format", "json"]) == 0
    bill = json.loads(capsys.readouterr().out)["bill"]
    assert (bill["controllers_usd"], bill["not_billed_usd"], bill["unknown"]) == (pytest.approx(controllers_usd), 0.0, 0)
    assert bill["total_usd"] == pytest.approx(sum(billed.values()))
    assert main(["collect", "t1"]) == 0
    assert f"spent so far: controllers {dollars(controllers_usd)} (1 generation), trials " in capsys.readouterr().out


@pytest.mark.timeout(170)  # a dozen processes that import boto3, on a busy machine
def test_a_study_is_launched_watched_collected_and_taken_over(running, source, tmp_path, capsys):
    (source / "run.py").write_text(SCRIPT, encoding="utf-8")
    assert launch(source, "--watch", "--max_num_trials", "1", "--set", "log_settle_s=0.5") == 0
    captured = capsys.readouterr()
    (controller,) = [name for name in jobs(running) if name.startswith("ctl-")]
    assert f"{controller}: Completed" in captured.err
    assert f"results: {tmp_path / 'results' / 't1'}" in captured.out
    # Nothing was uploaded anew: the project, and the source as trials get it.
    listed = running.client("s3").list_objects_v2(Bucket="sagemaker-us-east-1-123456789012", Prefix="outrider/code/")["Contents"]
    record = from_json(read(running, "runs/t1/launch.json"), "")
    assert {one["Key"].split("/")[2] for one in listed} == {record.code.hash, record.sources["toy"].hash}
    trials = [name for name in jobs(running) if not name.startswith("ctl-")]
    before = {path: path.read_bytes() for path in (tmp_path / "results" / "t1").glob("*/*/trials.csv")}
    assert len(before) == 1
    # The report has the controller in its time line, and what it cost.
    figures = {one["key"]: one for one in json.loads((tmp_path / "results" / "t1" / "figures.json").read_text())["figures"]}
    panel = figures["time_line"]["panels"][0]
    assert (panel["title"], panel["lanes"], [span["kind"] for span in panel["spans"]]) == (
        "controllers",
        ["controller 1"],
        ["generation 1"],
    )
    assert controller in panel["spans"][0]["text"]
    # What was measured is kept with the results, and runs again by its name here.
    (kept,) = (tmp_path / "results" / "t1").glob("toy/*/source/*/run.py")
    assert kept.read_text(encoding="utf-8") == SCRIPT
    assert f"source_dir: {source}" in (kept.parents[2] / "definition.yaml").read_text(encoding="utf-8")
    # What is in its folder here is no run of this machine: whether somebody is at work on it this machine does not know.
    assert main(["run", "--resume", "t1", "--num_seeds", "2"]) == 2
    assert "run --resume t1 --take_over` here" in capsys.readouterr().err
    # It is over, so that to go on here, without the folder it came from, runs nothing more and changes nothing.
    (source / "run.py").unlink()
    assert main(["run", "--resume", "t1", "--take_over"]) == 0
    assert f"report: {tmp_path / 'results' / 't1' / 'report.html'}" in capsys.readouterr().out
    assert [name for name in jobs(running) if not name.startswith("ctl-")] == trials
    assert {path: path.read_bytes() for path in before} == before
    assert_the_bill_is_the_emulators(running, capsys)
    # With another seed there is more to do, which runs here by the source that travelled, and is kept in S3.
    capsys.readouterr()
    assert main(["run", "--resume", "t1", "--take_over", "--num_seeds", "2"]) == 0
    assert len([name for name in jobs(running) if not name.startswith("ctl-")]) > len(trials)
    assert [key for key in runs(running) if key.startswith("runs/t1/toy/RS-sagemaker-1/journal/")]
    assert len(study_from_json(read(running, "runs/t1/study.json").decode(), "").experiments) == 2


def test_a_replayed_study_runs_in_its_controller_and_the_table_travels(running, source, tmp_path, capsys):
    rows = "".join(f"{x},{step},{step},{x + 1 / step}\n" for x in (0.25, 0.5) for step in (1, 2, 3))
    (source / "table.csv").write_text(f"x,elapsed_s,epoch,loss\n{rows}", encoding="utf-8")
    text = DEFINITION.replace("{uniform: [0.0, 1.0]}", "{choice: [0.25, 0.5]}").replace("ml.m5.large", "local.1cpu")
    (source / "toy.yaml").write_text(f"{text}\nsimulated: {{table: table.csv}}\n", encoding="utf-8")
    assert main(["launch", "--benchmark", str(source / "toy.yaml"), "--backend", "simulated", "--experiment_tag", "t1", "--watch"]) == 0
    record = from_json(read(running, "runs/t1/launch.json"), "")
    assert [*record.data] == [str(source / "table.csv")]
    assert [name for name in jobs(running) if not name.startswith("ctl-")] == []
    trials = (tmp_path / "results" / "t1" / "toy" / "RS-simulated-0" / "trials.csv").read_text(encoding="utf-8")
    assert trials.count("completed") == 2
