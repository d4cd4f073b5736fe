"""`outrider launch` on an emulator: what is sent and created, what is refused beforehand, and that half of it is never left."""

from __future__ import annotations

import json
import threading

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import Delays
from backends.sagemaker.code.packing import pack
from benchmarking.remote.launch_record import RunMoney, from_json
from benchmarking.studies.record import from_json as study_from_json
from definitions.errors import UserError
from launch.__main__ import main
from launch.launching.checks import check_controllers
from tests.backends.tag_bench import use

pytestmark = pytest.mark.slow

BUCKET = "sagemaker-us-east-1-123456789012"
ROLE = "arn:aws:iam::123456789012:role/of-trials"
DEFINITION = """
name: toy
script: run.py
space:
  x: {uniform: [0.0, 1.0]}
arguments: {instance_type: ml.m5.large}
objectives: {loss: min}
budget: {max_num_trials: 3, max_run: 600, max_wallclock_time: 1000}
sagemaker: {image: "image:1"}
"""


def launching_to(monkeypatch, emulator, tmp_path):
    """Have commands launch to an emulator, and leave their results in the test's folder."""
    use(monkeypatch, emulator.environment, tmp_path)
    monkeypatch.delenv("OUTRIDER_CONTROLLER_ROLE", raising=False)
    monkeypatch.setenv("OUTRIDER_RESULTS", str(tmp_path / "results"))


def toy_source(tmp_path):
    """Return the folder of a script and its definition, newly made."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "run.py").write_text("print(1)\n", encoding="utf-8")
    (folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    return folder


@pytest.fixture
def emulator(monkeypatch, tmp_path):
    # Nothing starts within the time of a test, so that only what was asked for is seen.
    quotas = {"ml.c5.xlarge for training job usage": 0, "ml.c5.2xlarge for training job usage": 2, **Settings().quotas}
    with Emulator(settings=Settings(quotas=quotas, delays=Delays(cold_start_s=3600.0))) as running:
        launching_to(monkeypatch, running, tmp_path)
        yield running


@pytest.fixture
def source(tmp_path):
    return toy_source(tmp_path)


def launch(source, *words, tag="t1"):
    return main(["launch", "--benchmark", str(source / "toy.yaml"), "--backend", "sagemaker", "--experiment_tag", tag, *words])


def objects(emulator):
    try:
        listed = emulator.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", [])
    except Exception:  # noqa: BLE001 - there is no bucket yet
        return []
    return [one["Key"].removeprefix("outrider/") for one in listed]


def read(emulator, key):
    return emulator.client("s3").get_object(Bucket=BUCKET, Key=f"outrider/{key}")["Body"].read()


def jobs(emulator):
    return sorted(one["TrainingJobName"] for one in emulator.client("sagemaker").list_training_jobs()["TrainingJobSummaries"])


def runs(emulator):
    return [key for key in objects(emulator) if key.startswith("runs/")]


def test_it_returns_when_the_job_is_accepted_and_says_how_the_run_is_looked_after(emulator, source, capsys):
    assert launch(source) == 0
    out = capsys.readouterr().out.splitlines()
    (job,) = jobs(emulator)
    assert out[0] == f"launched: {job}"
    assert [line.partition(":")[0] for line in out[1:]] == ["status", "logs", "collect", "stop", "copy"]
    assert out[-1].endswith(f"aws s3 sync s3://{BUCKET}/outrider/runs/t1 t1")
    assert runs(emulator) == ["runs/t1/.controllers/1/g1.json", "runs/t1/launch.json", "runs/t1/study.json"]
    assert json.loads(read(emulator, "runs/t1/.controllers/1/g1.json"))["job"] == job


def test_where_a_run_is_not_where_runs_are_looked_for_the_lines_say_where(emulator, source, capsys):
    emulator.create_bucket("mine")
    words = ("--remote_bucket", "mine", "--remote_prefix", "team/x", "--set", "sagemaker.bucket=mine", "sagemaker.prefix=team/x")
    assert launch(source, *words) == 0
    shown = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines()[1:])
    for name in ("status", "logs", "collect", "stop"):
        assert shown[name].endswith(" --bucket mine --prefix team/x")
    asked = shown["status"].split()
    assert main(asked[asked.index("status") :]) == 0
    assert "claimed, and has said nothing yet" in capsys.readouterr().out
    assert launch(source, *words) == 2
    assert "launch --resume t1 --remote_bucket mine --remote_prefix team/x" in capsys.readouterr().err


def test_what_is_launched_is_a_study_whose_trials_upload_nothing_anew(emulator, source):
    assert launch(source) == 0
    record = from_json(read(emulator, "runs/t1/launch.json"), "launch.json")
    package = pack(source)
    assert record.sources["toy"].hash == package.hash
    assert {f"code/{package.hash}/complete.json", f"{record.code.key}complete.json"} <= set(objects(emulator))
    study = study_from_json(read(emulator, "runs/t1/study.json").decode(), "study.json")
    assert [one.key for one in study.experiments] == [("toy", "RS", 0)]
    assert study.flags.backend == "sagemaker"


def test_the_state_names_no_account_and_the_role_of_trials_travels_in_the_job(emulator, source):
    assert launch(source, "--set", f"role={ROLE}", "--num_seeds", "2") == 0
    for key in runs(emulator):
        assert b"123456789012" not in read(emulator, key), key
    described = emulator.client("sagemaker").describe_training_job(TrainingJobName=jobs(emulator)[0])
    assert described["Environment"]["OUTRIDER_ROLE"] == ROLE
    assert described["RoleArn"] != ROLE


@pytest.mark.parametrize("collected", [False, True])
def test_a_tag_that_the_bucket_has_is_refused_with_how_to_go_on(emulator, source, tmp_path, capsys, collected):
    assert launch(source) == 0
    if collected:
        (tmp_path / "results" / "t1").mkdir(parents=True)
    before = {key: read(emulator, key) for key in runs(emulator)}
    assert launch(source, "--num_seeds", "3") == 2
    assert "launch --resume t1` goes on with it" in capsys.readouterr().err
    assert {key: read(emulator, key) for key in runs(emulator)} == before
    assert len(jobs(emulator)) == 1


def test_a_tag_that_has_results_here_is_refused(emulator, source, tmp_path, capsys):
    (tmp_path / "results" / "t1").mkdir(parents=True)
    assert launch(source) == 2
    assert "taken by results in" in capsys.readouterr().err
    assert objects(emulator) == []


def test_of_two_launches_of_one_tag_at_once_one_has_it(emulator, source):
    codes: list[int] = []
    threads = [threading.Thread(target=lambda: codes.append(launch(source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [0, 2, 2, 2]
    (job,) = jobs(emulator)
    assert json.loads(read(emulator, "runs/t1/.controllers/1/g1.json"))["job"] == job
    assert from_json(read(emulator, "runs/t1/launch.json"), "launch.json").nonce


def test_a_controller_that_is_refused_leaves_nothing_of_the_run(emulator, source, capsys):
    assert launch(source, "--remote_instance_type", "ml.c5.xlarge") == 5
    assert "ml.c5.xlarge for training job usage" in capsys.readouterr().err
    assert (runs(emulator), jobs(emulator)) == ([], [])
    assert launch(source) == 0


def test_a_mark_that_an_earlier_stop_left_ends_no_run_that_is_launched_later(emulator, source, capsys):
    emulator.create_bucket(BUCKET)
    assert main(["stop", "--tag", "t1"]) == 0
    assert runs(emulator) == ["runs/t1/.stop"]
    capsys.readouterr()
    assert launch(source) == 0
    assert "the mark to stop, which an earlier `outrider stop t1` left, is lifted" in capsys.readouterr().err
    assert "runs/t1/.stop" not in runs(emulator)
    # One that is left now is of this run.
    assert main(["stop", "--tag", "t1"]) == 0
    assert "runs/t1/.stop" in runs(emulator)


def test_a_create_that_is_not_answered_made_the_job_and_no_second_one(emulator, source, capsys):
    emulator.add_faults([{"kind": "reset", "operation": "CreateTrainingJob", "times": 2}])
    assert launch(source, "--controllers", "2") == 0
    said = capsys.readouterr().out.splitlines()[0].removeprefix("launched: ").split(", ")
    assert len(said) == 2
    assert sorted(said) == jobs(emulator)


def test_where_the_quota_has_room_for_some_controllers_these_share_the_experiments(emulator, source, capsys):
    assert launch(source, "--remote_instance_type", "ml.c5.2xlarge", "--controllers", "4", "--num_seeds", "4") == 0
    out = capsys.readouterr().out
    assert "2 of 4 controllers were accepted, which share all experiments" in out
    assert [name.rpartition("-")[2] for name in jobs(emulator)] == ["g1", "g1"]
    assert sorted(key for key in runs(emulator) if ".controllers" in key) == [f"runs/t1/.controllers/{i}/g1.json" for i in (1, 2)]
    assert from_json(read(emulator, "runs/t1/launch.json"), "launch.json").count == 4


def test_a_lack_of_instances_is_said_and_leaves_nothing(emulator, source, capsys):
    emulator.add_faults([{"kind": "capacity", "on": "create", "job": "ctl-*"}])
    assert launch(source) == 5
    assert "capacity" in capsys.readouterr().err.lower()
    assert (runs(emulator), jobs(emulator)) == ([], [])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "run.py").unlink(), "there is no file 'run.py'"),
        (lambda folder: (folder / "out").symlink_to("/etc/hostname"), "it is a link out of the source folder"),
        (lambda folder: (folder / "large.bin").open("wb").truncate(201_000_000), "201 MB would travel to each job, at most 200 MB can"),
    ],
)
def test_a_source_that_cannot_travel_is_refused_before_anything_is_created(emulator, source, capsys, spoil, said):
    spoil(source)
    assert launch(source) == 2
    assert said in capsys.readouterr().err
    assert (objects(emulator), jobs(emulator)) == ([], [])


def test_a_tag_of_41_characters_is_taken_and_one_more_is_not(emulator, source, capsys):
    assert launch(source, tag="x" * 41) == 0
    assert all(len(name) <= 63 for name in jobs(emulator))
    assert launch(source, tag="x" * 42) == 2
    assert "at most 41" in capsys.readouterr().err


def test_a_dry_run_creates_nothing_and_says_what_it_would_cost(emulator, source, capsys):
    assert launch(source, "--dry_run", "--max_cost", "5") == 0
    out = capsys.readouterr().out
    assert "controllers: 1 x ml.m5.large, each for 60 min 0 s a generation, 2 at most" in out
    # 1000 s of the study and two starts of 300 s, at $0.115 an hour.
    assert "they cost at most $0.051" in out
    assert "max_cost $5.00: $0.051 for controllers, $4.95 for trials" in out
    assert "numpy==" in out
    assert (objects(emulator), jobs(emulator)) == ([], [])


def test_what_controllers_cost_is_set_aside_and_experiments_share_the_rest(emulator, source, capsys):
    assert launch(source, "--num_seeds", "2", "--max_cost", "5") == 0
    # 2 experiments of 1000 s and two starts of 300 s, at $0.115 an hour.
    usd = 2600 / 3600 * 0.115
    money = from_json(read(emulator, "runs/t1/launch.json"), "launch.json").money
    assert money == RunMoney(5.0, pytest.approx(usd), pytest.approx(5.0 - usd))
    study = study_from_json(read(emulator, "runs/t1/study.json").decode(), "study.json")
    assert study.flags.max_cost == money.trials_usd
    assert [one.share_usd for one in study.experiments] == [pytest.approx((5.0 - usd) / 2)] * 2
    assert "max_cost $5.00: $0.083 for controllers, $4.92 for trials" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cap", "said"),
    [
        (
            "0.05",
            "max_cost = $0.050 does not cover its controllers\n  over the study's longest time, all generations, they cost $0.051 at most",
        ),
        (
            "0.055",
            "max_cost $0.055: $0.051 for controllers, $0.0039 for trials\n"
            "  toy x RS x seed 0 on sagemaker: max_cost = $0.0039 allows no trial",
        ),
    ],
)
def test_a_cap_too_small_for_controllers_is_refused_before_anything_is_created(emulator, source, capsys, cap, said):
    assert launch(source, "--max_cost", cap) == 2
    assert said in capsys.readouterr().err
    assert (objects(emulator), jobs(emulator)) == ([], [])


def test_it_is_followed_where_that_is_asked_for_or_the_emulator_is_this_commands_own(emulator, source, monkeypatch):
    followed = []
    monkeypatch.setattr("launch.launching.following.follow", lambda place, *more: followed.append(place.tag) or 3)
    assert launch(source) == 0
    assert launch(source, "--watch", tag="t2") == 3
    monkeypatch.setenv("OUTRIDER_EMULATED", "1")
    assert launch(source, tag="t3") == 3
    assert followed == ["t2", "t3"]


def test_hpo_main_remote_is_the_same(emulator, source, capsys):
    assert main(["run", "--remote", "--benchmark", str(source / "toy.yaml"), "--backend", "sagemaker", "--experiment_tag", "t2"]) == 0
    assert "launched: ctl-" in capsys.readouterr().out


def test_the_block_remote_and_flags_say_what_controllers_are_like(emulator, source):
    block = "remote: {instance_type: ml.m5.xlarge, volume_gb: 50, tags: {team: x}, restarts: 1}\n"
    (source / "toy.yaml").write_text(DEFINITION + block, encoding="utf-8")
    words = ("--remote_volume_gb", "70", "--remote_spot", "--remote_max_run", "7200", "--remote_tags", "who=me")
    assert launch(source, *words) == 0
    described = emulator.client("sagemaker").describe_training_job(TrainingJobName=jobs(emulator)[0])
    assert described["ResourceConfig"] == {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 70}
    assert described["StoppingCondition"]["MaxRuntimeInSeconds"] == 7200
    assert described["EnableManagedSpotTraining"]
    tags = emulator.client("sagemaker").list_tags(ResourceArn=described["TrainingJobArn"])["Tags"]
    assert {"team": "x", "who": "me", "outrider:tag": "t1"}.items() <= {one["Key"]: one["Value"] for one in tags}.items()
    assert from_json(read(emulator, "runs/t1/launch.json"), "launch.json").controller["restarts"] == 1


def test_a_tracker_travels_with_its_address_its_client_and_its_word(emulator, source, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")
    assert launch(source, "--track", "mlflow", "--verbose") == 0
    described = emulator.client("sagemaker").describe_training_job(TrainingJobName=jobs(emulator)[0])
    assert described["Environment"]["MLFLOW_TRACKING_URI"] == "http://127.0.0.1:5000"
    assert from_json(read(emulator, "runs/t1/launch.json"), "launch.json").child == ("--verbose", "--track", "mlflow")
    assert all(b"127.0.0.1" not in read(emulator, key) for key in runs(emulator))


def test_flags_of_this_machine_are_refused(emulator, source, capsys):
    assert launch(source, "--check_script") == 2
    assert "it starts the script on this machine" in capsys.readouterr().err
    assert launch(source, "--format", "json") == 2
    assert "once collected: `outrider export TAG --to json`" in capsys.readouterr().err
    assert launch(source, "--track", "mlfow") == 2
    assert "tracker 'mlfow': there is none of this name" in capsys.readouterr().err
    assert objects(emulator) == []
    assert main(["run", "--watch", "--benchmark", "digits"]) == 2
    assert "--watch without --remote" in capsys.readouterr().err


def test_a_dry_run_names_what_controllers_lack(emulator, source, capsys, monkeypatch):
    def missing(plan):
        # As on a real account; an emulator is asked for nothing beforehand.
        try:
            check_controllers(plan)
        except UserError as error:
            return str(error)
        return "nothing is missing"

    monkeypatch.setattr("launch.launching.agreement.missing", missing)
    monkeypatch.setenv("OUTRIDER_ROLE", ROLE)
    assert launch(source, "--dry_run") == 0
    assert capsys.readouterr().out.endswith("nothing is missing\n")
    emulator.add_faults([{"kind": "error", "operation": "PassRole", "code": "AccessDenied", "status": 403}])
    assert launch(source, "--dry_run", "--remote_instance_type", "ml.c5.xlarge") == 0
    out = capsys.readouterr().out
    assert "launch: 2 things are missing for its controllers" in out
    assert '{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::*:role/of-trials"}' in out
    assert "controllers' quota: ml.c5.xlarge for training job usage: 0 instances" in out
    assert "123456789012" not in out
    assert objects(emulator) == []
