"""What an instance type has and what an hour of it costs, from dated tables; local shares are parsed from their name.

Used by back-ends (resources), by money (bills and worst cases), and by forecasts (will it fit).
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from definitions.errors import UserError

_LOCAL = re.compile(r"local\.(\d+)cpu(?:\.(\d+)gpu)?(?:\.(\d+)(gib|mib))?")
_UNITS = {"gib": 1024**3, "mib": 1024**2}
_FOLDER = Path(__file__).parent

PRICE_COLUMNS = ("instance_type", "region", "usd_per_hour", "date", "source")
"""Of a table of prices."""

NOMINAL = "nominal"
"""Label of prices that are no bill."""


@dataclass(frozen=True)
class LocalShare:
    """A share of this machine; `memory_bytes` is None where it is not limited."""

    cores: int
    gpus: int
    memory_bytes: int | None


@dataclass(frozen=True)
class InstanceFacts:
    """What an instance type has.

    Args:
        memory_bytes: main memory; None where a local share does not limit it.
        gpus: number of GPUs (other accelerators do not count); `gpu_memory_bytes`: of each; None where there is none or it is not known.
    """

    instance_type: str
    vcpus: int
    memory_bytes: int | None
    gpus: int
    gpu_memory_bytes: int | None


@dataclass(frozen=True)
class Price:
    """An hourly price with its grounds: `date` (YYYY-MM-DD) and `source` say where it is from; `label` is `nominal` or empty."""

    usd_per_hour: float
    region: str
    date: str
    source: str
    label: str


@dataclass(frozen=True)
class Tables:
    """Facts by instance type; prices by (instance type, region), the latest of each."""

    facts: Mapping[str, InstanceFacts]
    prices: Mapping[tuple[str, str], Price]


def is_local(instance_type: str) -> bool:
    """Return whether the type names a share of this machine (`local.…`), well formed or not."""
    return instance_type == "local" or instance_type.startswith("local.")


def parse_local(instance_type: str) -> LocalShare:
    """Return the share that `local.<N>cpu[.<M>gpu][.<K>gib|mib]` names.

    Raises:
        UserError: the name has another form, or no cores or no memory.
    """
    match = _LOCAL.fullmatch(instance_type)
    memory_bytes = int(match[3]) * _UNITS[match[4]] if match and match[3] else None
    if match is None or int(match[1]) == 0 or memory_bytes == 0:
        raise UserError(
            f"instance_type {instance_type!r} is no share of this machine",
            "the form is local.<cores>cpu[.<GPUs>gpu][.<memory>gib or mib], with at least one core",
            "e.g. local.2cpu, local.4cpu.1gpu, local.2cpu.8gib",
        )
    return LocalShare(int(match[1]), int(match[2] or 0), memory_bytes)


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
        label = NOMINAL if is_local(row["instance_type"]) else ""
        price = Price(_number(where, row, "usd_per_hour"), row["region"], row["date"], row["source"], label)
        yield (row["instance_type"], row["region"]), price


def instance_facts(instance_type: str, tables: Tables | None = None) -> InstanceFacts | None:
    """Return what the type has, or None where that is not known.

    Raises:
        UserError: a local share whose name is malformed.
    """
    if is_local(instance_type):
        share = parse_local(instance_type)
        return InstanceFacts(instance_type, share.cores, share.memory_bytes, share.gpus, None)
    return (tables or load_tables()).facts.get(instance_type)


def price_of(instance_type: str, region: str = "us-east-1", *, spot: bool = False, tables: Tables | None = None) -> Price | None:
    """Return the price of one instance, or None where it is unknown (never zero).

    A local share has a nominal price in every region: its cores and GPUs times the rows `local.cpu` and `local.gpu`.

    Managed spot training has no price of its own: SageMaker bills it at this one, for the `BillableTimeInSeconds` of the job, which are
    fewer than it ran. So the bill of a job that has ended needs no spot price, and a worst case is the one on demand.

    Args:
        instance_type: e.g. `ml.g5.xlarge`, `local.2cpu`.
        region: AWS region whose price is asked for.
        spot: the price of an hour of *running* on spot is asked for, as a forecast needs it; what will be saved is not known beforehand.
        tables: in place of those that come with Outrider.

    Raises:
        UserError: a local share whose name is malformed.
    """
    prices = (tables or load_tables()).prices
    if not is_local(instance_type):
        return None if spot else prices.get((instance_type, region))
    share = parse_local(instance_type)
    parts = [(share.cores, prices.get(("local.cpu", "local"))), (share.gpus, prices.get(("local.gpu", "local")))]
    needed = [(count, price) for count, price in parts if count]
    known = [(count, price) for count, price in needed if price is not None]
    if len(known) < len(needed):
        return None
    first = known[0][1]
    return Price(math.fsum(count * price.usd_per_hour for count, price in known), first.region, first.date, first.source, NOMINAL)


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
