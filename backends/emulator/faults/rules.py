"""The faults that can be asked for: their kinds and fields, and how a fault file or a call is read. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from definitions.errors import UserError, did_you_mean

_EACH = {"times": int, "after": int, "probability": float}
_JOB = {"job": str, "instance_type": str}
_WHEN = {"at_s": float, "at_step": int, "step_regex": str, "at_line": str}
WHILE_TRAINING = ("spot_interruption", "internal_error", "host_lost", "killed")
"""Faults that strike at a time, at a step, or at a line that the script prints."""

_STORE = {"operation": str, "bucket": str, "key": str}
STORE_KINDS = ("slow", "reset", "truncate")
"""Faults in how the store sends its answers; `reset` also strikes other calls that it names, which have taken effect then."""

KINDS: dict[str, dict[str, type]] = {
    "throttle": {"operation": str, "rate_per_s": float, "burst": int},
    "error": {"operation": str, "code": str, "message": str, "status": int},
    "expired_token": {"operation": str},
    "s3_error": {"operation": str, "code": str, "status": int, "bucket": str, "key": str},
    "late_list": {"bucket": str, "key": str, "seconds": float},
    "slow": {**_STORE, "latency_s": float, "jitter_s": float, "connection_bytes_per_s": float, "bytes_per_s": float},
    "reset": {**_STORE, "share": float},
    "truncate": {**_STORE, "share": float},
    "quota": {"quota": str, "limit": int},
    "capacity": {**_JOB, "on": str, "message": str},
    "pending": {**_JOB, "seconds": float},
    "spot_interruption": {**_JOB, **_WHEN, "notice_s": float},
    "internal_error": {**_JOB, **_WHEN},
    "host_lost": {**_JOB, **_WHEN},
    "killed": {**_JOB, **_WHEN, "log_lost": bool},
    "slow_stop": {**_JOB, "seconds": float},
    "endpoint_failed": {**_JOB, "at_s": float, "message": str},
    "stall": {**_JOB, "seconds": float, "at_s": float, "every_s": float},
    "unload": {**_JOB, "at_s": float, "every_s": float},
    "clock_ahead": {"seconds": float},
    "late_logs": {**_JOB, "seconds": float, "after_line": int, "after_end": bool},
    "repeated_logs": {**_JOB},
    "reordered_logs": {**_JOB, "seconds": float},
}
"""Fields of each kind, beside `times`, `after` and `probability`."""

NEEDED = {
    "quota": ("quota", "limit"),
    "pending": ("seconds",),
    "slow_stop": ("seconds",),
    "stall": ("seconds",),
    "late_list": ("seconds",),
    "clock_ahead": ("seconds",),
    "reordered_logs": ("seconds",),
}
DEFAULT_STEP = r"""(?:^|[^\w])["']?(?:step|epoch)["']?\s*[=:]\s*(\d+)"""


@dataclass(frozen=True)
class FaultRule:
    """One rule.

    Args:
        kind: what goes wrong; `fields`: how, with the names and types of `KINDS`.
        operation: pattern of the API operations it applies to; `job`, `instance_type`: patterns of the jobs.
        after: how many fitting calls (of a job: lives) are spared first; `times`: how often it strikes then (per job where it is a job's
            fault); None: always.
        probability: with which it strikes a fitting call, job or log line.
    """

    kind: str
    fields: Mapping[str, Any]
    operation: str = "*"
    job: str = "*"
    instance_type: str = "*"
    after: int = 0
    times: int | None = None
    probability: float = 1.0

    def get(self, name: str, default: Any) -> Any:
        """Return a field's value."""
        return self.fields.get(name, default)


def read_faults(path: Path) -> list[FaultRule]:
    """Return the rules of a YAML file: a list of them, or a mapping with the key `faults`.

    Raises:
        UserError: the file cannot be read, or a rule is wrong; names the rule and the field.
    """
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"fault file {path}: {error.strerror}", "", "give the path of a YAML file") from None
    except yaml.YAMLError as error:
        raise UserError(f"fault file {path}: it is no YAML", str(error)) from None
    if isinstance(data, Mapping) and set(data) == {"faults"}:
        data = data["faults"]
    return parse_faults(data, f"fault file {path}")


def parse_faults(data: Any, where: str = "faults") -> list[FaultRule]:
    """Return the rules in plain data; raises UserError that begins with `where`."""
    if data is None:
        return []
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise UserError(f"{where}: it holds {type(data).__name__}", "a list of faults is expected", "begin each with `- kind: ...`")
    return [_fault(item, f"{where}, fault {number}") for number, item in enumerate(data, 1)]


def _fault(item: Any, where: str) -> FaultRule:
    if not isinstance(item, Mapping) or not isinstance(item.get("kind"), str):
        raise UserError(f"{where}: it has no kind", "", f"kinds: {', '.join(sorted(KINDS))}")
    kind = item["kind"]
    if kind not in KINDS:
        raise UserError(f"{where}: there is no kind {kind!r}", "", did_you_mean(kind, list(KINDS)))
    known = {**KINDS[kind], **_EACH}
    values = {}
    for name, value in item.items():
        if name == "kind":
            continue
        if name not in known:
            raise UserError(f"{where} ({kind}): it has no field {name!r}", "", did_you_mean(str(name), list(known)))
        values[name] = _typed(value, known[name], f"{where} ({kind}): {name}")
    for name in NEEDED.get(kind, ()):
        if name not in values:
            raise UserError(f"{where} ({kind}): {name} is missing")
    _check(kind, values, where)
    outer = {name: values.pop(name) for name in ("operation", "job", "instance_type", "after", "times", "probability") if name in values}
    return FaultRule(kind, values, **outer)


def _typed(value: Any, wanted: type, where: str) -> Any:
    if wanted is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool)):
        return value
    raise UserError(f"{where} is {value!r}", f"a value of type {wanted.__name__} is expected")


def _check(kind: str, values: Mapping[str, Any], where: str) -> None:
    for name, value in values.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            raise UserError(f"{where} ({kind}): {name} is {value}", "it cannot be negative")
    if not 0 <= values.get("probability", 1.0) <= 1:
        raise UserError(f"{where} ({kind}): probability is {values['probability']}", "it lies between 0 and 1")
    if not 0 <= values.get("share", 0.5) < 1:
        raise UserError(f"{where} ({kind}): share is {values['share']}", "of the body, before it ends: at least 0 and below 1")
    for name in ("connection_bytes_per_s", "bytes_per_s"):
        if values.get(name) == 0:
            raise UserError(f"{where} ({kind}): {name} is 0", "nothing would ever arrive", "leave it out for no limit")
    if kind == "throttle" and values.get("rate_per_s") == 0:
        raise UserError(f"{where} (throttle): rate_per_s is 0", "no call would ever pass", "use `kind: error` for that")
    if kind == "capacity" and values.get("on", "start") not in ("create", "start"):
        raise UserError(f"{where} (capacity): on is {values['on']!r}", "it strikes on `create` or on `start`")
    moments = [name for name in ("at_s", "at_step", "at_line") if name in values]
    if len(moments) > 1:
        raise UserError(
            f"{where} ({kind}): {' and '.join(moments)} are given", "it strikes at a time, a step or a line", "give one of them"
        )
    for name, least in (("step_regex", 1), ("at_line", 0)):
        if name not in values:
            continue
        try:
            groups = re.compile(values[name]).groups
        except re.error as error:
            raise UserError(f"{where} ({kind}): {name} is no regular expression", str(error)) from None
        if groups < least:
            raise UserError(f"{where} ({kind}): {name} has no group", "its first group is the step's number")
