"""`outrider.run(..., remote=True)` on an emulator: the handle's words, and the results that it returns."""

from __future__ import annotations

import pytest

import outrider
from definitions.errors import UserError
from tests.launch.test_launch import emulator, jobs, source  # noqa: F401 (fixtures)

pytestmark = pytest.mark.slow


def test_the_handle_of_a_run_that_waits_for_its_instance(emulator, source, monkeypatch):  # noqa: F811
    options = {"backend": "sagemaker", "experiment_tag": "t1", "remote": {"volume_gb": 55}}
    run = outrider.run(str(source / "toy.yaml"), **options)
    assert (run.tag, list(run.jobs)) == ("t1", jobs(emulator))
    described = emulator.client("sagemaker").describe_training_job(TrainingJobName=run.jobs[0])
    assert described["ResourceConfig"]["VolumeSizeInGB"] == 55
    assert run.status() == {run.jobs[0]: f"InProgress ({described['SecondaryStatus']})"}
    with pytest.raises(UserError, match="it is not over after 0 s"):
        run.wait(timeout_s=0)
    assert run.stop()
    assert run.status()[run.jobs[0]].startswith("Stopped")
    with pytest.raises(UserError, match="launch: tag 't1' is taken"):
        outrider.run(str(source / "toy.yaml"), backend="sagemaker", experiment_tag="t1", remote=True)


def test_a_run_goes_on_from_python_as_it_does_from_the_command_line(emulator, source, monkeypatch):  # noqa: F811
    run = outrider.run(str(source / "toy.yaml"), backend="sagemaker", experiment_tag="t1", remote=True, track="sagemaker")
    assert run._launched.record.child == ("--track", "sagemaker")  # noqa: SLF001 (what its controllers are told)
    assert run.stop()
    again = outrider.run([], resume="t1", remote={"volume_gb": 66, "tags": {"team": "x"}})
    assert again.jobs == (run.jobs[0].replace("-g1", "-g2"),)
    described = emulator.client("sagemaker").describe_training_job(TrainingJobName=again.jobs[0])
    assert described["ResourceConfig"]["VolumeSizeInGB"] == 66
    tags = emulator.client("sagemaker").list_tags(ResourceArn=described["TrainingJobArn"])["Tags"]
    assert {"Key": "team", "Value": "x"} in tags


def test_a_dry_run_prints_and_returns_nothing(emulator, source, capsys):  # noqa: F811
    assert outrider.run(str(source / "toy.yaml"), backend="sagemaker", remote=True, dry_run=True) is None
    assert "nothing was launched" in capsys.readouterr().out
    assert jobs(emulator) == []
