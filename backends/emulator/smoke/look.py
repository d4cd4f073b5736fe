"""Looks at an endpoint by all questions, and compares two looks."""

from __future__ import annotations

import dataclasses
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.emulator.s3.store import split_uri
from backends.emulator.smoke.account import Account
from backends.emulator.smoke.probe import Probe


@dataclass(frozen=True)
class Difference:
    """One observation that came out differently at two endpoints."""

    what: str
    first: Any
    second: Any


def observe(account: Account, probes: Sequence[Probe], say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Return what an endpoint does, by question and name of the observation.

    A question whose look fails is noted with its error, and the rest is asked. What was written is deleted.

    Args:
        account: where and as whom; jobs get names of their own.
        probes: what is asked; those that nobody can bring about are left out.
        say: told what is being done.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    account = dataclasses.replace(account, tag=f"{account.tag}-{uuid.uuid4().hex[:8]}")
    found: dict[str, Any] = {}
    for probe in probes:
        if probe.run is None:
            continue
        say(probe.name)
        try:
            for what, value in probe.run(account):
                # As it would come back from a file.
                found[f"{probe.name}: {what}"] = json.loads(json.dumps(value))
        except ClientError as error:
            found[f"{probe.name}: cut short by"] = error.response["Error"]["Code"]
        except (BotoCoreError, TimeoutError) as error:
            found[f"{probe.name}: cut short by"] = type(error).__name__
    _tidy(account)
    return found


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Difference]:
    """Return the observations that differ, those that only one endpoint has included."""
    return [
        Difference(what, first.get(what), second.get(what)) for what in sorted({*first, *second}) if first.get(what) != second.get(what)
    ]


def _tidy(account: Account) -> None:
    bucket, prefix = split_uri(account.output.rstrip("/"))
    s3 = account.client("s3")
    # Outputs of the jobs and what was written for them begin with the tag.
    while found := s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/{account.tag}".lstrip("/")).get("Contents", []):
        s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": one["Key"]} for one in found]})
