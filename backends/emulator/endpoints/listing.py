"""ListModels, ListEndpointConfigs and ListEndpoints: filters, order, pages that stay stable while resources come and go. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.emulator.endpoints.resource import HostingResource
from backends.emulator.http.paging import decode_token, encode_token


def hosting_page(resources: Sequence[HostingResource], request: Mapping[str, Any], ahead_s: float) -> tuple[list[HostingResource], str]:
    """Return the resources of one page and the token of the next, empty where there is none.

    Newest first unless the request says otherwise.

    Args:
        resources: all of a kind.
        request: of the List operation.
        ahead_s: how far the service's clock is ahead, in seconds.
    """
    field = request.get("SortBy", "CreationTime")
    descending = request.get("SortOrder", "Descending") == "Descending"
    found = sorted((one for one in resources if _fits(one, request, ahead_s)), key=lambda one: _place(one, field), reverse=descending)
    if request.get("NextToken"):
        last = decode_token(request["NextToken"])
        found = [one for one in found if (_place(one, field) < last if descending else _place(one, field) > last)]
    size = request.get("MaxResults", 10)
    cut = found[:size]
    return cut, encode_token(_place(cut[-1], field)) if len(found) > size else ""


def _place(resource: HostingResource, field: str) -> list[Any]:
    if field == "Name":
        return [resource.name]
    if field == "Status" and resource.life is not None:
        return [resource.life.status, resource.number]
    return [resource.number]


def _fits(resource: HostingResource, request: Mapping[str, Any], ahead_s: float) -> bool:
    status = request.get("StatusEquals")
    return (
        request.get("NameContains", "") in resource.name
        and _between(resource.created_at + ahead_s, request.get("CreationTimeAfter"), request.get("CreationTimeBefore"))
        and _between(resource.modified_at + ahead_s, request.get("LastModifiedTimeAfter"), request.get("LastModifiedTimeBefore"))
        and (status is None or (resource.life is not None and resource.life.status == status))
    )


def _between(at: float, after: float | None, before: float | None) -> bool:
    return (after is None or at >= after) and (before is None or at <= before)
