"""What AWS's answers mean for a first start: verdict, words, advice; and the calls that are made for it."""

from __future__ import annotations

import datetime

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ProfileNotFound,
    ReadTimeoutError,
    UnauthorizedSSOTokenError,
)

from backends.sagemaker.admin import checks
from backends.sagemaker.admin.doctor import first_start_problems, most_instances, run_checks
from backends.sagemaker.admin.iam_policy import trust_document
from backends.sagemaker.aws.errors import CallFailure, FailureKind, failure_of, masked
from backends.sagemaker.aws.lookups import Quota
from backends.sagemaker.jobs.images import load_images
from definitions.instance_tables import Price
from definitions.schema import BenchmarkDefinition
from tests.backends.tag_bench import BUCKET, ROLE, TagBench, hasten, tag_bench, use

DENIED = CallFailure(FailureKind.DENIED, "X", "AccessDenied", "no")
MISSING = CallFailure(FailureKind.MISSING, "X", "404", "Not Found")
ACCOUNT = "123456789012"
DLC = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.9.0-cpu"
OWN = f"{ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com/team/train:7"


def client_error(code, message="text", status=400):
    return ClientError({"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "HeadBucket")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (client_error("ExpiredTokenException"), FailureKind.CREDENTIALS),
        (client_error("InvalidClientTokenId"), FailureKind.CREDENTIALS),
        (client_error("403", "Forbidden", 403), FailureKind.DENIED),
        (client_error("404", "Not Found", 404), FailureKind.MISSING),
        (client_error("ValidationException", "Requested resource not found."), FailureKind.MISSING),
        (client_error("ValidationException", "no such thing"), FailureKind.OTHER),
        (client_error("ThrottlingException", "Rate exceeded"), FailureKind.THROTTLED),
        (client_error("Unheard", status=502), FailureKind.SERVICE),
        (NoCredentialsError(), FailureKind.CREDENTIALS),
        (ProfileNotFound(profile="x"), FailureKind.CREDENTIALS),
        (UnauthorizedSSOTokenError(), FailureKind.CREDENTIALS),
        (EndpointConnectionError(endpoint_url="https://x"), FailureKind.UNREACHABLE),
        (ReadTimeoutError(endpoint_url="https://x"), FailureKind.UNREACHABLE),
        (ParamValidationError(report="x"), FailureKind.OTHER),
        (ValueError("Invalid endpoint: nonsense"), FailureKind.UNREACHABLE),
    ],
)
def test_kinds_of_refusals(error, kind):
    assert failure_of(error).kind is kind


def test_faults_of_ours_are_no_refusals():
    assert failure_of(ValueError("a bug")) is None
    assert failure_of(KeyError("x")) is None


def test_account_ids_and_keys_are_masked():
    text = masked(f"User: arn:aws:sts::{ACCOUNT}:assumed-role/Admin with AKIAIOSFODNN7EXAMPLE of sagemaker-us-east-1-{ACCOUNT}")
    assert text == "User: arn:aws:sts::************:assumed-role/Admin with <key> of sagemaker-us-east-1-************"
    assert masked("job t1-0123456789ab, 1234567890123 ns") == "job t1-0123456789ab, 1234567890123 ns"


def test_who_is_asking_is_shown_without_the_account():
    check = checks.check_credentials({"Arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/me", "Account": ACCOUNT})
    assert (check.verdict, check.found) == ("ok", "assumed-role/Admin/me")


@pytest.mark.parametrize(
    ("arn", "answer", "verdict", "words"),
    [
        (ROLE, {"Role": {"AssumeRolePolicyDocument": trust_document()}}, "ok", "trusts SageMaker"),
        (ROLE, {"Role": {"AssumeRolePolicyDocument": {}}}, "failed", "may not take it"),
        (ROLE, MISSING, "failed", "there is no role trainer"),
        (ROLE, DENIED, "unknown", "iam:GetRole is not allowed"),
        ("trainer", DENIED, "failed", "is no ARN"),
        ("arn:aws:iam::999999999999:role/r", DENIED, "failed", "another account"),
    ],
)
def test_roles(arn, answer, verdict, words):
    check = checks.check_role(arn, ACCOUNT, answer)
    assert (check.verdict, words in check.found) == (verdict, True), check
    assert ACCOUNT not in check.found


@pytest.mark.parametrize(
    ("found", "made", "verdict", "words"),
    [
        ("eu-west-1", False, "ok", "b in eu-west-1"),
        ("us-east-1", False, "failed", "b is in us-east-1, but jobs run in eu-west-1"),
        (MISSING, False, "failed", "there is no bucket b"),
        (MISSING, True, "ok", "the first start makes it"),
        (DENIED, True, "failed", "AccessDenied"),
    ],
)
def test_buckets(found, made, verdict, words):
    check = checks.check_bucket("b", found, "eu-west-1", made)
    assert (check.verdict, words in check.found) == (verdict, True), check
    assert check.refused is (found is DENIED)


@pytest.mark.parametrize(
    ("found", "first", "verdict"),
    [
        ("eu-west-1", True, "ok"),
        ("eu-west-1", False, "failed"),
        ("us-east-1", None, "failed"),
        (MISSING, None, "failed"),
        (DENIED, None, "unknown"),
        ("eu-west-1", DENIED, "unknown"),
    ],
)
def test_data_sets(found, first, verdict):
    assert checks.check_dataset("photos", "s3://d/x", found, first, "eu-west-1").verdict == verdict


@pytest.mark.parametrize(
    ("quota", "each", "n_workers", "without", "verdict", "found"),
    [
        (Quota("L-1", 8), 2, 4, "", "ok", "8 instances: 4 jobs at once"),
        (Quota("L-1", 7), 2, 4, "", "warning", "7 instances: 3 of 4 jobs at once"),
        (Quota("L-1", 1), 2, 4, "", "failed", "1 instance, and one job takes 2"),
        (Quota("L-1", 0), 1, None, "jobs start cold", "warning", "0 instances: jobs start cold"),
        (Quota("L-1", 1), 1, None, "", "ok", "1 instance: 1 job at once"),
        (None, 1, 4, "", "unknown", "Service Quotas does not list it"),
        (DENIED, 1, 4, "", "unknown", "servicequotas:ListServiceQuotas is not allowed"),
    ],
)
def test_quotas(quota, each, n_workers, without, verdict, found):
    check = checks.check_quota("ml.g5.xlarge for training job usage", quota, each, n_workers, "eu-west-1", without)
    assert (check.verdict, check.found) == (verdict, found)
    if isinstance(quota, Quota) and verdict != "ok":
        wanted = each * (n_workers or 1)
        assert check.advice == (
            "aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-1 "
            f"--desired-value {wanted} --region eu-west-1"
        )


def test_images():
    row = load_images().images[0]

    def check(uri, facts=None, exists=None, region="us-east-1", today="2000-01-01"):
        found = checks.check_image(uri, facts, exists, region, today)
        assert "763104351884" not in found.found
        assert ACCOUNT not in found.found
        return found.verdict

    assert check(DLC, facts=row) == "ok"
    assert check(DLC, facts=row, region="eu-west-1") == "failed"
    assert check(OWN, exists=True, region="eu-west-1") == "ok"
    assert check(OWN, exists=MISSING, region="eu-west-1") == "failed"
    assert check(OWN, exists=DENIED, region="eu-west-1") == "unknown"
    assert check("docker.io/library/python:3.12") == "unknown"
    place = checks.ecr_image(OWN + "@sha256:" + "0" * 64)
    assert (place.repository, place.tag, place.digest[:9]) == ("team/train", "7", "sha256:00")


def test_prices():
    price = Price(1.408, "us-east-1", "2026-01-02", "somewhere")
    assert "2026-01-02" in checks.check_price("ml.g5.xlarge", price, "us-east-1", True).found
    assert checks.check_price("ml.zz9.xlarge", None, "us-east-1", False).verdict == "warning"
    assert checks.check_price("ml.zz9.xlarge", None, "us-east-1", True).verdict == "failed"


# Against the emulator


def definition(tmp_path, block=None, **rest):
    (tmp_path / "t.py").write_text("")
    data = {
        "name": "toy",
        "script": "t.py",
        "source_dir": str(tmp_path),
        "space": {"instance_type": {"choice": ["ml.m5.large"]}, "instance_count": {"choice": [1, 2]}},
        "objectives": {"loss": "min"},
        "n_workers": 3,
        "sagemaker": {"framework": "pytorch", "framework_version": "2.9", **(block or {})},
        **rest,
    }
    return BenchmarkDefinition.model_validate(data)


@pytest.fixture(scope="module")
def shared():
    with tag_bench() as emulator:
        bench = TagBench(emulator)
        yield bench, bench.clients()


@pytest.fixture
def start(shared, monkeypatch, tmp_path):
    """Set the faults and quotas of the shared emulator."""
    bench, clients = shared
    use(monkeypatch, bench.emulator.environment, tmp_path)

    def begin(faults=(), quotas=None):
        limits = [{"kind": "quota", "quota": name, "limit": limit} for name, limit in (quotas or {}).items()]
        # The last rule that fits counts, the first of a mapping.
        bench.emulator.add_faults([*reversed(limits), *faults])
        clients.counts.clear()
        return bench, clients

    yield begin
    bench.emulator.clear_faults()


def checked(started, found=None, backend="sagemaker", types=("ml.m5.large",), **rest):
    bench, clients = started
    today = datetime.date(2026, 1, 1)
    clients.counts.clear()
    result = run_checks(found, backend, types, clients, bench.emulator.environment, today=today, **rest)
    assert ACCOUNT not in str(result)
    return {check.name: check for check in result}, clients


@pytest.mark.slow
def test_a_complete_account_is_ready(start, tmp_path):
    started = start()
    started[0].put("photos/1.jpg")
    data = {"photos": {"type": "s3", "uri": f"s3://{BUCKET}/photos"}, "none": {"type": "s3", "uri": f"s3://{BUCKET}/nothing"}}
    found, clients = checked(started, definition(tmp_path, datasets=data))
    assert {name: check.verdict for name, check in found.items() if check.verdict != "ok"} == {"data set none": "failed"}
    assert found["quota: ml.m5.large for training job usage"].found == "50 instances: 25 jobs at once"
    assert started[0].keys() == ["photos/1.jpg"], "what was written as a trial is gone"
    assert clients.counts["PutObject"] == clients.counts["DeleteObject"] == 1


@pytest.mark.slow
def test_quotas_are_found_on_later_pages_and_only_as_far_as_needed(start, tmp_path):
    started = start(quotas={"ml.m5.large for training job usage": 3, "*": 1})
    found, clients = checked(started, definition(tmp_path))
    assert found["quota: ml.m5.large for training job usage"].verdict == "warning"
    assert clients.counts["ListServiceQuotas"] > 1
    assert clients.counts["ListAWSDefaultServiceQuotas"] == 0
    found, clients = checked(started, definition(tmp_path), types=("ml.zz9.large",))
    assert found["quota: ml.zz9.large for training job usage"].verdict == "unknown"
    assert found["price of ml.zz9.large"].verdict == "warning"


@pytest.mark.slow
def test_spot_and_warm_pools_have_quotas_of_their_own(start, tmp_path):
    started = start(quotas={"* for spot training job usage": 0, "* for training warm pool usage": 0, "*": 9})
    found, _ = checked(started, definition(tmp_path, {"spot": True}))
    assert found["quota: ml.m5.large for spot training job usage"].verdict == "failed"
    assert "quota: ml.m5.large for training job usage" not in found
    warm = definition(tmp_path, warm_pool={"framework": "pytorch", "framework_version": "2.9"})
    found, _ = checked(started, warm, backend="warm_pool")
    assert found["quota: ml.m5.large for training job usage"].verdict == "ok"
    assert found["quota: ml.m5.large for training warm pool usage"].verdict == "warning"


@pytest.mark.slow
def test_fallback_types_are_checked_and_may_lack(start, tmp_path):
    started = start(quotas={"ml.g5.xlarge for *": 0, "*": 9})
    found, _ = checked(started, definition(tmp_path, {"fallback_instance_types": ["ml.g5.xlarge"]}))
    check = found["quota: ml.g5.xlarge for training job usage"]
    assert (check.verdict, check.found) == ("warning", "0 instances: no job falls back to it")


@pytest.mark.slow
def test_throttled_calls_are_made_again(start, tmp_path, monkeypatch):
    hasten(monkeypatch)
    started = start(faults=[{"kind": "throttle", "operation": "*", "probability": 0.5}])
    found, _ = checked(started, definition(tmp_path))
    assert [check for check in found.values() if check.verdict in ("failed", "unknown")] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "name", "verdict"),
    [
        ("GetRole", "role", "unknown"),
        ("ListServiceQuotas", "quota: ml.m5.large for training job usage", "unknown"),
        ("HeadBucket", "bucket", "failed"),
        ("PutObject", "bucket is writable", "failed"),
        ("DeleteObject", "bucket is writable", "failed"),
    ],
)
def test_what_is_not_allowed_is_said_and_the_rest_is_checked(start, tmp_path, operation, name, verdict):
    started = start(faults=[{"kind": "error", "operation": operation, "code": "AccessDenied", "status": 403}])
    found, _ = checked(started, definition(tmp_path))
    assert found[name].verdict == verdict
    assert found[name].refused is (verdict == "failed")
    others = {check.verdict.value for other, check in found.items() if other != name}
    assert others == {"ok"}


@pytest.mark.slow
def test_an_expired_token_ends_the_checks_at_once(start, tmp_path):
    started = start(faults=[{"kind": "expired_token"}])
    found, clients = checked(started, definition(tmp_path))
    assert [(check.name, check.verdict.value, check.refused) for check in found.values()] == [
        ("credentials", "failed", True),
        ("all else", "unknown", False),
    ]
    assert sum(clients.counts.values()) == 1


@pytest.mark.slow
def test_a_token_that_expires_in_between_is_said(start, tmp_path):
    started = start(faults=[{"kind": "expired_token", "after": 1}])
    found, _ = checked(started, definition(tmp_path))
    assert found["bucket"].refused
    assert found["credentials"].verdict == "ok"


@pytest.mark.slow
def test_what_the_definition_lacks_is_said_beside_the_rest(start, tmp_path):
    started = start()
    found, _ = checked(started, definition(tmp_path, {"framework_version": "0.1"}))
    assert "framework_version '0.1'" in found["definition"].found
    assert found["quota: ml.m5.large for training job usage"].verdict == "ok"
    found, _ = checked(started, definition(tmp_path), types=("local.1cpu",))
    assert found["instance type local.1cpu"].verdict == "failed"


@pytest.mark.slow
def test_only_problems_are_returned_before_a_first_start(start, tmp_path):
    started = start(quotas={"*": 1})
    bench, clients = started

    def names(**rest):
        found = first_start_problems(definition(tmp_path, **rest), "sagemaker", ["ml.m5.large"], clients, bench.emulator.environment)
        return [check.name for check in found]

    assert names() == ["quota: ml.m5.large for training job usage"]
    assert names(space={"instance_type": {"choice": ["ml.m5.large"]}}) == []


@pytest.mark.slow
def test_a_quota_of_no_endpoints_is_a_problem_unless_the_endpoint_exists(start, tmp_path):
    started = start(quotas={"*": 0})

    def quotas(space=None, **endpoint):
        made = definition(tmp_path, models={"cnn": {"type": "small_cnn"}}, endpoint=endpoint, **({"space": space} if space else {}))
        return {name: one.verdict.value for name, one in checked(started, made)[0].items() if name.startswith("quota")}

    assert quotas(mode="multi") == {"quota: ml.m5.large for endpoint usage": "failed"}
    assert quotas(existing="theirs") == {}
    assert quotas({"existing": {"choice": ["theirs", "ours"]}}) == {}
    assert quotas({"existing": {"choice": ["theirs", None]}}).keys() == {"quota: ml.m5.large for endpoint usage"}


def test_the_largest_job_counts(tmp_path):
    assert most_instances(definition(tmp_path)) == 2
    listed = {"space": {}, "trials": [{"instance_count": 4}, {"x": 1}]}
    assert most_instances(definition(tmp_path, **listed)) == 4
    assert most_instances(definition(tmp_path, space={"x": {"choice": [1]}}, arguments={"instance_count": 3})) == 3
