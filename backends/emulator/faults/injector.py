"""Which fault strikes what, decided by seed so that a run can be repeated."""

from __future__ import annotations

import fnmatch
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from backends.emulator.faults.rules import STORE_KINDS, FaultRule
from backends.emulator.http.errors import ServiceError, throttled
from backends.emulator.http.transfer import SharedRate, Transfer

_OF_THE_PLATFORM = "Job"


@dataclass
class _Bucket:
    tokens: float
    filled_at: float


class FaultInjector:
    """The rules in force.

    A rule for calls draws by its count of fitting calls, a rule for jobs by the job's name and life: neither depends on how the
    threads of the emulator happen to interleave.

    Args:
        faults: rules to begin with.
        seed: of all draws.
        now: the clock that rates go by.
    """

    def __init__(self, faults: Iterable[FaultRule], seed: int, now: Callable[[], float]) -> None:
        self._seed, self._now = seed, now
        self._lock = threading.Lock()
        self._faults: list[tuple[int, FaultRule]] = []
        self._added = 0
        self._calls: Counter[int] = Counter()
        self._struck: Counter[tuple[int, str]] = Counter()
        self._buckets: dict[int, _Bucket] = {}
        self._rates: dict[int, SharedRate] = {}
        self.add(faults)

    def add(self, faults: Iterable[FaultRule]) -> None:
        """Put further rules in force."""
        with self._lock:
            for fault in faults:
                self._faults.append((self._added, fault))
                self._added += 1

    def clear(self, kind: str | None = None) -> None:
        """Lift all rules, or those of one kind."""
        with self._lock:
            self._faults = [(number, fault) for number, fault in self._faults if kind is not None and fault.kind != kind]

    def rules(self) -> list[FaultRule]:
        """Return the rules in force."""
        return [fault for _, fault in self._faults]

    def clock_ahead_s(self) -> float:
        """Return how many seconds the service's clock is ahead."""
        return float(sum(fault.get("seconds", 0.0) for _, fault in self._faults if fault.kind == "clock_ahead"))

    def quota(self, name: str) -> int | None:
        """Return the limit that a rule sets for a quota; None where none does."""
        for _, fault in reversed(self._faults):
            if fault.kind == "quota" and fnmatch.fnmatchcase(name, fault.get("quota", "")):
                return int(fault.get("limit", 0))
        return None

    def check_call(self, service: str, operation: str, bucket: str = "", key: str = "") -> None:
        """Raise the `ServiceError` that a rule has for this call, if one does."""
        for number, fault in list(self._faults):
            if fault.kind not in ("throttle", "error", "expired_token", "s3_error") or not _named(operation, fault.operation):
                continue
            if fault.operation == "*" and fault.kind != "s3_error" and operation.startswith(_OF_THE_PLATFORM):
                continue  # the service's own uploads repeat what fails; only a fault that names them strikes
            if fault.kind == "s3_error" and (service != "s3" or not _in_store(fault, operation, bucket, key)):
                continue
            if not self._strikes_call(number, fault):
                continue
            raise _error(fault, service)

    def denies(self, operation: str) -> bool:
        """Return whether a rule denies an operation for want of a permission; a rule does not count that as a call."""
        rules = (fault for _, fault in list(self._faults) if fault.kind in ("error", "s3_error") and fault.operation != "*")
        return any(str(fault.get("code", "")).startswith("AccessDenied") and _named(operation, fault.operation) for fault in rules)

    def transfer(self, operation: str, bucket: str, key: str) -> Transfer | None:
        """Return how the store's answer to a call is sent; None where as usual."""
        delay_s, bytes_per_s, rates, cut, is_reset = 0.0, 0.0, list[SharedRate](), None, False
        for number, fault in list(self._faults):
            if fault.kind not in STORE_KINDS or not _in_store(fault, operation, bucket, key):
                continue
            count = self._calls[number]
            if not self._strikes_call(number, fault):
                continue
            if fault.kind != "slow":
                cut, is_reset = fault.get("share", 0.5), is_reset or fault.kind == "reset"
                continue
            # Lognormal would have a longer tail than a store within a region; the jitter is even, and half of it on either side.
            jitter_s = fault.get("jitter_s", 0.0) * (self.draw(number, "jitter", count).random() - 0.5)
            delay_s += max(fault.get("latency_s", 0.0) + jitter_s, 0.0)
            own = fault.get("connection_bytes_per_s", 0.0)
            bytes_per_s = min(bytes_per_s or own, own or bytes_per_s)
            if fault.get("bytes_per_s", 0.0):
                with self._lock:
                    rates.append(self._rates.setdefault(number, SharedRate(fault.get("bytes_per_s", 0.0), self._now)))
        if not delay_s and not bytes_per_s and not rates and cut is None:
            return None
        return Transfer(delay_s, bytes_per_s, tuple(rates), cut, is_reset)

    def unanswered(self, operation: str) -> Transfer | None:
        """Return that the answer to a call of no store is cut off, where a rule names its operation; None where it is sent."""
        for number, fault in list(self._faults):
            if (
                fault.kind == "reset"
                and fault.operation != "*"
                and _named(operation, fault.operation)
                and self._strikes_call(number, fault)
            ):
                return Transfer(cut=fault.get("share", 0.5), is_reset=True)
        return None

    def list_lag_s(self, bucket: str) -> dict[str, float]:
        """Return for how many seconds a listing of a bucket does not show what was written, by pattern of its keys."""
        found = (
            fault for _, fault in list(self._faults) if fault.kind == "late_list" and fnmatch.fnmatchcase(bucket, fault.get("bucket", "*"))
        )
        return {fault.get("key", "*"): fault.get("seconds", 0.0) for fault in found}

    def for_job(self, kind: str, job: str, instance_type: str, life: int = 0) -> FaultRule | None:
        """Return the rule of a kind that strikes this life of a job, and count it as struck."""
        for number, fault in list(self._faults):
            if self._fits_job(number, fault, kind, job, instance_type, life):
                with self._lock:
                    self._struck[number, job] += 1
                return fault
        return None

    def planned(self, kind: str, job: str, instance_type: str, life: int) -> list[tuple[int, FaultRule]]:
        """Return the rules of a kind that may strike this life of a job, with their numbers; `struck` counts when one did."""
        return [(number, fault) for number, fault in self._faults if self._fits_job(number, fault, kind, job, instance_type, life)]

    def struck(self, number: int, job: str) -> None:
        """Count a planned fault as struck."""
        with self._lock:
            self._struck[number, job] += 1

    def draw(self, number: int, *what: object) -> random.Random:
        """Return a generator that depends on the seed, the rule and `what` alone."""
        return random.Random("/".join(map(str, (self._seed, number, *what))))

    def _fits_job(self, number: int, fault: FaultRule, kind: str, job: str, instance_type: str, life: int) -> bool:
        if fault.kind != kind or not fnmatch.fnmatchcase(job, fault.job) or not fnmatch.fnmatchcase(instance_type, fault.instance_type):
            return False
        if life < fault.after or (fault.times is not None and self._struck[number, job] >= fault.times):
            return False
        if kind in ("repeated_logs", "reordered_logs", "late_logs"):
            return True
        return self.draw(number, job, life).random() < fault.probability

    def _strikes_call(self, number: int, fault: FaultRule) -> bool:
        with self._lock:
            count = self._calls[number]
            self._calls[number] += 1
            if count < fault.after or (fault.times is not None and self._struck[number, ""] >= fault.times):
                return False
            rate = fault.fields.get("rate_per_s")
            if rate is not None and self._take(number, rate, fault.get("burst", 1)):
                return False
            if fault.probability < 1 and self.draw(number, count).random() >= fault.probability:
                return False
            self._struck[number, ""] += 1
            return True

    def _take(self, number: int, rate_per_s: float, burst: int) -> bool:
        now = self._now()
        bucket = self._buckets.setdefault(number, _Bucket(float(burst), now))
        bucket.tokens = min(float(burst), bucket.tokens + (now - bucket.filled_at) * rate_per_s)
        bucket.filled_at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _named(operation: str, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(operation, one.strip()) for one in pattern.split(","))


def _in_store(fault: FaultRule, operation: str, bucket: str, key: str) -> bool:
    places = ((bucket, fault.get("bucket", "*")), (key, fault.get("key", "*")))
    return _named(operation, fault.operation) and all(fnmatch.fnmatchcase(name, pattern) for name, pattern in places)


def _error(fault: FaultRule, service: str) -> ServiceError:
    if fault.kind == "throttle":
        return ServiceError("SlowDown", "Please reduce your request rate.", 503) if service == "s3" else throttled()
    if fault.kind == "expired_token":
        code = "ExpiredToken" if service in ("s3", "sts", "iam") else "ExpiredTokenException"
        return ServiceError(code, "The security token included in the request is expired", 400 if service != "sts" else 403)
    if fault.kind == "s3_error":
        return ServiceError(
            fault.get("code", "InternalError"), "We encountered an internal error. Please try again.", fault.get("status", 500)
        )
    return ServiceError(fault.get("code", "InternalFailure"), fault.get("message", "The request failed."), fault.get("status", 500))
