"""The Price List's answers for instances of jobs and endpoints, from Outrider's own dated table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.paging import decode_token, encode_token
from definitions.instance_tables import TRAINING, Tables, load_tables

_SERVICE = "AmazonSageMaker"


class PricingService:
    """GetProducts, GetAttributeValues and DescribeServices; the form of a product is as public code reads it, not checked against AWS.

    Args:
        tables: instance facts and prices.
    """

    def __init__(self, tables: Tables | None = None) -> None:
        self._tables = tables or load_tables()
        self._operations = {
            "GetProducts": self._products,
            "GetAttributeValues": self._attribute_values,
            "DescribeServices": self._services,
        }

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation is imitated."""
        return operation in self._operations and request.get("ServiceCode", _SERVICE) == _SERVICE

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        return self._operations[operation](request)

    def _products(self, request: dict[str, Any]) -> dict[str, Any]:
        found = [product for product in self._all() if _fits(product["product"]["attributes"], request.get("Filters", []))]
        start = decode_token(request["NextToken"]) if request.get("NextToken") else 0
        end = start + request.get("MaxResults", 100)
        answer: dict[str, Any] = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(product) for product in found[start:end]]}
        if end < len(found):
            answer["NextToken"] = encode_token(end)
        return answer

    def _attribute_values(self, request: dict[str, Any]) -> dict[str, Any]:
        values = {product["product"]["attributes"].get(request.get("AttributeName", "")) for product in self._all()}
        return {"AttributeValues": [{"Value": value} for value in sorted(value for value in values if value)]}

    def _services(self, request: dict[str, Any]) -> dict[str, Any]:
        del request
        names = sorted({name for product in self._all() for name in product["product"]["attributes"]})
        return {"FormatVersion": "aws_v1", "Services": [{"ServiceCode": _SERVICE, "AttributeNames": names}]}

    def _all(self) -> list[dict[str, Any]]:
        found = []
        rows = [*sorted(self._tables.prices.items()), *sorted(self._tables.hosting.items())]
        for (instance_type, region), price in rows:
            if not instance_type.startswith("ml."):
                continue
            facts = self._tables.facts.get(instance_type)
            attributes = {
                "servicecode": _SERVICE,
                "regionCode": region,
                "component": price.use.title(),
                "platoinstancetype": price.use.title(),
                "instanceName": instance_type,
                "instanceType": f"{instance_type}-{price.use.title()}",
            }
            if facts is not None:
                attributes["vCpu"] = str(facts.vcpus)
                attributes["gpu"] = str(facts.gpus)
            sku = f"EMULATED{abs(_number(instance_type + region + ('' if price.use == TRAINING else price.use))):010d}"
            dimension = {"unit": "Hrs", "description": f"emulated: {price.source}", "pricePerUnit": {"USD": f"{price.usd_per_hour:.10f}"}}
            terms = {
                "OnDemand": {
                    f"{sku}.T": {"sku": sku, "effectiveDate": f"{price.date}T00:00:00Z", "priceDimensions": {f"{sku}.T.D": dimension}}
                }
            }
            product = {"sku": sku, "productFamily": "ML Instance", "attributes": attributes}
            found.append({"product": product, "serviceCode": _SERVICE, "terms": terms, "publicationDate": f"{price.date}T00:00:00Z"})
        return found


def _fits(attributes: Mapping[str, str], filters: list[dict[str, str]]) -> bool:
    for one in filters:
        if one.get("Type", "TERM_MATCH") != "TERM_MATCH":
            raise ServiceError("InvalidParameterException", f"The emulator imitates TERM_MATCH only, not {one['Type']}.")
        if attributes.get(one["Field"]) != one["Value"]:
            return False
    return True


def _number(text: str) -> int:
    import zlib

    return zlib.crc32(text.encode())
