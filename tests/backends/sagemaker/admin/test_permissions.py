import json
from pathlib import Path

from backends.base import CheckRequest
from backends.sagemaker.admin.permissions import permission_document
from definitions.schema import BenchmarkDefinition

SERVER = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"
ROLE = "arn:aws:iam::123456789012:role/jobs/trainer"


def statements(kind, environ=None, **block):
    base = {"name": "d", "script": "t.py", "space": {"x": 1}, "objectives": {"loss": "min"}}
    definition = BenchmarkDefinition.model_validate({**base, "sagemaker": block})
    document = permission_document(kind, CheckRequest(environ or {}, Path("results"), definition), "sagemaker")
    return {one["Sid"]: one for one in json.loads(document.text)["Statement"]}, document.remark


def test_the_role_of_the_jobs_may_log_to_the_mlflow_that_they_are_tied_to():
    tied, _ = statements("role", mlflow=SERVER)
    assert (tied["Mlflow"]["Resource"], tied["Mlflow"]["Action"]) == (SERVER, ["sagemaker-mlflow:*", "sagemaker:CallMlflowAppApi"])
    assert "Mlflow" not in statements("role")[0]


def test_who_starts_may_pass_the_role_of_the_definition_else_that_of_the_environment():
    given, remark = statements("caller", role=ROLE, region="eu-west-1", bucket="mine", prefix="team")
    assert (given["PassRole"]["Resource"], remark) == ("arn:aws:iam::*:role/jobs/trainer", "")
    assert given["Objects"]["Resource"] == "arn:aws:s3:::mine/team/*"
    assert statements("caller", {"OUTRIDER_ROLE": ROLE})[0]["PassRole"]["Resource"] == "arn:aws:iam::*:role/jobs/trainer"
    nobody, remark = statements("caller")
    assert nobody["PassRole"]["Resource"] == "arn:aws:iam::*:role/*"
    assert remark.startswith("no role is known")
