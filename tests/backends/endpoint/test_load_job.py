"""The load's job on this machine: where it is led to, how long it may take, and with what it begins."""

import json
from pathlib import Path

import pytest

from backends.deployment import Deployment
from backends.endpoint.course import new_job
from backends.endpoint.load_job import TARGETS_FILE, load_spec
from backends.job_spec import JobSpec, Limits

URL = {"OUTRIDER_ENDPOINT_URL": "https://there/endpoints/x1/invocations"}


def spec(max_run_s=300.0, **fields):
    served = Deployment((), "multi", "triton", 2, "ml.m5.xlarge", client_cores=3, existing="theirs")
    return JobSpec("x1", 0, 1, "load.py", (), instance_type="ml.m5.xlarge", endpoint=served, limits=Limits(max_run_s), **fields)


@pytest.mark.parametrize(("max_run_s", "told"), [(300.0, "300.0"), (None, None)])
def test_the_script_is_told_how_long_it_may_take_where_that_is_limited(max_run_s, told):
    made = load_spec(new_job(spec(max_run_s), 0.0), Path("/experiment"), URL)
    assert made.environment.get("OUTRIDER_ENDPOINT_LEFT_S") == told
    assert made.limits.max_run_s == max_run_s


def test_it_runs_here_on_the_cores_of_the_client_and_knows_its_targets(tmp_path):
    made = load_spec(new_job(spec(environment={"A": "1"}), 0.0), tmp_path, URL)
    assert (made.instance_type, made.instance_count, made.endpoint) == ("local.3cpu", 1, None)
    assert made.environment.items() >= {"A": "1", **URL}.items()
    assert made.environment["OUTRIDER_ENDPOINT_TARGETS"] == str(tmp_path / "jobs" / "x1" / TARGETS_FILE)
    assert json.loads(made.files[TARGETS_FILE])["client_shares_cores"] is False


def test_a_further_life_goes_on_from_its_own_checkpoint():
    job = new_job(spec(checkpoint="own", restore_from="other"), 0.0)
    assert load_spec(job, Path("/experiment"), URL).restore_from == "other"
    job.local_lives = 1
    assert load_spec(job, Path("/experiment"), URL).restore_from == "own"
