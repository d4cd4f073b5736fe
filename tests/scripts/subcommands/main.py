"""Fit or describe a table: positional arguments, sub-commands, a list, a negative number."""

import argparse
import csv
from pathlib import Path


def fit(given: argparse.Namespace) -> None:
    with given.table.open() as file:
        rows = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
    error = sum((y - given.shift - sum(weight * x**power for power, weight in enumerate(given.weights))) ** 2 for x, y in rows)
    (given.target / "fitted.txt").write_text(f"{given.weights}\n")
    print(f"{len(rows)} rows read, clipping is {'on' if given.clip else 'off'}")
    print("rmse =", min(1.0, (error / len(rows)) ** 0.5) if given.clip else (error / len(rows)) ** 0.5)


def describe(given: argparse.Namespace) -> None:
    print(given.table.read_text())


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("-v", "--verbose", action="count", default=0)
verbs = parser.add_subparsers(required=True)
one = verbs.add_parser("fit")
one.add_argument("table", type=Path)
one.add_argument("target", type=Path)
one.add_argument("--weights", type=float, nargs="+", required=True)
one.add_argument("--shift", type=float, default=0.0)
one.add_argument("--clip", action=argparse.BooleanOptionalAction, default=True)
one.set_defaults(action=fit)
two = verbs.add_parser("describe")
two.add_argument("table", type=Path)
two.set_defaults(action=describe)
given = parser.parse_args()
given.action(given)
