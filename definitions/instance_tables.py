"""Dated tables of what instance types have and what an hour of them costs: those that come with Outrider, and the user's own prices."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from definitions.errors import UserError

_FOLDER = Path(__file__).parent

PRICE_COLUMNS = ("instance_type", "region", "usd_per_hour", "date", "source")
"""Of a table of prices."""

LISTED_REGION = "us-east-1"
"""The region whose price list comes with Outrider: what is priced where nobody names a region."""


@dataclass(frozen=True)
class InstanceFacts:
    """What an instance type has.

    Args:
        memory_bytes: main memory; None where nothing limits it.
        gpus: number of GPUs (other accelerators do not count); `gpu_memory_bytes`: of each; None where there is none or it is not known.
    """

    instance_type: str
    vcpus: int
    memory_bytes: int | None
    gpus: int
    gpu_memory_bytes: int | None


@dataclass(frozen=True)
class Price:
    """An hourly price with its grounds: `date` (YYYY-MM-DD) and `source` say where it is from."""

    usd_per_hour: float
    region: str
    date: str
    source: str


@dataclass(frozen=True)
class Tables:
    """Facts by instance type; prices by (instance type, region), the latest of each."""

    facts: Mapping[str, InstanceFacts]
    prices: Mapping[tuple[str, str], Price]


def own_prices_csv(environ: Mapping[str, str]) -> Path:
    """Return where the user's own table of prices is kept: $OUTRIDER_PRICES, else `outrider/prices.csv` in the user's cache folder."""
    if environ.get("OUTRIDER_PRICES"):
        return Path(environ["OUTRIDER_PRICES"]).expanduser()
    cache = environ.get("XDG_CACHE_HOME") or environ.get("HOME", "~") + "/.cache"
    return Path(cache).expanduser() / "outrider" / "prices.csv"


def load_tables(
    facts_csv: Path = _FOLDER / "instances.csv", prices_csv: Path | None = None, environ: Mapping[str, str] | None = None
) -> Tables:
    """Return the tables in CSV files, by default those that come with Outrider, and the user's own prices on top.

    Args:
        facts_csv: columns instance_type, vcpus, memory_gib, gpus, gpu_memory_mib, region, date, source.
        prices_csv: columns instance_type, region, usd_per_hour, date, source, instead of the shipped and the user's own table. Of several
            rows for one type and region the latest counts, of two of the same day the user's own.
        environ: says where the user's own table is; None for the process's.

    Raises:
        UserError: a file is missing, or a row lacks a value or holds one that cannot be.
    """
    facts = {}
    for where, row in _rows(facts_csv, ("instance_type", "vcpus", "memory_gib", "gpus", "region", "date", "source")):
        facts[row["instance_type"]] = InstanceFacts(
            row["instance_type"],
            int(_number(where, row, "vcpus")),
            int(_number(where, row, "memory_gib") * 1024**3),
            int(_number(where, row, "gpus", least=0)),
            int(_number(where, row, "gpu_memory_mib") * 1024**2) if row.get("gpu_memory_mib") else None,
        )
    files = [prices_csv] if prices_csv is not None else [_FOLDER / "prices.csv"]
    own = own_prices_csv(os.environ if environ is None else environ)
    if prices_csv is None and own.exists():
        files.append(own)
    prices: dict[tuple[str, str], Price] = {}
    for file in files:
        for price_key, price in read_prices(file):
            if price_key not in prices or prices[price_key].date <= price.date:
                prices[price_key] = price
    return Tables(facts, prices)


def read_prices(prices_csv: Path) -> Iterator[tuple[tuple[str, str], Price]]:
    """Yield ((instance type, region), price) of each row of a table; raises `UserError` as `load_tables`."""
    for where, row in _rows(prices_csv, PRICE_COLUMNS):
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["date"]):
            raise UserError(f"{where}: the date {row['date']!r} is not YYYY-MM-DD")
        price = Price(_number(where, row, "usd_per_hour"), row["region"], row["date"], row["source"])
        yield (row["instance_type"], row["region"]), price


def _rows(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = [(f"{path}, line {number}", row) for number, row in enumerate(csv.DictReader(file), 2)]
    except OSError as error:
        raise UserError(f"{path}: cannot be read", str(error)) from error
    for where, row in lines:
        missing = [name for name in required if not row.get(name)]
        if missing:
            raise UserError(f"{where}: {', '.join(missing)} is missing", "each row says what, where, when, and by whom", "complete it")
        yield where, row


def _number(where: str, row: Mapping[str, str], name: str, least: float | None = None) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or (value <= 0 if least is None else value < least):
        raise UserError(f"{where}: {name} is {row[name]!r}", "a number above zero is needed; what is not known is left out")
    return value
