"""`outrider prices`: what an hour of an instance costs, since when and by whose word; `--refresh` asks AWS."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from definitions.program import command
from launch.parser import VerbParser, default_region

_EPILOG = """\
Prices are on demand, in dollars per hour of one instance, for training and for endpoints (hosting). Managed spot training
is billed at the same price, for fewer seconds.
--refresh needs pricing:GetProducts and keeps what it learns in $OUTRIDER_PRICES (default ~/.cache/outrider/prices.csv); of two prices the
one of the later date counts. What is not known is shown as -, and is never taken for zero."""


def main(arguments: Sequence[str], environ: Mapping[str, str] = os.environ, now: Callable[[], float] = time.time) -> int:
    """Show the prices and return the exit code; raises `UserError` for an unknown type and `CloudError` where AWS refuses."""
    given = make_parser(environ).parse_args(arguments)
    from benchmarking.report.text import table
    from definitions.errors import nearest
    from definitions.instance_tables import HOSTING, TRAINING, load_tables
    from definitions.instances import is_nominal, price_of, pricing_region

    _check_types(given.type)
    usual = given.region or default_region(environ)
    if given.refresh:
        _refresh(usual, given.type, environ, now())
    tables = load_tables(environ=environ)
    priced = {*tables.prices, *tables.hosting}
    types = given.type or sorted({name for name, region in priced if region == usual})
    rows = []
    for name in types:
        region = given.region or pricing_region(name, environ)
        # A back-end that hosts nothing has one price alone.
        uses = (TRAINING, HOSTING) if (name, region) in tables.hosting else (TRAINING,)
        found = {use: price_of(name, region, use=use, tables=tables) for use in uses}
        known = {use: price for use, price in found.items() if price is not None}
        rows += [[name, price.region, use, price.usd_per_hour, price.date, price.source] for use, price in known.items()]
        if not known:
            rows.append([name, region, *[None] * 4])
    for name in given.type:
        is_known = is_nominal(name) or name in tables.facts or any(name == other for other, _ in priced)
        near = "" if is_known else nearest(name, list(tables.facts))
        if near:
            print(f"{name} is not in the table of instance types; did you mean {near!r}?", file=sys.stderr)
    if not rows:
        print(f"no price is known for {usual}; --refresh asks AWS", file=sys.stderr)
    print(table(["instance type", "region", "use", "usd per hour", "date", "source"], rows))
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
            raise UserError(f"{name!r} is no instance type", f"their names begin with {forms}", "e.g. ml.m5.xlarge")


def _refresh(region: str, types: Sequence[str], environ: Mapping[str, str], now_s: float) -> None:
    """Let each back-end that can be asked fetch the prices of its own instance types, of all where none is named."""
    from pkgutil import resolve_name

    from definitions.backend_registry import backend_description, backend_names
    from definitions.instances import backend_of

    own = {name: described.price_refresher for name in types if (described := backend_of(name)) is not None}
    refreshers = dict.fromkeys(refresher for name in backend_names() if (refresher := backend_description(name).price_refresher))
    for refresher in refreshers:
        wanted = [name for name, asked in own.items() if asked == refresher]
        if wanted or not types:
            print(resolve_name(refresher)(region, wanted or None, environ, now_s), file=sys.stderr)
