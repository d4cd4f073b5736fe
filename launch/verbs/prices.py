"""`outrider prices`: what an hour of an instance costs, since when and by whose word; `--refresh` asks AWS."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from definitions.program import command
from launch.parser import VerbParser, default_region

_EPILOG = """\
Prices are on demand, in dollars per hour of one instance. Managed spot training is billed at the same price, for fewer seconds.
--refresh needs pricing:GetProducts and keeps what it learns in $OUTRIDER_PRICES (default ~/.cache/outrider/prices.csv); of two prices the
one of the later date counts. What is not known is shown as -, and is never taken for zero."""


def main(arguments: Sequence[str], environ: Mapping[str, str] = os.environ, now: Callable[[], float] = time.time) -> int:
    """Show the prices and return the exit code; raises `UserError` for an unknown type and `CloudError` where AWS refuses."""
    given = make_parser(environ).parse_args(arguments)
    from benchmarking.report.text import table
    from definitions.errors import nearest
    from definitions.instance_tables import load_tables
    from definitions.instances import is_nominal, price_of, pricing_region

    _check_types(given.type)
    usual = given.region or default_region(environ)
    if given.refresh:
        _refresh(usual, given.type, environ, now())
    tables = load_tables(environ=environ)
    types = given.type or sorted(name for name, region in tables.prices if region == usual)
    rows = []
    for name in types:
        region = given.region or pricing_region(name, environ)
        price = price_of(name, region, tables=tables)
        place = "" if price is None else price.region
        rows.append([name, place or region, *([None] * 3 if price is None else [price.usd_per_hour, price.date, price.source])])
    for name in given.type:
        known = is_nominal(name) or name in tables.facts or any(name == priced for priced, _ in tables.prices)
        near = "" if known else nearest(name, list(tables.facts))
        if near:
            print(f"{name} is not in the table of instance types; did you mean {near!r}?", file=sys.stderr)
    if not rows:
        print(f"no price is known for {usual}; --refresh asks AWS", file=sys.stderr)
    print(table(["instance type", "region", "usd per hour", "date", "source"], rows))
    return 0


def make_parser(environ: Mapping[str, str] = os.environ) -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("prices"),
        description="Show what instances cost, since when, and by whose word.",
        epilog=_EPILOG,
    )
    parser.add_argument("type", nargs="*", metavar="TYPE", help="instance types, e.g. ml.g5.xlarge (default: all with a known price)")
    parser.add_region(f"region of the prices (default: what the type's back-end says, else {default_region(environ)})")
    parser.add_argument("--refresh", action="store_true", help="ask AWS for them first")
    return parser


def _check_types(types: Sequence[str]) -> None:
    from definitions.errors import UserError
    from definitions.instances import backend_of, instance_forms

    for name in types:
        if backend_of(name) is None:
            forms = " or ".join(instance_forms())
            raise UserError(f"{name!r} is no instance type for training", f"their names begin with {forms}", "e.g. ml.m5.xlarge")


def _refresh(region: str, types: Sequence[str], environ: Mapping[str, str], now_s: float) -> None:
    from backends.sagemaker.admin.prices import fetch_prices, store_prices
    from backends.sagemaker.aws.clients import Clients
    from definitions.instance_tables import own_prices_csv

    clients = Clients(region, environ)
    wanted = [name for name in types if name.startswith("ml.")] or None
    source = "emulated" if clients.emulated else "AWS"
    found = fetch_prices(clients.get("pricing"), region, wanted, now_s, source=source)
    remarks = [f"{len(found.rows)} prices of {region} from {source}"]
    if found.skipped:
        remarks.append(f"{found.skipped} products were not understood")
    missing = sorted(set(wanted or ()) - {row.instance_type for row in found.rows})
    if missing:
        remarks.append(f"none for {', '.join(missing)}")
    path: Path = own_prices_csv(environ)
    if clients.emulated and not environ.get("OUTRIDER_PRICES"):
        # An emulator's prices must not pass for a bill's.
        remarks.append("an emulator's are kept only where OUTRIDER_PRICES names a file")
    elif found.rows:
        store_prices(path, found.rows)
        remarks.append(f"kept in {path}")
    print("; ".join(remarks), file=sys.stderr)
