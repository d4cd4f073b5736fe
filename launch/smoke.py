"""`outrider doctor --smoke`: runs three short training jobs on a real account and on the emulator, and says where the two differ."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from definitions.program import command
from launch.parser import VerbParser

_EPILOG = """\
The emulator is checked against documentation and public reports only. Whoever has an account can check it for real: three jobs of the
smallest kind, some cents. Credentials and region are found as boto3 finds them; --endpoint_url compares another endpoint instead."""
# Seconds between two looks at a job: an account's are answered at a pace, one's own emulator at any.
_POLL_S, _EMULATOR_POLL_S = 5.0, 0.2


def main(arguments: Sequence[str]) -> int:
    """Compare the two and return the exit code: 0 alike, 1 different; raises `UserError` for wrong use."""
    parser = VerbParser(prog=command("doctor"), description="Check the emulator against a real account.", epilog=_EPILOG)
    parser.add_argument("--smoke", action="store_true", required=True, help="run the comparison")
    parser.add_argument("--role", required=True, metavar="ARN", help="role that the jobs run as")
    parser.add_argument("--output", required=True, metavar="S3URI", help="where the jobs may write, e.g. s3://my-bucket/smoke")
    parser.add_argument("--image", required=True, metavar="URI", help="a training image that has sh")
    parser.add_argument("--instance_type", default="ml.m5.large", help="what the jobs run on (default ml.m5.large)")
    parser.add_argument("--endpoint_url", default=None, help="another endpoint than AWS")
    given = parser.parse_args(arguments)
    from backends.common.aws_client import make_client

    theirs = _look(lambda service: make_client(service, endpoint_url=given.endpoint_url), given, "the account", _POLL_S)
    from backends.emulator import Emulator

    with Emulator() as emulator:
        bucket = given.output.removeprefix("s3://").partition("/")[0]
        emulator.create_bucket(bucket)
        ours = _look(emulator.client, given, "the emulator", _EMULATOR_POLL_S)
    from backends.emulator.smoke import compare
    from benchmarking.report.text import table

    differences = compare(theirs, ours)
    if not differences:
        print(f"alike in all {len(theirs)} observations")
        return 0
    print(table(["observation", "account", "emulator"], [[one.what, str(one.first), str(one.second)] for one in differences]))
    return 1


def _look(client: Callable[[str], Any], given: argparse.Namespace, where: str, poll_s: float) -> dict[str, Any]:
    from backends.emulator.smoke import Account, observe

    account = Account(client, given.role, given.output, given.image, given.instance_type, poll_s=poll_s)
    return observe(account, lambda line: print(f"{where}: {line}", file=sys.stderr))
