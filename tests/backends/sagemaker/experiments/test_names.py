import math
import re

import pytest

from backends.sagemaker.experiments import names

ENTITY = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,119}")
LOWER = re.compile(r"[a-z0-9](-*[a-z0-9]){0,119}")


@pytest.mark.parametrize(
    ("tag", "benchmark", "number", "name"),
    [
        ("t", "digits", 1, "t-digits"),
        ("t", "image_ingestion", 2, "t-image-ingestion-2"),
        ("t", "ü__x!", 1, "t-x"),
        ("t" * 41, "b" * 200, 12, "t" * 41 + "-" + "b" * 75 + "-12"),
    ],
)
def test_an_experiment_is_a_tags_benchmark(tag, benchmark, number, name):
    assert names.experiment_name(tag, benchmark, number) == name
    assert ENTITY.fullmatch(name)


def test_fifty_trials_are_together_and_retries_apart():
    assert [names.trial_name("d-0a1b2c-01234567", trial, 1)[-2:] for trial in (0, 49, 50, 149)] == ["-0", "-0", "-1", "-2"]
    assert names.trial_name("d", 51, 3) == "d-1-a3"


def test_a_component_is_called_as_the_service_calls_that_of_a_training_job():
    assert names.component_name("Demo-t7-a2", is_training_job=True) == "demo-t7-a2-aws-training-job"
    assert names.component_name("Demo-t7-a2", is_training_job=False) == "demo-t7-a2"
    assert LOWER.fullmatch(names.whole_component_name("D" * 40))


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (3, {"NumberValue": 3.0}),
        (0.1, {"NumberValue": 0.1}),
        (True, {"StringValue": "true"}),
        (math.inf, {"StringValue": "inf"}),
        (2**53 + 1, {"StringValue": "9007199254740993"}),
        ("x" * 2501, {"StringValue": "x" * 2499 + "…"}),
        ("\ud800", {"StringValue": "\\ud800"}),
    ],
)
def test_a_parameter_is_a_number_where_that_is_exact(value, found):
    assert names.parameter(value) == found


def test_names_of_metrics_are_one_line_and_stay_apart_where_they_are_cut():
    assert names.metric_name("a b%") == "a b%"
    assert names.metric_name("a\nb") == "a_b"
    long = [names.metric_name("m" * 300 + end) for end in "ab"]
    assert [len(name) for name in long] == [255, 255]
    assert long[0] != long[1]
