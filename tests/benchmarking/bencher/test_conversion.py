"""A whole file as a definition: what is fixed and what is tried, on this machine and on SageMaker."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarking.bencher import converted, read_bencher
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml
from tests.benchmarking.bencher.bencher_files import BASE, SETTINGS, trial, write

THREE = "".join(f"  - {trial('Photos-rec', mode)}\n" for mode in ("file", "ffm", "fsx"))


def made(folder, **changes):
    return converted(read_bencher(write(folder, **{"trials": THREE, **changes})), Path("/w"))


def resolved(found, backend):
    return resolve(parse_yaml(yaml.safe_dump(dict(found.data)), Path("x.yaml")), backend, check_files=False).definition


def test_what_trials_have_alike_is_fixed_and_the_rest_is_tried(tmp_path):
    found = made(tmp_path)
    assert found.data["arguments"] == {
        "instance_type": "ml.g4dn.xlarge", "shuffle": False, "batch_size": 32, "image_size": 96, "epochs": 2, "loader_workers": 4,
        "model": "sleep", "compute_s": 0.01,
    }  # fmt: skip
    assert found.data["trials"] == [
        {"dataset": "Photos-rec", "ingestion": "file"},
        {"dataset": "Photos-rec", "ingestion": "fastfile"},
        {"dataset": "Photos-rec-fsx", "ingestion": "fsx"},
    ]
    assert (found.data["name"], found.data["repeats"], found.data["order"]) == ("storage-test", 3, "interleave")
    assert found.data["budget"] == {"max_num_trials": 9, "max_run": 600}
    assert found.trials == ["t0", "t1", "t2"]


def test_it_is_a_definition_on_sagemaker_with_the_account_of_the_file(tmp_path):
    block = made(tmp_path).data["sagemaker"]
    assert block == {
        "role": "arn:aws:iam::111122223333:role/r", "region": "eu-west-1", "n_workers": 4, "profiler": False, "volume_gb": 200,
        "subnets": ["subnet-1"], "security_groups": ["sg-1"], "framework": "pytorch", "framework_version": "2.9",
    }  # fmt: skip
    cloud = resolved(made(tmp_path), "sagemaker")
    assert cloud.datasets["Photos-rec-fsx"].uri == "fsx://fs-0123456789abcdef0/fsx/data/cal/Photos-rec"


def test_on_this_machine_its_disk_stands_for_the_file_system(tmp_path):
    here = resolved(made(tmp_path), "local")
    assert [one["ingestion"] for one in here.explicit_configurations] == ["file", "fastfile", "local"]
    assert {one["dataset"] for one in here.explicit_configurations} == {"Photos-rec"}
    assert (here.arguments["instance_type"], here.stands_for) == ("local.2cpu", {"ingestion": {"local": "FSx for Lustre"}})


def test_instances_that_are_tried_are_none_of_this_machine(tmp_path):
    trials = "".join(f"  - {trial('Photos-rec', 'ffm', f', instance_type: {kind}')}\n" for kind in ("ml.g5.xlarge", "ml.g5.2xlarge"))
    found = made(tmp_path, trials=trials)
    assert [one["instance_type"] for one in found.data["trials"]] == ["ml.g5.xlarge", "ml.g5.2xlarge"]
    assert found.data["local"]["trials"] == [{"dataset": "Photos-rec", "ingestion": "fastfile"}]


def test_trials_that_are_alike_are_one(tmp_path):
    found = made(tmp_path, trials="".join(f"  {name}: {trial('Photos-rec', 'ffm')}\n" for name in "ab"))
    assert len(found.data["trials"]) == 1
    assert "2 trials are 1 configurations: those that are alike are measured once, `repeats` times" in found.notes


def test_what_has_no_counterpart_is_noted_once(tmp_path):
    notes = made(tmp_path, settings=SETTINGS.replace("arn:aws:iam::111122223333:role/r", "MyRole") + "colour: 1\n").notes
    for part in ("role: MyRole is a name", "output_prefix has no counterpart", "clean has no counterpart", "colour has no counterpart",
                 "framework tf 2.13: PyTorch", "benchmark-tensorflow.py is ported", "hyperparameter private_pool"):  # fmt: skip
        assert sum(part in note for note in notes) == 1, part


def test_a_script_of_ones_own_stays_with_its_hyperparameters(tmp_path):
    base = BASE.replace("benchmark-tensorflow.py", "mine.py")
    found = made(tmp_path, base=base)
    assert (found.data["script"], found.data["source_dir"]) == ("mine.py", str(tmp_path / "scripts"))
    assert found.data["arguments"]["private_pool"] == 4
    assert found.data["objectives"] == {"cost_usd": "min", "duration_s": "min"}
    assert {key: found.data["sagemaker"][key] for key in ("framework", "framework_version", "py_version")} == {
        "framework": "tensorflow", "framework_version": "2.13", "py_version": "py310"
    }  # fmt: skip
    assert resolved(found, "sagemaker").script == "mine.py"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trials": f"  - {trial('Photos-rec', 'tape')}\n"}, "input mode 'tape'"),
        ({"base": BASE.replace("benchmark-tensorflow.py", "mine.py"),
          "trials": f"  a: {trial('Photos-rec', 'ffm')}\n  b: {trial('Photos-rec', 'ffm', ', script: other.py')}\n"},
         "trials differ in script"),
        ({"base": BASE.replace("benchmark-tensorflow.py", "mine.py").replace("framework: tf", "framework: mx")}, "framework 'mx'"),
        ({"fsx": ""}, "no block `fsx`"),
        ({"base": BASE.replace("  script: benchmark-tensorflow.py\n", "")}, "no script"),
    ],
)  # fmt: skip
def test_what_no_definition_can_say_is_refused(tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        made(tmp_path, **changes)
