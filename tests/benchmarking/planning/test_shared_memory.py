from pathlib import Path

import pytest

from benchmarking.planning.shared_memory import shared_memory
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml

MB = 10**6
TEXT = """\
name: demo
script: train.py
arguments: {image_size: 200, batch_size: 100}
space:
  loader_workers: {choice: [0, 2, 8]}
objectives: {samples_per_s: max}
"""


def definition(text=TEXT):
    return resolve(parse_yaml(text, Path("demo.yaml")), "local", [], check_files=False).definition


@pytest.mark.parametrize(
    ("configuration", "free", "needed"),
    [
        ({"loader_workers": 2}, 59 * MB, "60.0 MB"),  # 12 MB a batch: two of each worker and the one in training
        ({"loader_workers": 2}, 60 * MB, None),
        ({"loader_workers": 2, "prefetch_factor": 4}, 60 * MB, "108.0 MB"),
        ({"loader_workers": 2, "batch_size": 50}, 30 * MB, None),
        ({"loader_workers": 0}, 0, None),
        ({"loader_workers": 8}, None, None),
        ({"loader_workers": 8, "model": "entitlement"}, 0, None),
    ],
)
def test_batches_of_a_configuration_have_to_fit_before_it_starts(configuration, free, needed):
    said = shared_memory(definition(), free)(configuration)
    assert said is None if needed is None else f"need up to {needed} of shared memory" in said


def test_a_definition_that_does_not_say_how_large_its_images_are_is_left_to_the_script():
    text = TEXT.replace("image_size: 200, ", "")
    assert shared_memory(definition(text), 0)({"loader_workers": 8}) is None
