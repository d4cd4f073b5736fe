import pytest

from backends.emulator import Emulator, Settings
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.resolve_options import EMULATED_ROLE, options_of, relative_script
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

MLFLOW = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"
ROLE = "arn:aws:iam::123456789012:role/trainer"


class Fake:
    """Stands in for AWS: knows an account and some buckets, and counts calls."""

    region = "eu-west-1"

    def __init__(self, emulated=True, buckets=()):
        self.emulated, self.buckets, self.calls = emulated, set(buckets), []

    def get(self, service, attempts=None):
        self.calls.append(service)
        return self

    def get_caller_identity(self):
        return {"Account": "111122223333"}


def definition(backend="sagemaker", block=None, **changes):
    given = {"framework": "pytorch", "framework_version": "2.9", "bucket": "my-bucket", **(block or {})}
    base = {"name": "d", "script": "t.py", "space": {"x": 1}, "objectives": {"loss": "min", "cost_usd": "min"}}
    return BenchmarkDefinition.model_validate({**base, backend: {k: v for k, v in given.items() if v is not None}, **changes})


def made(backend="sagemaker", block=None, clients=None, environ=None, **changes):
    return options_of(definition(backend, block, **changes), backend, "tag/d-1", clients or Fake(), environ or {})


def refused(*arguments, **options):
    with pytest.raises(UserError) as error:
        made(*arguments, **options)
    return str(error.value)


def test_defaults():
    found = made()
    assert found.uri("output", found.experiment) == "s3://my-bucket/outrider/output/tag/d-1/"
    assert (found.region, found.role, found.volume_gb, found.keep_alive_s, found.spot, found.retries) == (
        *("eu-west-1", EMULATED_ROLE, 30, 0, False),
        0,
    )
    assert (found.has_script, found.script, found.benchmark, found.log_settle_s) == (True, "t.py", "d", None)
    assert found.image == found.image_cpu


def test_a_bucket_that_is_given_asks_aws_for_nothing():
    clients = Fake()
    made(clients=clients)
    assert clients.calls == []


def test_the_image_depends_on_the_instance_type():
    found = made()
    assert "2.9.0-cpu" in found.image_for("ml.m5.large")
    assert "2.9.0-gpu" in found.image_for("ml.g5.xlarge")
    own = made(block={"image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/mine:1", "framework": None})
    assert own.image_for("ml.m5.large") == own.image_for("ml.g5.xlarge") == "123456789012.dkr.ecr.eu-west-1.amazonaws.com/mine:1"
    with pytest.raises(UserError, match=r"ml.m5.large, which has no GPU[\s\S]*huggingface"):
        made(block={"framework": "huggingface", "framework_version": "5.3"}).image_for("ml.m5.large")


def test_the_role_comes_from_the_block_else_the_environment_and_must_be_known_on_a_real_account():
    real = Fake(emulated=False)
    assert made(block={"role": ROLE}, clients=real, environ={"OUTRIDER_ROLE": "x"}).role == ROLE
    assert made(clients=real, environ={"OUTRIDER_ROLE": ROLE}).role == ROLE
    assert "OUTRIDER_ROLE" in refused(clients=real)
    assert "'trainer' is no ARN" in refused(block={"role": "trainer"})


def test_mlflow_is_an_arn_of_the_region_of_the_jobs():
    app = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-app/app-A1"
    assert (made().mlflow, made(block={"mlflow": app}).mlflow) == (None, app)
    assert "is in us-east-1\n  jobs run in eu-west-1" in refused(block={"mlflow": MLFLOW.replace("eu-west-1", "us-east-1")})
    for wrong in ("http://127.0.0.1:5000", MLFLOW.removesuffix("/team"), MLFLOW.replace("mlflow-tracking-server", "training-job")):
        assert "is no ARN of SageMaker's managed MLflow\n  the form is arn:aws:sagemaker:" in refused(block={"mlflow": wrong})


def test_all_options_arrive():
    found = made(
        block={
            "volume_gb": 99,
            "volume_kms_key": "k1",
            "output_kms_key": "k2",
            "subnets": ["subnet-1"],
            "security_groups": ["sg-1"],
            "network_isolation": True,
            "encrypt_traffic": True,
            "tags": {"team": "a"},
            "spot": True,
            "max_wait": 7200.5,
            "fallback_instance_types": ["ml.m4.xlarge"],
            "profiler": True,
            "profiler_interval_ms": 1000,
            "retries": 3,
            "mlflow": MLFLOW,
            "log_settle_s": 1.5,
            "prefix": "/a/b/",
        },
        metrics={"loss": "loss=(.*)"},
        inputs={"train": {"distribution": "sharded", "content_type": "text/csv"}, "test": {"distribution": "replicated"}},
    )
    assert found == Options(
        *("eu-west-1", EMULATED_ROLE, "my-bucket", "tag/d-1"),
        prefix="a/b",
        image_cpu=found.image_cpu,
        image_gpu=found.image_gpu,
        script="t.py",
        volume_gb=99,
        volume_kms_key="k1",
        output_kms_key="k2",
        subnets=("subnet-1",),
        security_groups=("sg-1",),
        network_isolation=True,
        encrypt_traffic=True,
        tags={"team": "a"},
        benchmark="d",
        sharded=("train",),
        content_types={"train": "text/csv"},
        spot=True,
        max_wait_s=7200.5,
        fallback_instance_types=("ml.m4.xlarge",),
        metrics={"loss": "loss=(.*)"},
        profiler=True,
        profiler_interval_ms=1000,
        retries=3,
        mlflow=MLFLOW,
        log_settle_s=1.5,
        console_regexes={},
    )


def test_only_warm_pools_keep_instances():
    assert made("warm_pool").keep_alive_s == 600
    assert made("warm_pool", {"keep_alive": 60}).keep_alive_s == 60
    assert made("sagemaker", {"keep_alive": 60}).keep_alive_s == 0


def test_the_console_reads_what_the_reporter_prints():
    import re

    found = made(block={"console_metrics": True}).console_regexes
    assert list(found) == ["loss"]
    assert re.search(found["loss"], '[tune-metric]: {"epoch": 1, "loss": -1.5e-3, "x": 2}')[1] == "-1.5e-3"
    assert made(block={"console_metrics": True}, metrics={"loss": "l=(.*)"}).console_regexes == {}


@pytest.mark.parametrize(
    ("backend", "block", "message"),
    [
        ("warm_pool", {"spot": True}, "SageMaker keeps no spot instances warm"),
        ("sagemaker", {"max_wait": 5.0}, "only spot jobs wait"),
        ("sagemaker", {"subnets": ["s"]}, "only one of subnets and security_groups is given"),
        ("sagemaker", {"image": "i", "algorithm_name": "a"}, "a job has one of them"),
        ("sagemaker", {"framework": None, "framework_version": None}, "neither sagemaker.image nor sagemaker.framework is given"),
        ("sagemaker", {"bucket": "No_Bucket"}, "sagemaker.bucket: 'No_Bucket' cannot be"),
        ("sagemaker", {"prefix": "a b"}, "sagemaker.prefix: 'a b' cannot be"),
    ],
)
def test_what_cannot_be_is_refused(backend, block, message):
    assert message in refused(backend, block)


def test_without_a_script():
    found = made(block={"framework": None, "framework_version": None, "algorithm_name": "xgb"}, script=None)
    assert (found.has_script, found.script, found.image, found.image_for("ml.m5.large")) == (False, "", None, None)


def test_a_script_outside_of_what_travels(tmp_path):
    (tmp_path / "code").mkdir()
    assert relative_script(str(tmp_path / "code"), "./a/../b/t.py") == "b/t.py"
    assert relative_script(str(tmp_path), str(tmp_path / "code" / "t.py")) == "code/t.py"
    with pytest.raises(UserError, match="only that travels to a remote job"):
        relative_script(str(tmp_path / "code"), "../t.py")


@pytest.fixture(scope="module")
def emulator():
    with Emulator(settings=Settings(region="eu-west-1")) as running:
        yield running


@pytest.mark.slow
def test_the_default_bucket_is_the_sdks_and_is_made_where_it_is_missing(emulator, monkeypatch):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    clients = Clients("eu-west-1", emulator.environment)
    without = definition(block={"bucket": None})
    emulator.client("s3").delete_bucket(Bucket="sagemaker-eu-west-1-123456789012")
    bucket = options_of(without, "sagemaker", "t/d", clients, {}, create_bucket=False).bucket
    assert bucket == f"sagemaker-eu-west-1-{clients.get('sts').get_caller_identity()['Account']}"
    assert bucket not in [one["Name"] for one in clients.get("s3").list_buckets()["Buckets"]]
    for _ in range(2):
        assert options_of(without, "sagemaker", "t/d", clients, {}).bucket == bucket
    assert bucket in [one["Name"] for one in clients.get("s3").list_buckets()["Buckets"]]
    assert clients.counts["CreateBucket"] == 1
