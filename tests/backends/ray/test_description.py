"""What the back-end of Ray clusters tells about itself."""

from __future__ import annotations

import pytest

from backends.ray.description import DESCRIPTION, RayBlock
from definitions.instance_tables import load_tables
from definitions.instances import price_of

BLOCK = RayBlock(usd_per_hour={"ray.1gpu.a10g": 1.2, "ray.4cpu": 0.2, "ray.2cpu.8gib.fast": 0.7})


@pytest.mark.parametrize(
    ("name", "usd"),
    [("ray.1gpu.a10g", 1.2), ("ray.a10g.1gpu.1cpu", 1.2), ("ray.4cpu", 0.2), ("ray.fast.2cpu.8192mib", 0.7), ("ray.2cpu", None)],
)
def test_an_hour_costs_what_the_block_says_and_else_nobody_knows(name, usd):
    found = price_of(name, "us-east-1", options=lambda backend, model: BLOCK)
    assert (None if found is None else found.usd_per_hour) == usd
    assert price_of(name, "us-east-1") is None


def test_it_is_said_by_which_prices_jobs_are_counted_and_which_have_none():
    said = [*DESCRIPTION.remarks(BLOCK, ["ray.4cpu", "ray.2cpu"], "us-east-1", {})]
    assert said[0] == "an hour of a job costs by ray.usd_per_hour: ray.4cpu $0.2"
    assert said[1].startswith("what ray.2cpu costs is unknown")
    assert DESCRIPTION.price("ray.4cpu", "anywhere", load_tables(), RayBlock()) is None


def test_rays_word_for_a_cluster_of_its_own_is_refused_with_what_to_write():
    found = dict(DESCRIPTION.option_problems(RayBlock(address="local"), "main.py", ["loss"], None))
    assert found["ray", "address"].startswith("names no cluster that is there; leave it out")
