"""Dated tables of what instance types have and what an hour of them costs: those that come with Outrider, and the user's own prices."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from definitions.errors import UserError

_FOLDER = Path(__file__).parent

PRICE_COLUMNS = ("instance_type", "region", "usd_per_hour", "date", "source", "use")
"""Of a table of prices; where `use` is left out or empty the price is that of training."""

TRAINING, HOSTING = "training", "hosting"
"""What instances are used for, which have prices of their own: jobs, and endpoints."""

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
    """An hourly price with its grounds: `date` (YYYY-MM-DD) and `source` say where it is from, `use` what it is for."""

    usd_per_hour: float
    region: str
    date: str
    source: str
    use: str = TRAINING


@dataclass(frozen=True)
class Tables:
    """Facts by instance type; prices of training by (instance type, region), the latest of each; `hosting`: those of endpoints likewise."""

    facts: Mapping[str, InstanceFacts]
    prices: Mapping[tuple[str, str], Price]
    hosting: Mapping[tuple[str, str], Price] = field(default_factory=dict)

    def used_for(self, use: str) -> Tables:
        """Return the tables with the prices of one use as the prices that there are."""
        return replace(self, prices=self.hosting) if use == HOSTING else self


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
        prices_csv: columns instance_type, region, usd_per_hour, date, source, use, instead of the shipped and the user's own table. Of
            several rows for one type, region and use the latest counts, of two of the same day the user's own.
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
    prices: dict[str, dict[tuple[str, str], Price]] = {TRAINING: {}, HOSTING: {}}
    for file in files:
        for key, price in read_prices(file):
            known = prices[price.use].get(key)
            if known is None or known.date <= price.date:
                prices[price.use][key] = price
    return Tables(facts, prices[TRAINING], prices[HOSTING])


def read_prices(prices_csv: Path) -> Iterator[tuple[tuple[str, str], Price]]:
    """Yield ((instance type, region), price) of each row of a table; raises `UserError` as `load_tables`."""
    for where, row in _rows(prices_csv, PRICE_COLUMNS[:-1]):
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["date"]):
            raise UserError(f"{where}: the date {row['date']!r} is not YYYY-MM-DD")
        use = row.get("use") or TRAINING
        if use not in (TRAINING, HOSTING):
            raise UserError(f"{where}: the use {use!r} is unknown", f"instances are used for {TRAINING} or {HOSTING}", "leave it out")
        price = Price(_number(where, row, "usd_per_hour"), row["region"], row["date"], row["source"], use)
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
