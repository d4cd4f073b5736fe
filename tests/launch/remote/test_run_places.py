"""Where a run is looked for: by flags, by what this machine knows of it, or by the account's default bucket."""

from __future__ import annotations

import pytest

from launch.remote import run_places
from launch.remote.run_places import places_of


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
