"""Lists of models and endpoints: order, pages while resources come and go, filters."""

from __future__ import annotations

import pytest

from backends.emulator.endpoints.life import EndpointLife
from backends.emulator.endpoints.listing import hosting_page
from backends.emulator.endpoints.resource import HostingResource
from backends.emulator.http.errors import ServiceError


def endpoint(number, status="InService", modified=None):
    life = EndpointLife(float(number), float(modified or number), status)
    return HostingResource("endpoint", f"e-{number:02}", number, {}, {}, float(number), life)


def names(request, resources):
    found, token = hosting_page(resources, request, 0.0)
    return [one.name for one in found], token


def test_the_newest_come_first_and_a_page_goes_on_where_it_ended_whatever_was_deleted():
    there = [endpoint(number) for number in range(25)]
    first, token = names({}, there)
    assert first == [f"e-{number:02}" for number in range(24, 14, -1)]
    left = [one for one in there if one.number not in (15, 14)]
    second, token = names({"NextToken": token, "MaxResults": 20}, [*left, endpoint(25)])
    assert second == [f"e-{number:02}" for number in range(13, -1, -1)]
    assert token == ""


def test_filters_come_before_the_page_is_cut():
    there = [endpoint(number, "Creating" if number % 2 else "InService") for number in range(20)]
    assert names({"StatusEquals": "Creating", "MaxResults": 3, "SortOrder": "Ascending"}, there)[0] == ["e-01", "e-03", "e-05"]
    assert names({"NameContains": "-1", "SortBy": "Name", "SortOrder": "Ascending", "MaxResults": 2}, there)[0] == ["e-10", "e-11"]
    assert names({"CreationTimeAfter": 5.0, "CreationTimeBefore": 6.0}, there)[0] == ["e-06", "e-05"]
    assert names({"LastModifiedTimeAfter": 90.0}, [*there, endpoint(21, modified=99)])[0] == ["e-21"]


def test_a_token_of_somebody_else_is_refused():
    with pytest.raises(ServiceError, match="Invalid NextToken"):
        names({"NextToken": "x"}, [endpoint(1)])
