"""What parts of a job on several nodes are told of each other."""

from __future__ import annotations

import json

from backends.job_spec import JobSpec
from backends.ray.ranks import part_spec, rank_variables


def test_a_job_on_one_node_is_told_nothing():
    assert rank_variables("toy-0", 0, ["10.0.0.1"]) == {}


def test_hosts_are_numbered_as_scripts_number_them_by_their_sorted_names():
    addresses = [f"10.0.0.{number}" for number in range(12)]
    told = [rank_variables("toy-0", rank, addresses) for rank in range(12)]
    for rank, one in enumerate(told):
        assert sorted(json.loads(one["SM_HOSTS"])).index(one["SM_CURRENT_HOST"]) == rank
        assert (one["SM_HOST_COUNT"], one["MASTER_ADDR"], one["SM_MASTER_ADDR"]) == ("12", "10.0.0.0", "10.0.0.0")
    assert len({one["SM_MASTER_PORT"] for one in told}) == 1
    assert rank_variables("toy-1", 0, addresses)["SM_MASTER_PORT"] != told[0]["SM_MASTER_PORT"]


def test_only_the_first_part_has_to_report_and_clears_the_checkpoint():
    spec = JobSpec("toy-0", 0, 1, "main.py", checkpoint="t0", restore_from=None)
    assert part_spec(spec, 0) is spec
    part = part_spec(spec, 1)
    assert (part.name, part.is_silent, part.checkpoint, part.restore_from) == ("toy-0.rank1", True, "t0", "t0")
