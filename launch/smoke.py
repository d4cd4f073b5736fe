"""`outrider doctor --smoke`: asks an account what only an account can answer, by short jobs, and says where the emulator differs."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from definitions import __version__
from definitions.errors import UserError
from definitions.files import write_atomically
from definitions.program import command
from launch.parser import VerbParser

_EPILOG = """\
The emulator is checked against documentation and public reports only. Whoever has an account can check it for real: the questions are
listed in docs/sagemaker.md; the jobs are of the smallest kind, one after the other, for about an hour. What differs is printed and,
with all observations, written to a file without account ids, names or times, which can be sent in. Credentials and region are found as
boto3 finds them; --endpoint_url compares another endpoint instead."""
# Seconds between two looks at a job: an account's are answered at a pace, one's own emulator at any.
_POLL_S, _EMULATOR_POLL_S = 5.0, 0.2


def main(arguments: Sequence[str], ask: Callable[[str], str] = input) -> int:
    """Compare the two and return the exit code: 0 alike, 1 different; raises `UserError` for wrong use, or where it was not agreed to."""
    from backends.emulator.smoke import PROBES, billed_s, compare

    names = [probe.name for probe in PROBES if probe.run is not None]
    given = _parser(names).parse_args(arguments)
    probes = [probe for probe in PROBES if probe.run is not None and probe.name in (given.only or names)]
    from botocore.exceptions import BotoCoreError

    from backends.common.aws_client import make_client

    try:
        region = make_client("logs", endpoint_url=given.endpoint_url).meta.region_name
    except BotoCoreError as error:
        raise UserError("the account cannot be asked", str(error), "set AWS_REGION, or a profile") from None
    _agree(probes, given, region, ask)
    theirs = _look(lambda service: make_client(service, endpoint_url=given.endpoint_url), probes, given, "the account", _POLL_S)
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA

    enough = {form.format("*"): 4 for form in (TRAINING_QUOTA, SPOT_QUOTA, WARM_POOL_QUOTA)}
    with Emulator(settings=Settings(quotas=enough)) as emulator:
        emulator.create_bucket(given.output.removeprefix("s3://").partition("/")[0])
        ours = _look(emulator.client, probes, given, "the emulator", _EMULATOR_POLL_S)
    from benchmarking.report.text import table

    differences = compare(theirs, ours)
    _write(given.to, theirs, ours, billed_s(probes))
    if not differences:
        print(f"alike in all {len(theirs)} observations; they are in {given.to}")
        return 0
    print(table(["observation", "account", "emulator"], [[one.what, str(one.first), str(one.second)] for one in differences]))
    print(f"{len(differences)} of {len(theirs)} observations differ; all are in {given.to}")
    return 1


def _parser(names: Sequence[str]) -> VerbParser:
    parser = VerbParser(prog=command("doctor"), description="Check the emulator against a real account.", epilog=_EPILOG)
    parser.add_argument("--smoke", action="store_true", required=True, help="run the comparison")
    parser.add_argument("--role", required=True, metavar="ARN", help="role that the jobs run as")
    parser.add_argument("--output", required=True, metavar="S3URI", help="where the jobs may write, e.g. s3://my-bucket/smoke")
    parser.add_argument("--image", required=True, metavar="URI", help="a training image that has sh")
    parser.add_argument("--instance_type", default="ml.m5.large", help="what the jobs run on (default ml.m5.large)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="QUESTION", help=f"of: {', '.join(names)} (default all)")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    parser.add_argument("--to", type=Path, default=Path(f"smoke-{today}.json"), metavar="FILE", help="where to write (smoke-DATE.json)")
    parser.add_argument("--yes", action="store_true", help="do not ask before spending")
    parser.add_argument("--endpoint_url", default=None, help="another endpoint than AWS")
    return parser


def _agree(probes: Sequence[Any], given: argparse.Namespace, region: str, ask: Callable[[str], str]) -> None:
    """Say what is spent at most and return where that was agreed to; raises `UserError` otherwise."""
    from backends.emulator.smoke import billed_s
    from definitions.instances import price_of

    seconds = billed_s(probes)
    if given.yes or not seconds:
        return
    price = price_of(given.instance_type, region)
    cost = "an unknown amount" if price is None else f"at most ${seconds / 3600 * price.usd_per_hour:.2f} (prices of {region})"
    print(f"{len(probes)} questions, {seconds / 60:.0f} minutes of {given.instance_type}: {cost}", file=sys.stderr)
    if not sys.stdin.isatty() and ask is input:
        raise UserError("this spends real money", "there is no terminal to ask on", "give --yes to agree beforehand")
    if ask("Proceed? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not agreed, so nothing was started")


def _look(client: Callable[[str], Any], probes: Sequence[Any], given: argparse.Namespace, where: str, poll_s: float) -> dict[str, Any]:
    from backends.emulator.smoke import Account, observe

    account = Account(client, given.role, given.output, given.image, given.instance_type, poll_s=poll_s)
    return observe(account, probes, lambda name: print(f"{where}: {name}", file=sys.stderr))


def _write(path: Path, theirs: dict[str, Any], ours: dict[str, Any], seconds: float) -> None:
    found = {"outrider": __version__, "billed_s_at_most": seconds, "account": theirs, "emulator": ours}
    try:
        write_atomically(path, json.dumps(found, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}", "nothing was compared", "give --to another file") from None
