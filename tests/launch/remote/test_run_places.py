"""Where a run is looked for: by flags, by what this machine knows of it, or by the account's default bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from definitions.errors import UserError
from launch.remote import run_places
from launch.remote.run_places import check_region, may_be_elsewhere, place_flags, places_of


@pytest.fixture
def known(monkeypatch):
    """Let this machine know of experiments with these buckets and prefixes; count how often AWS is asked for the account."""
    asked = []

    def default_bucket(clients, create):
        asked.append(create)
        return "sagemaker-eu-west-1-123456789012"

    monkeypatch.setattr("backends.sagemaker.jobs.resolve_options.default_bucket", default_bucket)

    def set_blocks(*blocks):
        monkeypatch.setattr(run_places, "_blocks", lambda folders: (list(blocks), ["eu-west-1"] if blocks else []))
        return asked

    return set_blocks


def test_the_tag_alone_leads_to_the_default_bucket_which_is_not_made(known):
    asked = known()
    found = places_of("t", region="eu-west-1", environ={})
    assert found.places == (("sagemaker-eu-west-1-123456789012", "outrider"),)
    assert [store.uri for store in found.stores] == ["s3://sagemaker-eu-west-1-123456789012/outrider/runs/t"]
    assert asked == [False]


def test_what_this_machine_knows_of_it_comes_before_that_and_flags_before_both(known):
    asked = known(("mine", "/team/x/"), ("mine", None), (None, None))
    found = places_of("t", environ={})
    assert found.clients.region == "eu-west-1"
    assert found.places == (("mine", "team/x"), ("mine", "outrider"), ("sagemaker-eu-west-1-123456789012", "outrider"))
    assert asked == [False]
    assert places_of("t", bucket="b", prefix="", region="us-east-2", environ={}).places == (("b", ""),)
    assert asked == [False]


def test_the_flags_that_find_a_place_again_leave_out_what_is_usual(known):
    known()
    assert places_of("t", bucket="b", region="us-east-2", environ={}).flags == ("--remote_region", "us-east-2", "--remote_bucket", "b")
    assert place_flags(None, None, None) == ()
    assert place_flags(None, "b", "") == ("--bucket", "b", "--prefix", "")


@pytest.fixture
def configured(monkeypatch, tmp_path):
    """Have AWS's own configuration be a file of the test's."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    return tmp_path / "config"


def test_a_region_of_the_configuration_file_is_one_to_look_in(configured):
    assert not may_be_elsewhere({})
    with pytest.raises(UserError, match="status t: there is nothing of this tag in results\n  nor is an AWS region known") as refused:
        check_region("status t", Path("results"), None, {})
    assert "--region" in refused.value.advice
    check_region("status t", Path("results"), "eu-west-1", {})
    configured.write_text("[default]\nregion = eu-west-1\n", encoding="utf-8")
    assert may_be_elsewhere({})
    check_region("status t", Path("results"), None, {})
    assert may_be_elsewhere({"AWS_REGION": "us-east-1"})
