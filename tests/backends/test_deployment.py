from __future__ import annotations

import dataclasses
import json

import pytest

from backends.deployment import Deployment, ModelPackage, Tensor, deployment_document, read_deployment

IMAGE = Tensor("image", "FP32", (3, 32, 32))
SCORES = Tensor("scores", "FP32", (10,))


def package(name: str = "cnn", **given) -> ModelPackage:
    usual = {"path": f"/cache/{name}.tar.gz", "uri": "", "sha256": "0" * 64, "platform": "onnx", "max_batch_size": 8}
    return ModelPackage(name, inputs=(IMAGE,), outputs=(SCORES,), **{**usual, **given})


def deployment(*packages: ModelPackage, **given) -> Deployment:
    usual = {"mode": "multi", "server": "ort", "copies": 4, "instance_type": "local.2cpu"}
    return Deployment(packages or (package(),), **{**usual, **given})


def test_targets_are_named_by_package_and_number():
    assert [one.name for one in deployment().targets] == [f"cnn-v{number}.tar.gz" for number in range(4)]


def test_packages_take_turns():
    found = deployment(package("cnn"), package("bert"), copies=5).targets
    assert [one.name for one in found] == ["cnn-v0.tar.gz", "bert-v0.tar.gz", "cnn-v1.tar.gz", "bert-v1.tar.gz", "cnn-v2.tar.gz"]
    assert [one.package.name for one in found] == ["cnn", "bert", "cnn", "bert", "cnn"]


def test_more_copies_leave_the_first_ones_as_they_are():
    packages = (package("cnn"), package("bert"), package("mlp"))
    many = deployment(*packages, copies=11).targets
    for copies in range(1, 11):
        assert deployment(*packages, copies=copies).targets == many[:copies]


def test_a_single_model_is_called_without_a_name():
    (only,) = deployment(mode="single", copies=1).targets
    assert (only.name, only.package.name) == (None, "cnn")


def test_an_endpoint_that_exists_needs_no_package():
    there = Deployment((), "multi", "triton", 3, "", existing="theirs")
    assert there.targets == ()


@pytest.mark.parametrize("change", [{"copies": 9}, {"client_cores": 0}, {"deploy_s": 60.0}])
def test_what_needs_no_other_deployment_is_not_in_the_key(change):
    assert deployment(**change).key == deployment().key


@pytest.mark.parametrize(
    "change",
    [
        {"server": "triton"},
        {"instance_type": "local.1cpu"},
        {"instance_count": 2},
        {"max_batch_size": 4},
        {"batch_delay_ms": 2.0},
        {"server_threads": 2},
        {"memory_bytes": 1 << 30},
        {"existing": "theirs"},
        {"mode": "single", "copies": 1},
    ],
)
def test_what_needs_another_deployment_changes_the_key(change):
    assert deployment(**change).key != deployment().key


def test_the_key_knows_packages_by_content_and_not_by_place():
    assert deployment(package(path="/elsewhere", reference="/r.json")).key == deployment().key
    assert deployment(package(uri="s3://bucket/cnn.tar.gz", path="")).key == deployment().key
    assert deployment(package(sha256="1" * 64)).key != deployment().key
    assert deployment(package("other")).key != deployment().key


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: deployment(package(), package()), "two packages are called cnn"),
        (lambda: deployment(mode="single", copies=2), "mode single"),
        (lambda: deployment(package("a"), package("b"), mode="single", copies=1), "mode single"),
        (lambda: deployment(copies=0), "0 copies"),
        (lambda: deployment(server="tgi"), "'tgi'"),
        (lambda: Deployment((), "multi", "ort", 1, "local.1cpu"), "needs a package"),
        (lambda: package("../up"), "no name of a package"),
        (lambda: package(""), "no name of a package"),
        (lambda: Tensor("x", "FLOAT", (1,)), "'FLOAT'"),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_document_is_read_back_as_it_was():
    made = dataclasses.replace(deployment(package("cnn"), package("bert")), memory_bytes=1 << 20)
    assert read_deployment(json.loads(json.dumps(deployment_document(made)))) == made
