"""What a VPC means for the jobs in it: what they reach, what is missing, what to do."""

from __future__ import annotations

import dataclasses

import pytest

from backends.sagemaker.admin.network_checks import CONTROLLERS, check_network, trials
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.network_lookups import JobNetwork
from backends.sagemaker.aws.network_needs import INTERFACES

DENIED = CallFailure(FailureKind.DENIED, "X", "AccessDenied", "no")
WHOLE = JobNetwork(("vpc-1",), frozenset({"s3", "servicequotas", *INTERFACES}), without_way_out=("subnet-a",))


@pytest.mark.parametrize(
    ("network", "verdict", "found"),
    [
        (None, "ok", "in no VPC"),
        (DENIED, "unknown", "X is not allowed"),
        (WHOLE, "warning", "no index of packages"),
        (dataclasses.replace(WHOLE, without_way_out=()), "ok", "vpc-1: all is reached"),
        (JobNetwork(("vpc-1",)), "ok", "all is reached"),  # with a way out no endpoint is needed
        (JobNetwork(("vpc-1",), without_way_out=("subnet-a",)), "failed", "s3 has no endpoint; sagemaker.api has no endpoint"),
        (dataclasses.replace(WHOLE, services=WHOLE.services - {"sts"}), "failed", "sts has no endpoint, and nothing leads from subnet-a"),
        (dataclasses.replace(WHOLE, unnamed=frozenset({"logs"})), "failed", "logs has an endpoint without private DNS"),
        (dataclasses.replace(WHOLE, without_gateway=("subnet-a",)), "failed", "s3 has an endpoint that subnet-a does not lead to"),
        # The usual name leads to the endpoint, also where there is a way out.
        (dataclasses.replace(WHOLE, closed=frozenset({"logs"}), without_way_out=()), "failed", "let no controller in: controllers would"),
        (dataclasses.replace(WHOLE, is_shut=True), "failed", "let nothing out to port 443"),
        (dataclasses.replace(WHOLE, vpcs=("vpc-1", "vpc-2")), "failed", "several VPCs: vpc-1, vpc-2"),
        (JobNetwork(missing=("subnet-x",)), "failed", "there is no subnet-x"),
    ],
)  # fmt: skip
def test_the_network(network, verdict, found):
    check = check_network(network, CONTROLLERS)
    assert check.verdict == verdict
    assert found in check.found
    assert bool(check.advice) is (verdict != "ok")


def test_what_is_missing_of_a_network_is_made_by_the_template():
    advice = check_network(dataclasses.replace(WHOLE, services=frozenset({"s3"})), CONTROLLERS).advice
    assert "doctor --cloudformation network" in advice
    assert advice.endswith("sagemaker.api, logs, sts")


@pytest.mark.parametrize(
    ("network", "installs", "verdict", "found"),
    [
        (JobNetwork(("vpc-1",), frozenset({"s3"}), without_way_out=("subnet-a",)), False, "ok", "vpc-1: s3 is reached by endpoint"),
        (JobNetwork(("vpc-1",), frozenset({"s3"}), without_way_out=("subnet-a",)), True, "warning", "and no index of packages"),
        (JobNetwork(("vpc-1",)), True, "ok", "all is reached"),
        (JobNetwork(("vpc-1",), without_way_out=("subnet-a",)), False, "failed", "internet: jobs would get neither code nor data"),
        (dataclasses.replace(WHOLE, without_gateway=("subnet-a",)), False, "failed", "s3 has an endpoint that subnet-a does not lead to"),
        # Nothing in a trial's job calls these.
        (dataclasses.replace(WHOLE, closed=frozenset(INTERFACES)), False, "ok", "vpc-1: s3 is reached"),
        (dataclasses.replace(WHOLE, is_shut=True), False, "failed", "let nothing out to port 443"),
        (DENIED, False, "unknown", "X is not allowed"),
    ],
)
def test_the_network_of_trials_leads_to_s3_and_where_they_install_further(network, installs, verdict, found):
    check = check_network(network, trials(installs=installs))
    assert (check.name, check.verdict) == ("jobs' network", verdict)
    assert found in check.found
    assert bool(check.advice) is (verdict != "ok")
