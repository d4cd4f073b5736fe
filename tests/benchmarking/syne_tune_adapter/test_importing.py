import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from syne_tune.config_space import choice, loguniform, randint, uniform

from backends.sagemaker.block import SageMakerBlock
from benchmarking.methods.registry import build_method, default_method
from benchmarking.syne_tune_adapter import import_benchmark
from definitions.errors import UserError
from definitions.resolve import resolve_python


@dataclass
class RealBenchmarkDefinition:
    """The fields of Syne Tune 0.13's class, which is no longer there."""

    script: Path
    config_space: dict[str, Any]
    max_wallclock_time: float
    n_workers: int
    instance_type: str
    metric: Any
    mode: Any
    max_resource_attr: str
    framework: str
    resource_attr: str | None = None
    estimator_kwargs: dict[str, Any] | None = None
    max_num_evaluations: int | None = None
    points_to_evaluate: list[dict[str, Any]] | None = field(default=None)


def resnet(**changes):
    given = {
        "script": Path("/code/resnet_cifar10/resnet_cifar10.py"),
        "config_space": {
            "batch_size": randint(8, 256),
            "momentum": uniform(0, 0.99),
            "weight_decay": loguniform(1e-5, 1e-3),
            "lr": loguniform(1e-3, 0.1),
            "epochs": 27,
            "dataset_path": "./",
            "num_gpus": 1,
        },
        "max_wallclock_time": 3 * 3600,
        "n_workers": 4,
        "instance_type": "ml.g4dn.xlarge",
        "metric": "objective",
        "mode": "max",
        "max_resource_attr": "epochs",
        "resource_attr": "epoch",
        "framework": "PyTorch",
        "estimator_kwargs": {"framework_version": "1.7.1", "py_version": "py3", "max_run": 7200},
    }
    return RealBenchmarkDefinition(**(given | changes))


def test_every_field_finds_its_place():
    found = import_benchmark(resnet(max_num_evaluations=100), "resnet")
    assert (found.script, found.source_dir) == ("resnet_cifar10.py", "/code/resnet_cifar10")
    assert found.space["lr"] == {"loguniform": [1e-3, 0.1]}
    assert found.space["batch_size"] == {"randint": [8, 256]}
    assert sorted(found.space) == ["batch_size", "lr", "momentum", "weight_decay"]
    assert found.arguments == {"dataset_path": "./", "num_gpus": 1}
    assert found.objectives == {"objective": "max"}
    assert found.fidelity.model_dump() == {
        "kind": "progressive",
        "argument": "epochs",
        "reported_as": "epoch",
        "full": 27,
        "counts_from": None,
    }
    assert (found.n_workers, found.budget.max_wallclock_time) == (4, 10800.0)
    assert found.budget.max_num_trials == 4
    block = found.block("sagemaker", SageMakerBlock)
    assert block.framework == "pytorch"
    assert (block.framework_version, block.py_version) == (
        "1.7.1",
        "py3",
    )
    assert block.arguments == {"instance_type": "ml.g4dn.xlarge"}
    assert block.budget.max_run == 7200.0


def test_an_imported_benchmark_can_be_resolved_for_both_places():
    found = import_benchmark(resnet(), "resnet")
    local = resolve_python(found, "local", check_files=False).definition
    remote = resolve_python(found, "sagemaker", check_files=False).definition
    assert "instance_type" not in local.arguments
    assert remote.arguments["instance_type"] == "ml.g4dn.xlarge"


def test_points_to_evaluate_come_first():
    point = {"batch_size": 64, "momentum": 0.9, "weight_decay": 1e-4, "lr": 0.01, "epochs": 27}
    found = import_benchmark(resnet(points_to_evaluate=[point]), "resnet")
    method = build_method(default_method(found), found, 0, {}, region="us-east-1")
    first = method.suggest()
    assert {key: first.configuration[key] for key in ("batch_size", "momentum", "lr")} == {"batch_size": 64, "momentum": 0.9, "lr": 0.01}


def test_a_mapping_with_several_objectives_and_no_levels():
    found = import_benchmark(
        {
            "script": "train.py",
            "config_space": {"x": choice(["a", "b"]), "steps": 100},
            "metric": ["loss", "latency"],
            "mode": ["max", "min"],
            "max_resource_attr": "steps",
            "instance_type": "local.2cpu",
            "max_num_evaluations": 12,
        },
        "many",
    )
    assert list(found.objectives.items()) == [("loss", "max"), ("latency", "min")]
    assert found.fidelity is None
    assert found.arguments == {"steps": 100, "instance_type": "local.2cpu"}
    assert found.budget.max_num_trials == 12


def test_one_mode_is_for_all_objectives():
    found = import_benchmark({"script": "t.py", "config_space": {"x": uniform(0, 1)}, "metric": ["a", "b"], "mode": "max"}, "b")
    assert found.objectives == {"a": "max", "b": "max"}


def test_source_dir_of_the_estimator_travels():
    estimator = {"source_dir": "/code", "instance_count": 2, "volume_size": 100}
    found = import_benchmark(resnet(estimator_kwargs=estimator), "resnet")
    assert (found.source_dir, found.script) == ("/code", "resnet_cifar10/resnet_cifar10.py")
    assert found.block("sagemaker", SageMakerBlock).arguments["instance_count"] == 2


def test_what_has_no_counterpart_is_named(caplog):
    with caplog.at_level(logging.WARNING):
        import_benchmark(resnet(estimator_kwargs={"volume_size": 100, "use_spot_instances": True}), "resnet")
    assert "estimator_kwargs without a counterpart are left out: use_spot_instances, volume_size" in caplog.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": ["a", "b"], "mode": ["min", "max", "min"]}, "metric has 2 names, mode 3"),
        ({"config_space": {"epochs": randint(1, 9), "x": uniform(0, 1)}}, "must be the number of levels"),
        ({"metric": None}, "metric is missing"),
    ],
)
def test_wrong_ones_are_told(changes, message):
    with pytest.raises(UserError, match=message):
        import_benchmark(resnet(**changes), "resnet")


def test_an_unknown_field_and_a_table_are_told():
    with pytest.raises(UserError, match=r"no field 'max_ressource_attr'\n  did you mean 'max_resource_attr'"):
        import_benchmark({"script": "a.py", "config_space": {}, "metric": "m", "max_ressource_attr": "epochs"}, "b")

    class Surrogate:
        blackbox_name = "fcnet"

    with pytest.raises(UserError, match="fcnet is a table of Syne Tune's blackbox repository"):
        import_benchmark(Surrogate(), "b")
