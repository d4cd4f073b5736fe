"""An endpoint's life: which steps it takes, when it may be deleted, what counts against a quota."""

from __future__ import annotations

import pytest

from backends.emulator.endpoints.life import EndpointLife, move_endpoint


def test_a_life_from_creation_to_deletion():
    life = EndpointLife(10.0, 10.0)
    assert (life.status, life.may_be_deleted, life.has_instances) == ("Creating", False, True)
    served = move_endpoint(life, "InService", 40.0)
    assert (served.served_from, served.modified_at, served.may_be_deleted) == (40.0, 40.0, True)
    deleting = move_endpoint(served, "Deleting", 60.0)
    assert (deleting.has_instances, deleting.may_be_deleted, deleting.served_from) == (True, False, 40.0)


def test_what_failed_keeps_its_reason_has_no_instances_and_may_be_deleted():
    failed = move_endpoint(EndpointLife(10.0, 10.0), "Failed", 20.0, "x" * 2000)
    assert (len(failed.reason), failed.has_instances, failed.may_be_deleted) == (1024, False, True)
    assert move_endpoint(failed, "Deleting", 30.0).reason == "x" * 1024


@pytest.mark.parametrize(("status", "to"), [("Creating", "Deleting"), ("Failed", "InService"), ("Deleting", "InService")])
def test_steps_that_an_endpoint_cannot_take(status, to):
    with pytest.raises(ValueError, match=f"an endpoint that is {status} cannot become {to}"):
        move_endpoint(EndpointLife(0.0, 0.0, status), to, 1.0)


def test_a_clock_that_goes_back_does_not_turn_the_order():
    assert move_endpoint(EndpointLife(10.0, 10.0), "InService", 5.0).modified_at == 10.0
