"""When answers of an endpoint are held, and when its models are unloaded, by the faults `stall` and `unload`. Pure."""

from __future__ import annotations

import math

from backends.emulator.faults.rules import FaultRule


def held_s(rule: FaultRule, since_s: float) -> float:
    """Return the seconds for which an answer is held that would be given now; 0 where it is not.

    Args:
        rule: of the kind `stall`: from `at_s` on answers wait until `seconds` later, again after each `every_s` where that is given.
        since_s: seconds since the endpoint's first invocation.
    """
    begun_s = since_s - float(rule.get("at_s", 0.0))
    every_s = float(rule.get("every_s", 0.0))
    if begun_s < 0:
        return 0.0
    if every_s > 0:
        begun_s = math.fmod(begun_s, every_s)
    return max(0.0, float(rule.get("seconds", 0.0)) - begun_s)


def unloads_due(rule: FaultRule, since_s: float) -> int:
    """Return how often an endpoint's models have to have been unloaded by now.

    Args:
        rule: of the kind `unload`: at `at_s`, again after each `every_s` where that is given.
        since_s: seconds since the endpoint's first invocation.
    """
    begun_s = since_s - float(rule.get("at_s", 0.0))
    every_s = float(rule.get("every_s", 0.0))
    if begun_s < 0:
        return 0
    return 1 + math.floor(begun_s / every_s) if every_s > 0 else 1
