"""Requests that are computed together, and told apart again."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from backends.serving.ort.batching import Batcher, joined, parted


def test_rows_are_joined_and_parted_in_order():
    arrays = joined([{"x": np.asarray([[1.0]])}, {"x": np.asarray([[2.0], [3.0]])}])
    assert arrays["x"].tolist() == [[1.0], [2.0], [3.0]]
    assert [part["x"].tolist() for part in parted(arrays, [1, 2])] == [[[1.0]], [[2.0], [3.0]]]


def test_an_output_without_rows_cannot_be_parted():
    with pytest.raises(RuntimeError, match="not 3 rows"):
        parted({"y": np.zeros(1)}, [1, 2])


def batches(requests, most_rows):
    """Return how many rows were computed at once, and what each request got."""
    seen = []

    async def compute(arrays):
        seen.append(len(arrays["x"]))
        return {"y": arrays["x"] * 2}

    async def run():
        # A delay that never runs out while all come at once; then what is left over waits for it.
        batcher = Batcher(compute, most_rows, 0.02)
        return await asyncio.gather(*(batcher.run({"x": request}, len(request)) for request in requests))

    return seen, [answer["y"].tolist() for answer in asyncio.run(run())]


def test_a_full_batch_does_not_wait_and_the_rest_is_computed_after_the_delay():
    requests = [np.full((1, 1), float(number)) for number in range(5)]
    seen, answers = batches(requests, 2)
    assert seen == [2, 2, 1]
    assert answers == [[[0.0]], [[2.0]], [[4.0]], [[6.0]], [[8.0]]]


def test_a_request_that_does_not_fit_in_sends_the_others_off():
    seen, _ = batches([np.zeros((2, 1)), np.zeros((3, 1)), np.zeros((1, 1))], 4)
    assert seen == [2, 4]


def test_only_equal_shapes_are_joined():
    seen, answers = batches([np.zeros((1, 3)), np.zeros((1, 5)), np.ones((1, 3))], 8)
    assert sorted(seen) == [1, 2]
    assert answers[2] == [[2.0, 2.0, 2.0]]


def test_a_fault_is_told_to_each_request():
    async def compute(arrays):
        raise RuntimeError("no")

    async def run():
        batcher = Batcher(compute, 2, 0.0)
        return await asyncio.gather(*(batcher.run({"x": np.zeros((1, 1))}, 1) for _ in range(2)), return_exceptions=True)

    assert [str(error) for error in asyncio.run(run())] == ["no", "no"]
