from __future__ import annotations

import json

import numpy as np

from benchmarking.models.made_inputs import NUMPY, made, tensor

INPUTS = [
    {"datatype": "FP32", "shape": [3, 4]},
    {"datatype": "INT64", "shape": [-1], "sample": [6], "below": 5},
    {"datatype": "BOOL", "shape": [-1]},
]


def test_shapes_types_and_bounds():
    images, tokens, flags = made(INPUTS, 2, seed=1)
    assert (images.shape, images.dtype) == ((2, 3, 4), np.float32)
    assert (tokens.shape, tokens.dtype, tokens.max() < 5, tokens.min() >= 0) == ((2, 6), np.int64, True, True)
    assert (flags.shape, flags.dtype) == ((2, 16), np.bool_)


def test_a_model_without_batches_gets_no_first_dimension_and_free_ones_can_be_shorter():
    assert [one.shape for one in made(INPUTS, 0, 1)] == [(3, 4), (6,), (16,)]
    assert [one.shape for one in made(INPUTS, 2, 1, shorter=1)] == [(2, 3, 4), (2, 5), (2, 15)]


def test_the_seed_decides():
    assert all(np.array_equal(one, other) for one, other in zip(made(INPUTS, 2, 7), made(INPUTS, 2, 7), strict=True))
    assert not np.array_equal(made(INPUTS, 2, 7)[0], made(INPUTS, 2, 8)[0])


def test_every_type_is_made():
    for name, dtype in NUMPY.items():
        (values,) = made([{"datatype": name, "shape": [2], "below": 1000}], 1, 0)
        assert values.dtype == np.dtype(dtype)
        assert tensor("x", values)["datatype"] == name


def test_json_gives_the_numbers_back_as_they_were():
    (values,) = made(INPUTS[:1], 2, 3)
    written = json.loads(json.dumps(tensor("image", values)))
    assert written["shape"] == [2, 3, 4]
    assert np.array_equal(np.array(written["data"], np.float32).reshape(2, 3, 4), values)
    assert max(len(str(number)) for number in written["data"]) <= 6
