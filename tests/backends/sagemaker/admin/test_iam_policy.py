"""Policies made from the table of calls: what they allow, on what, and that the table has all calls of these commands."""

from __future__ import annotations

import json

import pytest

from backends.sagemaker.admin.doctor import run_checks
from backends.sagemaker.admin.iam_policy import (
    PolicyScope,
    job_policy_document,
    partition_of,
    policy_document,
    trust_document,
    trusts_sagemaker,
)
from backends.sagemaker.admin.s3_leftovers import Leftovers
from backends.sagemaker.admin.stop_jobs import JobStopper
from backends.sagemaker.aws.iam_operations import CALLER, OPERATIONS, actions_for
from definitions.errors import UserError
from tests.backends.tag_bench import BUCKET, TagBench, tag_bench, use

SCOPE = PolicyScope(
    role="jobs/trainer", bucket="b", prefix="outrider", data=("s3://photos/small", "s3://photos/large/"), region="eu-west-1"
)


def by_sid(document):
    return {one["Sid"]: one for one in document["Statement"]}


def test_actions_of_operations():
    assert actions_for(["CreateTrainingJob"]) == {"sagemaker:CreateTrainingJob", "sagemaker:AddTags", "iam:PassRole"}
    assert actions_for(["HeadObject", "GetObject", "HeadBucket", "ListObjectsV2"]) == {"s3:GetObject", "s3:ListBucket"}
    assert actions_for(["DeleteObjects", "PutObject"]) == {"s3:DeleteObject", "s3:PutObject"}
    assert actions_for(["GetCallerIdentity"]) == set()
    with pytest.raises(UserError, match="CreateHyperParameterTuningJob"):
        actions_for(["CreateHyperParameterTuningJob"])


def test_every_operation_is_one_of_botocore_s():
    import botocore.session

    session = botocore.session.get_session()
    services = (
        "sagemaker",
        "sagemaker-runtime",
        "sagemaker-metrics",
        "s3",
        "logs",
        "sts",
        "iam",
        "service-quotas",
        "pricing",
        "ecr",
        "cloudwatch",
        "ec2",
    )
    known = {name for service in services for name in session.get_service_model(service).operation_names}
    assert set(OPERATIONS) <= known
    assert set(CALLER) <= set(OPERATIONS)


def test_the_callers_policy_is_narrow():
    statements = by_sid(policy_document(SCOPE))
    assert statements["PassRole"]["Resource"] == "arn:aws:iam::*:role/jobs/trainer"
    assert statements["PassRole"]["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    assert statements["Objects"]["Resource"] == "arn:aws:s3:::b/outrider/*"
    assert statements["DataBuckets"] == {
        "Sid": "DataBuckets",
        "Effect": "Allow",
        "Action": ["s3:ListBucket"],
        "Resource": "arn:aws:s3:::photos",
    }
    assert statements["Jobs"]["Resource"] == "arn:aws:sagemaker:eu-west-1:*:training-job/*"
    assert statements["Experiments"]["Resource"][2] == "arn:aws:sagemaker:eu-west-1:*:experiment-trial-component/*"
    # Listings know no resources; nothing that changes anything may be among them.
    assert all(action.partition(":")[2].startswith(("List", "Get", "Describe", "Search")) for action in statements["Any"]["Action"])
    assert len(json.dumps(policy_document(SCOPE), separators=(",", ":"))) < 6144, "longest managed policy"


def test_the_jobs_policy_reads_data_and_writes_below_the_prefix_only():
    statements = by_sid(job_policy_document(SCOPE))
    assert statements["DataObjects"]["Resource"] == ["arn:aws:s3:::photos/small*", "arn:aws:s3:::photos/large/*"]
    assert statements["DataObjects"]["Action"] == ["s3:GetObject"]
    assert "s3:DeleteObject" not in json.dumps(statements)
    assert "Keys" not in statements
    keys = by_sid(job_policy_document(PolicyScope(keys=("arn:aws:kms:eu-west-1:1:key/k",))))
    assert keys["Keys"]["Resource"] == "arn:aws:kms:eu-west-1:1:key/k"
    assert "Mlflow" not in statements
    server = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"
    tied = by_sid(job_policy_document(PolicyScope(mlflow=(server,))))["Mlflow"]
    assert (tied["Resource"], tied["Action"]) == (server, ["sagemaker-mlflow:*", "sagemaker:CallMlflowAppApi"])
    assert "ec2:CreateNetworkInterface" in json.dumps(job_policy_document(SCOPE, vpc=True))
    assert "ec2:" not in json.dumps(statements)


def test_partitions():
    assert [partition_of(region) for region in ("eu-west-1", "cn-north-1", "us-gov-west-1", "*")] == ["aws", "aws-cn", "aws-us-gov", "aws"]


@pytest.mark.parametrize(
    ("document", "trusts"),
    [
        (trust_document(), True),
        ({"Statement": {"Effect": "Allow", "Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]},
                        "Action": ["sts:AssumeRole", "sts:TagSession"]}}, True),
        ({"Statement": [{"Effect": "Deny", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}, False),
        ({"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}, False),
        ({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}]}, False),
        ({}, False),
    ],
)  # fmt: skip
def test_who_may_take_a_role(document, trusts):
    assert trusts_sagemaker(document) is trusts


@pytest.mark.slow
def test_the_table_has_every_call_that_stop_clean_and_doctor_make(monkeypatch, tmp_path):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        bench = TagBench(emulator)
        clients = bench.clients()
        name = bench.job("a", keep_alive_s=600)
        bench.until(name, lambda job: job["SecondaryStatus"] == "Training")
        JobStopper(clients, "a", 0.0).stop(poll_s=0.1)
        bench.put("outrider/output/a/x")
        Leftovers(clients, BUCKET, "outrider", "a").delete()
        run_checks(None, "sagemaker", (), clients, emulator.environment)
    made = set(clients.counts)
    assert made >= {"ListTrainingJobs", "ListTags", "StopTrainingJob", "UpdateTrainingJob", "DeleteObjects", "PutObject", "GetRole"}
    assert made <= set(CALLER)
