"""The flags of a launched run as settings of the block `remote:`."""

from __future__ import annotations

import pytest

from definitions.errors import UserError
from definitions.remote import RemoteOptions
from launch.cli import parse_run
from launch.launching.changing import asked_options

GIVEN = {
    "instance_type": ("ml.c5.xlarge", "ml.c5.xlarge"),
    "image": ("mine:1", "mine:1"),
    "framework": ("pytorch", "pytorch"),
    "framework_version": ("2.10", "2.10"),
    "role": ("arn:aws:iam::111122223333:role/c", "arn:aws:iam::111122223333:role/c"),
    "max_run": ("90.5", 90.5),
    "spot": (None, True),
    "restarts": ("0", 0),
    "controllers": ("2", 2),
    "volume_gb": ("70", 70),
    "subnets": ("s-1 s-2", ("s-1", "s-2")),
    "security_groups": ("g-1", ("g-1",)),
    "tags": ("team=a=b", {"team": "a=b"}),
    "region": ("eu-west-1", "eu-west-1"),
    "bucket": ("b", "b"),
    "prefix": ("p/q", "p/q"),
    "tuning_metrics": (None, True),
    "requirements": ("plug>=1 other", ("plug>=1", "other")),
}


def test_each_option_has_a_flag_and_says_what_was_given():
    assert {*GIVEN} == {*RemoteOptions.model_fields}
    words = []
    for name, (text, _) in GIVEN.items():
        words += ["--controllers" if name == "controllers" else f"--remote_{name}", *([] if text is None else text.split())]
    _, request = parse_run(words, {}, "launch")
    assert asked_options(request.settings, "sagemaker") == RemoteOptions(**{name: value for name, (_, value) in GIVEN.items()})
    _, request = parse_run(["--image", "short:1", "--no-remote_spot"], {}, "launch")
    assert asked_options(request.settings, "sagemaker") == RemoteOptions(image="short:1", spot=False)


@pytest.mark.parametrize("tag", ["team", "=x"])
def test_a_tag_without_a_value_is_refused(tag):
    with pytest.raises(UserError, match=f"--remote_tags {tag}\n  this is not KEY=VALUE"):
        parse_run(["--remote_tags", "a=b", tag], {}, "launch")
