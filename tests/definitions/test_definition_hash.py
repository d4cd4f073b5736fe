"""The hash of a definition holds what determines its results, and nothing else."""

from pathlib import Path

import pytest

from definitions.definition_hash import definition_hash
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml

DEMO = """\
name: demo
script: train.py
arguments: {epochs: 1}
space:
  instance_type: {choice: [local.1cpu, local.2cpu]}
  batch_size: {choice: [32, 64]}
objectives: {cost_usd: min, loss: min}
repeats: 3
inputs:
  train: {ingestion: local}
budget:
  max_failures: 5
  max_run: 120
preload: [torch]
local:
  repeats: 2
  grace_s: 1
  budget: {max_run: 60}
  space:
    batch_size: {randint: [8, 16]}
    extra: 1
sagemaker:
  space: {instance_type: {choice: [ml.g4dn.xlarge]}}
  arguments: {amp: true}
  inputs: {train: {ingestion: fastfile}}
  framework: pytorch
  region: us-east-1
warm_pool:
  repeats: 7
  region: eu-west-1
"""


def small(extra=""):
    return f"name: demo\nscript: train.py\nspace: {{a: {{choice: [1, 2]}}}}\nobjectives: {{loss: min}}\n{extra}"


def hash_of(text=DEMO, backend="local", settings=(), method=None):
    return definition_hash(resolve(parse_yaml(text, Path("demo.yaml")), backend, settings, check_files=False).definition, method)


def test_it_is_pinned_so_that_experiments_resume_after_an_update():
    assert hash_of() == PINNED


def test_the_order_of_keys_does_not_matter():
    turned = small("arguments: {x: 1, y: 2}\nrepeats: 2")
    other = "repeats: 2\narguments: {y: 2, x: 1}\nobjectives: {loss: min}\nspace: {a: {choice: [1, 2]}}\nscript: train.py\nname: demo\n"
    assert hash_of(turned) == hash_of(other)


@pytest.mark.parametrize(
    "setting",
    [
        "name=other",
        "description=x",
        "n_workers=3",
        "max_cost=1",
        "max_run=5",
        "max_num_trials=9",
        "study.seeds=2",
        "method=RS",
        "methods.M.base=RS",
        "source_dir=/elsewhere",
        "local.grace_s=9",
    ],
)
def test_what_does_not_determine_results(setting):
    assert hash_of(settings=[setting]) == hash_of()


@pytest.mark.parametrize(
    "setting",
    [
        "script=other.py",
        "batch_size=8",
        "batch_size=8,16",
        "epochs=2",
        "arguments.new=1",
        "repeats=9",
        "order=random",
        "exclusive=false",
        "preload=numpy",
        "objectives.loss=max",
        "objectives.new=min",
        "inputs.train.ingestion=file",
        "inputs.test.ingestion=file",
        "datasets.d.type=images",
        "valid=[batch_size > 9]",
    ],
)
def test_what_does(setting):
    assert hash_of(settings=[setting]) != hash_of()


def test_the_fidelity_does():
    settings = ["fidelity.kind=per_job", "fidelity.argument=fraction"]
    assert len({hash_of(), hash_of(settings=settings), hash_of(settings=[*settings, "fidelity.full=0.5"])}) == 3


@pytest.mark.parametrize(
    ("setting", "counts"),
    [
        *((f"sagemaker.{name}", False) for name in ("role=r", "tags.a=b", "subnets=s", "security_groups=s", "volume_kms_key=k")),
        *((f"sagemaker.{name}", False) for name in ("output_kms_key=k", "max_wait=9", "keep_alive=60", "retries=1", "log_settle_s=1")),
        *((f"sagemaker.{name}", False) for name in ("profiler=true", "profiler_interval_ms=100", "console_metrics=true", "mlflow=arn:x")),
        *((f"sagemaker.{name}", True) for name in ("spot=true", "volume_gb=9", "image=i", "environment.A=b", "metrics.a=a=(.*)")),
        *((f"sagemaker.{name}", True) for name in ("encrypt_traffic=true", "fallback_instance_types=ml.m4.xlarge", "region=r")),
        ("inputs.train.distribution=sharded", True),
    ],
)
def test_which_options_of_sagemaker_do(setting, counts):
    assert (hash_of(backend="sagemaker", settings=[setting]) != hash_of(backend="sagemaker")) is counts


def test_the_order_of_objectives_matters_as_the_first_is_the_primary_one():
    assert hash_of(small().replace("{loss: min}", "{a: min, b: min}")) != hash_of(small().replace("{loss: min}", "{b: min, a: min}"))


def test_the_same_space_in_other_words():
    one, other = small().replace("{choice: [1, 2]}", "{uniform: [0, 1]}"), small().replace("{choice: [1, 2]}", "{uniform: [0.0, 1e0]}")
    assert hash_of(one) == hash_of(other)


def test_back_ends_differ_by_their_blocks():
    assert len({hash_of(backend=backend) for backend in ("local", "simulated", "sagemaker", "warm_pool")}) == 4
    assert hash_of(small(), "local") == hash_of(small(), "sagemaker")


def test_the_variant_that_is_run_counts():
    text = small("methods: {M: {base: ASHA, brackets: 3}}")
    changed = text.replace("3", "4")
    assert hash_of(text) == hash_of(changed)
    assert hash_of(text, method="M") != hash_of(changed, method="M")
    assert hash_of(text, method="RS") == hash_of(changed, method="RS")


PINNED = "17a17a12c09d45b1"
