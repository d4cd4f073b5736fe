"""Quotas of an account, read once for all experiments of a user on this machine: an account has thousands, a hundred in a call."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from backends.common.file_lock import locked_within
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.lookups import IN_THE_LOOP, Lookups, Quota
from backends.sagemaker.aws.shared_pace import key_of
from definitions import strict_json
from definitions.errors import UserError

_FILE = "quotas.json"
_GOOD_S = 300.0
"""For so many seconds a quota is taken to be what it was: who gets more of one waits for hours."""
_LONGEST_WAIT_S = 20.0
_MOST_BYTES = 1 << 20


QuotasOf = Callable[[Iterable[str]], dict[str, Quota] | CallFailure]
"""Returns the quotas of these names that there are, or why they cannot be looked up."""


def quotas_of(clients: Clients, folder: Path | None) -> QuotasOf:
    """Return what looks quotas up for who waits for the answer in its loop.

    Args:
        clients: of the account.
        folder: in which processes of this user agree; None where each asks for itself.
    """
    ask = Lookups(clients, IN_THE_LOOP).quotas
    if folder is None:
        return ask
    return KnownQuotas(folder, key_of(f"quotas of {clients.access_key}", clients.region, clients.endpoint("service-quotas")), ask).quotas


class KnownQuotas:
    """Quotas by name, kept in a locked file; where it cannot be used, each asks for itself.

    Args:
        folder: of the file; made where it does not exist.
        key: whose quotas they are: of a service, a region and credentials.
        ask: returns the quotas of these names that there are, or why it cannot.
        clock: seconds that all processes see alike, and that are not set.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        ask: QuotasOf,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._path, self._key, self._ask, self._clock, self._sleep = folder / _FILE, key, ask, clock, sleep

    def quotas(self, names: Iterable[str]) -> dict[str, Quota] | CallFailure:
        """Return the quotas of these names, without those that there are not, or why they cannot be looked up."""
        wanted = sorted(set(names))
        try:
            with locked_within(self._path, _LONGEST_WAIT_S, self._clock, self._sleep) as descriptor:
                # One that another process has for too long is not waited for.
                return self._ask(wanted) if descriptor is None else self._quotas(descriptor, wanted)
        except (OSError, UserError):
            return self._ask(wanted)

    def _quotas(self, descriptor: int, wanted: list[str]) -> dict[str, Quota] | CallFailure:
        known = _read(descriptor)
        mine = known.get(self._key, {})
        if all(name in mine and self._is_good(mine[name]) for name in wanted):
            return {name: Quota(str(mine[name]["code"]), int(mine[name]["limit"])) for name in wanted if "code" in mine[name]}
        found = self._ask(wanted)
        if isinstance(found, CallFailure):
            return found
        at = self._clock()
        read = {name: {"at": at} | ({"code": found[name].code, "limit": found[name].limit} if name in found else {}) for name in wanted}
        others = {key: kept for key, value in known.items() if (kept := {name: one for name, one in value.items() if self._is_good(one)})}
        _write(descriptor, {**others, self._key: {**others.get(self._key, {}), **read}})
        return found

    def _is_good(self, one: Mapping[str, Any]) -> bool:
        # One in the future is from before the machine was started anew.
        return 0.0 <= self._clock() - float(one["at"]) < _GOOD_S


def _read(descriptor: int) -> dict[str, dict[str, dict[str, Any]]]:
    try:
        found = strict_json.loads(os.pread(descriptor, _MOST_BYTES, 0).decode("utf-8"))
        for quotas in found.values():
            for one in quotas.values():
                float(one["at"])
        return dict(found)
    except (ValueError, TypeError, AttributeError, KeyError):
        return {}  # new, or torn by a full disk


def _write(descriptor: int, known: Mapping[str, Any]) -> None:
    text = strict_json.dumps(dict(known)).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
