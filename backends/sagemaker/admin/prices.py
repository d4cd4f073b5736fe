"""On-demand prices of instances for training and for endpoints from AWS's Price List, and the user's own table of them."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import as_cloud_errors
from definitions.files import replacing
from definitions.instance_tables import HOSTING, PRICE_COLUMNS, TRAINING, own_prices_csv, read_prices

_SERVICE = "AmazonSageMaker"
_TYPE = re.compile(r"\bml\.[a-z0-9-]+\.(?:metal|\d*[a-z]+)")
_HOURS = ("hrs", "hr", "hour", "hours")
_PAGE = 100


@dataclass(frozen=True)
class PriceRow:
    """One row of a table of prices; its fields are the table's columns."""

    instance_type: str
    region: str
    usd_per_hour: float
    date: str
    source: str
    use: str = TRAINING


@dataclass(frozen=True)
class Fetched:
    """What the Price List said.

    Args:
        rows: one for each instance type, by name.
        skipped: number of products of this use that could not be understood.
    """

    rows: tuple[PriceRow, ...]
    skipped: int


def fetch_prices(
    client: Any, region: str, instance_types: Sequence[str] | None, now_s: float, source: str = "AWS", use: str = TRAINING
) -> Fetched:
    """Return the on-demand prices of one use of instances in a region.

    What identifies an instance for training differs between published readings of the Price List (`instanceName` or `instanceType`,
    `component` or `usagetype`), so that all are tried, and what fits none is counted and left out. Where two products give one type
    different prices the higher one counts, so that a cap on money holds.

    Args:
        client: boto3's for `pricing`.
        region: code of the region, e.g. `eu-west-1`.
        instance_types: those that are wanted; None for all.
        now_s: UTC seconds since the epoch, whose day becomes the rows' date.
        source: who answers.
        use: `training` or `hosting`.

    Raises:
        CloudError: AWS refuses.
    """
    date = datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%d")
    found: dict[str, PriceRow] = {}
    skipped = 0
    # The narrower question takes a few pages; where nothing goes by that name the wider one takes some dozens.
    for narrower in ({"component": use.title()}, {}):
        with as_cloud_errors(f"prices of {use} in {region} (pricing:GetProducts)"):
            products = list(_products(client, {"regionCode": region, **narrower}))
        for text in products:
            product = _parsed(text)
            if not _is_for(use, product, region):
                continue
            name, price = _name(product), _usd_per_hour(product)
            if not name or price is None:
                skipped += 1
            elif instance_types is None or name in instance_types:
                said = f"{source}: Price List, {_SERVICE}, {product.get('product', {}).get('sku', 'no sku')}, asked on {date}"
                row = PriceRow(name, region, price, date, said, use)
                if name not in found or found[name].usd_per_hour < price:
                    found[name] = row
        if found:
            break
    return Fetched(tuple(found[name] for name in sorted(found)), skipped)


def store_prices(path: Path, rows: Sequence[PriceRow]) -> None:
    """Put rows into a table in place of those for the same types, regions and uses; the file is replaced as a whole.

    Raises:
        UserError: the file there is no table of prices, or cannot be written.
    """
    kept: dict[tuple[str, str, str], PriceRow] = {}
    if path.exists():
        for (instance_type, region), price in read_prices(path):
            row = PriceRow(instance_type, region, price.usd_per_hour, price.date, price.source, price.use)
            kept[instance_type, region, price.use] = row
    kept.update({(row.instance_type, row.region, row.use): row for row in rows})
    with replacing(path, "name another file by OUTRIDER_PRICES") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(PRICE_COLUMNS)
        writer.writerows(astuple(kept[key]) for key in sorted(kept))


def refresh_prices(region: str, instance_types: Sequence[str] | None, environ: Mapping[str, str], now_s: float) -> str:
    """Ask AWS for prices, keep them in the user's own table, and return what was done.

    Args:
        region: code of the region.
        instance_types: those that are wanted; None for all.
        environ: the environment, which names the account and the table.
        now_s: UTC seconds since the epoch.

    Raises:
        CloudError: AWS refuses.
        UserError: the table cannot be written.
    """
    clients = Clients(region, environ)
    source = "emulated" if clients.emulated else "AWS"
    with as_cloud_errors(f"prices of training in {region}"):
        client = clients.get("pricing")
    by_use = {use: fetch_prices(client, region, instance_types, now_s, source, use) for use in (TRAINING, HOSTING)}
    rows = [row for found in by_use.values() for row in found.rows]
    counts = " and ".join(f"{len(found.rows)} of {use}" for use, found in by_use.items())
    remarks = [f"prices of {region} from {source}: {counts}"]
    skipped = sum(found.skipped for found in by_use.values())
    if skipped:
        remarks.append(f"{skipped} products were not understood")
    missing = sorted(set(instance_types or ()) - {row.instance_type for row in rows})
    if missing:
        remarks.append(f"none for {', '.join(missing)}")
    path: Path = own_prices_csv(environ)
    if clients.emulated and not environ.get("OUTRIDER_PRICES"):
        # An emulator's prices must not pass for a bill's.
        remarks.append("an emulator's are kept only where OUTRIDER_PRICES names a file")
    elif rows:
        store_prices(path, rows)
        remarks.append(f"kept in {path}")
    return "; ".join(remarks)


def _products(client: Any, filters: Mapping[str, str]) -> Iterator[Any]:
    request: dict[str, Any] = {
        "ServiceCode": _SERVICE,
        "Filters": [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in filters.items()],
        "FormatVersion": "aws_v1",
        "MaxResults": _PAGE,
    }
    while True:
        page = client.get_products(**request)
        yield from page.get("PriceList", [])
        if not page.get("NextToken"):
            return
        request["NextToken"] = page["NextToken"]


def _parsed(text: Any) -> dict[str, Any]:
    try:
        product = json.loads(text) if isinstance(text, (str, bytes)) else text
    except ValueError:
        return {}
    return product if isinstance(product, dict) else {}


def _attributes(product: Mapping[str, Any]) -> dict[str, str]:
    inner = product.get("product")
    found = inner.get("attributes") if isinstance(inner, dict) else None
    return {str(name).lower(): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


_USAGE = {TRAINING: r"(?:^|-)train(?:ing)?:", HOSTING: r"(?:^|-)host(?:ing)?:"}


def _is_for(use: str, product: Mapping[str, Any], region: str) -> bool:
    attributes = _attributes(product)
    if attributes.get("regioncode", region) != region:
        return False
    if "spot" in (attributes.get("component", "") + attributes.get("usagetype", "")).lower():
        return False
    component = attributes.get("component")
    if component:
        return component.lower() == use
    return bool(
        re.search(_USAGE[use], attributes.get("usagetype", ""), re.IGNORECASE)
        or attributes.get("instancetype", "").lower().endswith(f"-{use}")
        or attributes.get("platoinstancetype", "").lower() == use
    )


def _name(product: Mapping[str, Any]) -> str:
    attributes = _attributes(product)
    for field in ("instancename", "instancetype", "usagetype"):
        match = _TYPE.search(attributes.get(field, ""))
        if match:
            return match[0]
    return ""


def _usd_per_hour(product: Mapping[str, Any]) -> float | None:
    """Return the price on demand; None where there is none that is above zero and in dollars per hour."""
    found = []
    for term in _values(_get(_get(product, "terms"), "OnDemand")):
        for dimension in _values(_get(term, "priceDimensions")):
            if str(_get(dimension, "unit") or "hrs").lower() not in _HOURS:
                continue
            try:
                price = float(_get(_get(dimension, "pricePerUnit"), "USD"))
            except (TypeError, ValueError):
                continue
            if math.isfinite(price) and price > 0:
                found.append(price)
    return max(found, default=None)


def _get(mapping: Any, key: str) -> Any:
    return mapping.get(key) if isinstance(mapping, dict) else None


def _values(mapping: Any) -> list[Any]:
    return list(mapping.values()) if isinstance(mapping, dict) else []
