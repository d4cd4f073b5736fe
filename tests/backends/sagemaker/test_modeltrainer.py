import logging
from types import SimpleNamespace as Fake

import pytest

from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.modeltrainer import definition_of
from definitions.errors import UserError
from definitions.resolve import resolve_python

ROLE = "arn:aws:iam::123456789012:role/trainer"


class Unassigned:
    """As the SDK marks what was not given."""


def trainer(folder, **changes):
    (folder / "train.py").touch()
    plain = {
        "source_code": Fake(source_dir=str(folder), entry_script="train.py", requirements=None, command=None, ignore_patterns=None),
        "compute": Fake(
            instance_type="ml.g5.xlarge",
            instance_count=2,
            volume_size_in_gb=50,
            keep_alive_period_in_seconds=Unassigned(),
            enable_managed_spot_training=True,
            instance_groups=Unassigned(),
        ),
        "stopping_condition": Fake(max_runtime_in_seconds=1200, max_wait_time_in_seconds=1800),
        "training_image": "123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:1",
        "role": ROLE,
        "base_job_name": "my trainer",
        "environment": {"LEVEL": 3},
        "hyperparameters": {"epochs": 4, "lr": 0.1, "layers": [1, 2], "fast": True},
        "input_data_config": None,
        "networking": Fake(subnets=["subnet-1"], security_group_ids=["sg-1"], enable_network_isolation=False),
        "tags": [Fake(key="team", value="x"), {"Key": "cost", "Value": "7"}],
        "algorithm_name": None,
        "distributed": None,
    }
    return Fake(**{**plain, **changes})


def test_a_trainer_becomes_the_same_jobs(tmp_path):
    found = definition_of(trainer(tmp_path), {"loss": "min"}, {"lr": {"loguniform": [0.01, 1]}})
    assert (found.name, found.script, found.source_dir) == ("my-trainer", "train.py", str(tmp_path))
    assert found.arguments == {"epochs": 4, "layers": "[1,2]", "fast": True}
    assert found.budget.max_run == 1200
    resolved = resolve_python(found, "sagemaker").definition
    assert resolved.arguments["instance_type"] == "ml.g5.xlarge"
    assert resolved.arguments["instance_count"] == 2
    block = resolved.block("sagemaker", SageMakerBlock)
    assert (block.role, block.volume_gb, block.spot, block.max_wait) == (ROLE, 50, True, 1800)
    assert block.image.endswith("/mine:1")
    assert (block.subnets, block.security_groups, block.network_isolation) == (("subnet-1",), ("sg-1",), False)
    assert (block.tags, dict(resolved.environment)) == ({"team": "x", "cost": "7"}, {"LEVEL": "3"})
    # Elsewhere there are no such instances.
    assert "instance_type" not in resolve_python(found, "local").definition.arguments


def test_what_is_searched_is_no_longer_fixed(tmp_path):
    space = {"instance_type": {"choice": ["ml.m5.large", "ml.g5.xlarge"]}, "lr": {"uniform": [0, 1]}}
    fidelity = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 4}
    found = definition_of(trainer(tmp_path), {"loss": "min"}, space, fidelity=fidelity, budget={"max_cost": 5.0}, name="mine")
    resolved = resolve_python(found, "sagemaker").definition
    assert set(resolved.arguments) == {"layers", "fast", "instance_count"}
    assert (resolved.budget.max_run, resolved.budget.max_cost, resolved.name) == (1200, 5.0, "mine")


def test_without_a_space_the_trainers_own_job_is_the_one_trial(tmp_path):
    found = definition_of(trainer(tmp_path), {"loss": "min"})
    assert resolve_python(found, "sagemaker").definition.explicit_configurations == (
        {"instance_type": "ml.g5.xlarge", "instance_count": 2},
    )


def test_channels_become_inputs(tmp_path):
    channels = [
        Fake(channel_name="train", data_source="s3://bucket/train", content_type="text/csv", input_mode="FastFile"),
        Fake(
            channel_name="shards",
            data_source=Fake(s3_uri="s3://bucket/x", s3_data_type="S3Prefix", s3_data_distribution_type="ShardedByS3Key"),
            input_mode="Pipe",
        ),
        Fake(channel_name="own", data_source=str(tmp_path), input_mode=Unassigned()),
        Fake(
            channel_name="fast",
            data_source=Fake(
                s3_data_source=None,
                file_system_data_source=Fake(
                    file_system_id="fs-0123456789abcdef0", file_system_type="FSxLustre", directory_path="/d/train"
                ),
            ),
        ),
    ]
    found = definition_of(trainer(tmp_path, input_data_config=channels), {"loss": "min"})
    assert {name: channel.ingestion for name, channel in found.inputs.items()} == {
        "train": "fastfile",
        "shards": "pipe",
        "own": "file",
        "fast": "fsx",
    }
    assert found.inputs["train"].content_type == "text/csv"
    assert found.inputs["shards"].distribution == "sharded"
    assert (found.datasets["shards"].uri, found.datasets["shards"].layout) == ("s3://bucket/x", "shards")
    assert found.datasets["own"].path == str(tmp_path)
    assert found.datasets["fast"].uri == "fsx://fs-0123456789abcdef0/d/train"


def test_keep_alive_is_for_warm_pools(tmp_path):
    compute = Fake(instance_type="ml.m5.large", instance_count=1, keep_alive_period_in_seconds=900)
    found = definition_of(trainer(tmp_path, compute=compute), {"loss": "min"}, {"x": {"uniform": [0, 1]}})
    assert resolve_python(found, "warm_pool").definition.block("warm_pool", SageMakerBlock).keep_alive == 900
    assert resolve_python(found, "sagemaker").definition.block("sagemaker", SageMakerBlock).keep_alive is None


def source(**changes):
    return Fake(**{"source_dir": ".", "entry_script": "train.py", "requirements": None, "command": None, **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"distributed": Fake(process_count_per_node=2)}, "ModelTrainer.distributed"),
        ({"source_code": source(command="python train.py")}, "source_code.command"),
        ({"source_code": source(source_dir="s3://bucket/source.tar.gz")}, "packs a folder of this machine"),
        ({"source_code": source(requirements="more/needs.txt")}, "requirements.txt at the top"),
        ({"compute": Fake(instance_type=None, instance_groups=["x"])}, "heterogeneous"),
        ({"hyperparameters": "hyper.json"}, "load it"),
        ({"input_data_config": [Fake(channel_name="a", data_source=Fake(s3_uri="s3://b/m", s3_data_type="ManifestFile"))]}, "ManifestFile"),
        ({"input_data_config": [Fake(channel_name="a", data_source=Fake(dataset_arn="x"))]}, "is not known"),
    ],
)
def test_what_cannot_be_kept_is_refused(tmp_path, changes, said):
    with pytest.raises(UserError, match=said):
        definition_of(trainer(tmp_path, **changes), {"loss": "min"})


def test_what_does_not_matter_is_named(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        definition_of(trainer(tmp_path, output_data_config=Fake(s3_output_path="s3://b/out", kms_key_id="key")), {"loss": "min"})
    assert "output_data_config.s3_output_path" in caplog.text


def test_what_makes_no_definition_says_why(tmp_path):
    with pytest.raises(UserError, match=r"objectives"):
        definition_of(trainer(tmp_path), {})


def test_an_images_own_program_needs_no_script(tmp_path):
    found = definition_of(trainer(tmp_path, source_code=None), {"loss": "min"}, sagemaker={"metrics": {"loss": r"loss=([\d.]+)"}})
    assert found.script is None
    assert found.block("sagemaker", SageMakerBlock).metrics == {"loss": r"loss=([\d.]+)"}
    assert found.block("sagemaker", SageMakerBlock).role == ROLE


def test_a_trainer_of_the_real_sdk(tmp_path, monkeypatch):
    train = pytest.importorskip("sagemaker.train", reason="needs the SageMaker SDK v3, a package of a gigabyte")
    configs = pytest.importorskip("sagemaker.train.configs")
    monkeypatch.setenv("SAGEMAKER_VALIDATE_ROLE", "false")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    (tmp_path / "train.py").touch()
    real = train.ModelTrainer(
        training_image="123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:1",
        source_code=configs.SourceCode(source_dir=str(tmp_path), entry_script="train.py"),
        compute=configs.Compute(instance_type="ml.m5.large", instance_count=1),
        hyperparameters={"epochs": 2},
        role=ROLE,
    )
    found = definition_of(real, {"loss": "min"})
    assert (found.script, found.arguments, found.block("sagemaker", SageMakerBlock).role) == ("train.py", {"epochs": 2}, ROLE)
