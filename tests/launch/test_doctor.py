"""`outrider doctor`: a table or JSON, an exit code, and never a traceback."""

from __future__ import annotations

import json

import pytest
import yaml

from launch.__main__ import main
from tests.backends.tag_bench import BUCKET, TagBench, tag_bench, use

CLOUD = """\
sagemaker:
  space: {instance_type: {choice: [ml.m5.large, ml.m5.xlarge]}, x: {uniform: [0, 1]}}
  framework: pytorch
  framework_version: "2.9"
"""


@pytest.fixture
def cloud(monkeypatch, tmp_path, toy):
    (toy.folder / "cloud.yaml").write_text((toy.folder / "toy.yaml").read_text() + CLOUD)
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        yield TagBench(emulator)


def doctor(capsys, *words):
    capsys.readouterr()
    code = main(["doctor", *words])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert "123456789012" not in captured.out + captured.err
    return code, captured.out, captured.err


def verdicts(out):
    return {check["name"]: check["verdict"] for check in json.loads(out)["checks"]}


@pytest.mark.slow
def test_ready(cloud, capsys):
    code, out, _ = doctor(capsys, "--benchmark", "cloud.yaml")
    assert (code, out.splitlines()[-1]) == (0, "ready")
    assert "quota: ml.m5.xlarge for training job usage" in out
    code, out, _ = doctor(capsys, "--benchmark", "cloud.yaml", "--format", "json")
    assert json.loads(out)["ready"] is True
    assert verdicts(out)["price of ml.m5.large"] == "ok"


@pytest.mark.slow
def test_problems_are_counted_and_come_with_what_to_do(cloud, capsys):
    cloud.emulator.add_faults([{"kind": "quota", "quota": "ml.m5.large for training job usage", "limit": 0}])
    code, out, _ = doctor(capsys, "--benchmark", "cloud.yaml", "--set", "bucket=not-there", "--role", "arn:aws:iam::999999999999:role/r")
    assert (code, out.splitlines()[-1]) == (2, "3 problems")
    assert "there is no bucket not-there" in out
    assert "role: give a role of the account" in out
    assert "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-" in out


@pytest.mark.slow
def test_a_definition_that_does_not_resolve_hides_nothing(cloud, capsys):
    code, out, _ = doctor(capsys, "--benchmark", "nobody", "--format", "json")
    assert code == 2
    found = verdicts(out)
    assert (found["definition"], found["role"], found["bucket is writable"]) == ("failed", "ok", "ok")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        ({"kind": "expired_token"}, "credentials"),
        ({"kind": "error", "operation": "HeadBucket", "code": "AccessDenied", "status": 403}, "bucket"),
    ],
)
def test_where_the_cloud_refuses(cloud, capsys, fault, failed):
    cloud.emulator.add_faults([fault])
    code, out, _ = doctor(capsys, "--format", "json")
    assert code == 5
    assert verdicts(out)[failed] == "failed"


@pytest.mark.parametrize(
    ("environment", "code", "failed"),
    [
        ({}, 2, "AWS configuration"),
        ({"AWS_DEFAULT_REGION": "us-east-1"}, 5, "credentials"),
        ({"AWS_DEFAULT_REGION": "us-east-1", "AWS_PROFILE": "nobody"}, 5, "credentials"),
        ({"AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
          "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, 5, "credentials"),
        ({"AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": "nonsense"}, 5, "credentials"),
    ],
)  # fmt: skip
def test_without_an_account(monkeypatch, tmp_path, capsys, environment, code, failed):
    use(monkeypatch, environment, tmp_path)
    found, out, _ = doctor(capsys, "--format", "json")
    assert found == code
    assert verdicts(out)[failed] == "failed"


def test_this_machine(toy, capsys):
    toy.define()
    code, out, _ = doctor(capsys, "--backend", "local", "--benchmark", "toy.yaml", "--format", "json")
    assert code == 0
    assert set(verdicts(out)) == {"cores", "memory", "disk", "definition", "instance type local.1cpu"}
    toy.define(arguments="{instance_type: local.9999cpu}")
    code, out, _ = doctor(capsys, "--backend", "local", "--benchmark", "toy.yaml", "--format", "json")
    assert (code, verdicts(out)["instance type local.9999cpu"]) == (2, "failed")


@pytest.mark.slow
def test_policies(cloud, capsys):
    code, out, err = doctor(capsys, "--policy", "--role", "arn:aws:iam::111122223333:role/jobs/trainer", "--region", "eu-west-1")
    statements = {one["Sid"]: one for one in json.loads(out)["Statement"]}
    assert (code, err) == (0, "")
    assert statements["PassRole"]["Resource"] == "arn:aws:iam::*:role/jobs/trainer"
    assert statements["Bucket"]["Resource"] == "arn:aws:s3:::sagemaker-eu-west-1-${aws:PrincipalAccount}"
    _, out, _ = doctor(capsys, "--policy", "role", "--benchmark", "cloud.yaml", "--set", "bucket=b", "prefix=p")
    statements = {one["Sid"]: one for one in json.loads(out)["Statement"]}
    assert statements["Objects"]["Resource"] == "arn:aws:s3:::b/p/*"
    _, out, _ = doctor(capsys, "--policy", "trust")
    assert json.loads(out)["Statement"][0]["Principal"] == {"Service": "sagemaker.amazonaws.com"}
    assert doctor(capsys, "--policy", "--backend", "local")[0] == 2
    assert "no role is known" in doctor(capsys, "--policy")[2]


def test_a_template(capsys):
    code, out, _ = doctor(capsys, "--cloudformation")
    resources = {"Bucket", "Role", "ControllerRole", "ControllerPolicy", "CallerPolicy"}
    assert (code, set(yaml.safe_load(out)["Resources"])) == (0, resources)
    code, out, _ = doctor(capsys, "--cloudformation", "network")
    assert (code, {"Vpc", "S3Endpoint", "Lustre"} <= set(yaml.safe_load(out)["Resources"])) == (0, True)


def test_controllers_need_a_policy_wherever_trials_run(capsys):
    code, out, _ = doctor(capsys, "--policy", "controller", "--backend", "local", "--benchmark", "digits", "--remote_bucket", "mine")
    statements = {one["Sid"]: one for one in json.loads(out)["Statement"]}
    assert (code, statements["Objects"]["Resource"]) == (0, "arn:aws:s3:::mine/outrider/*")
    assert doctor(capsys, "--policy", "caller", "--backend", "local")[0] == 2


def test_wrong_use_of_documents(capsys):
    code, out, err = doctor(capsys, "--policy", "--cloudformation")
    assert (code, out) == (2, "")
    assert "give one after the other" in err
    assert doctor(capsys, "--policy", "controllers")[0] == 2
    code, _, err = doctor(capsys, "--policy", "controller", "--remote_role", "me")
    assert (code, "role 'me' is no ARN of an IAM role" in err) == (2, True)


@pytest.mark.slow
def test_emulated(monkeypatch, tmp_path, capsys):
    use(monkeypatch, {}, tmp_path)
    code, out, _ = doctor(capsys, "--emulate")
    assert (code, out.splitlines()[-1]) == (0, "ready")
    assert BUCKET.replace("123456789012", "************") in out


@pytest.mark.slow
def test_a_launch_is_checked_too(cloud, capsys):
    code, out, _ = doctor(capsys, "--remote", "--benchmark", "cloud.yaml", "--remote_instance_type", "ml.m5.xlarge", "--controllers", "2")
    assert (code, out.splitlines()[-1]) == (0, "ready")
    assert out.count("\ncredentials ") == 1
    assert "controllers' quota: ml.m5.xlarge for training job usage" in out
    # Without a definition too, and where trials run in the controllers, on the instance type of the benchmark's jobs in the cloud.
    code, out, _ = doctor(capsys, "--remote", "--format", "json")
    assert (code, verdicts(out)["controllers' role may"]) == (0, "ok")
    code, out, _ = doctor(capsys, "--remote", "--backend", "local", "--benchmark", "cloud.yaml", "--format", "json")
    assert (code, verdicts(out)["controllers' quota: ml.m5.large for training job usage"], verdicts(out)["credentials"]) == (0, "ok", "ok")


@pytest.mark.slow
def test_what_a_launch_lacks_fails_with_what_to_do(cloud, capsys):
    cloud.emulator.add_faults([{"kind": "error", "operation": "CreateTrainingJob", "code": "AccessDeniedException", "status": 400}])
    code, out, _ = doctor(capsys, "--remote", "--remote_role", "arn:aws:iam::123456789012:role/controllers")
    assert (code, out.splitlines()[-1]) == (2, "1 problem")
    assert 'controllers\' role may: add {"Effect": "Allow", "Action": "sagemaker:CreateTrainingJob"' in out
    code, out, _ = doctor(capsys, "--remote", "--remote_subnets", "subnet-1")
    assert (code, "remote: a VPC needs both" in out) == (2, True)
    code, out, _ = doctor(capsys, "--remote", "--remote_instance_type", "ml.m5.lage")
    assert (code, "nearest: ml.m5.large" in out) == (2, True)
    code, _, err = doctor(capsys, "--remote", "--remote_volume_gb", "many")
    assert (code, "volume_gb" in err) == (2, True)


def test_options_of_a_back_end_count_without_a_benchmark(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("backends.local.backend.LocalBackend.checks", lambda request: asked.append(request.block) or [])
    assert doctor(capsys, "--backend", "local", "--set", "local.grace_s=3")[0] == 0
    assert asked[0].grace_s == 3.0
    code, _, err = doctor(capsys, "--backend", "local", "--set", "local.grace=3")
    assert code == 2
    assert "there is no key 'local.grace'" in err
    # A definition that is wrong is one problem, and the surroundings are looked at all the same.
    doctor(capsys, "--backend", "local", "--benchmark", "nobody", "--set", "local.grace_s=4", "local.grace=5")
    assert asked[1:] == [None]
