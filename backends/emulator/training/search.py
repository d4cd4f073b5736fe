"""Search over training jobs: filters on properties by path, joined by And or Or. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from backends.emulator.http.errors import invalid


def search(
    described: Sequence[Mapping[str, Any]], expression: Mapping[str, Any], sort_by: str, descending: bool
) -> list[Mapping[str, Any]]:
    """Return the jobs, as Describe shows them with Tags, that an expression selects, in order.

    Args:
        described: the jobs.
        expression: SearchExpression; empty for all.
        sort_by: a property's path.
        descending: whether the largest comes first.

    Raises:
        ServiceError: an operator cannot be applied.
    """
    found = [job for job in described if _matches(job, expression)]
    known = [job for job in found if values(job, sort_by)]
    unknown = [job for job in found if not values(job, sort_by)]
    known.sort(key=lambda job: _comparable(values(job, sort_by)[0]), reverse=descending)
    return known + unknown


def values(job: Mapping[str, Any], path: str) -> list[Any]:
    """Return what is found at a path such as `HyperParameters.lr`, `Tags.team` or `Metrics.loss`, which is the last value of a metric."""
    if path.startswith("Metrics."):
        return [one["Value"] for one in job.get("FinalMetricDataList", []) if one["MetricName"] == path[8:]]
    if path.startswith("Tags."):
        return [tag["Value"] for tag in job.get("Tags", []) if tag["Key"] == path[5:]]
    return list(_walk(job, path.split(".")))


def _walk(value: Any, parts: list[str]) -> list[Any]:
    if not parts:
        return [value]
    if isinstance(value, Mapping):
        if ".".join(parts) in value:  # keys of hyperparameters may hold dots
            return [value[".".join(parts)]]
        return _walk(value[parts[0]], parts[1:]) if parts[0] in value else []
    if isinstance(value, list):
        return [found for item in value for found in _walk(item, parts)]
    return []


def _matches(job: Mapping[str, Any], expression: Mapping[str, Any]) -> bool:
    verdicts = [_holds(job, one) for one in expression.get("Filters", [])]
    for nested in expression.get("NestedFilters", []):
        items = values(job, nested["NestedPropertyName"])
        flat = [item for value in items for item in (value if isinstance(value, list) else [value])]
        prefix = nested["NestedPropertyName"] + "."
        short = [{**one, "Name": one["Name"].removeprefix(prefix)} for one in nested["Filters"]]
        verdicts.append(any(isinstance(item, Mapping) and all(_holds(item, one) for one in short) for item in flat))
    verdicts += [_matches(job, one) for one in expression.get("SubExpressions", [])]
    if not verdicts:
        return True
    return any(verdicts) if expression.get("Operator", "And") == "Or" else all(verdicts)


def _holds(job: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    operator, wanted = one.get("Operator", "Equals"), one.get("Value")
    found = values(job, one["Name"])
    if operator == "Exists":
        return bool(found)
    if operator == "NotExists":
        return not found
    if wanted is None:
        raise invalid(f"Operator {operator} needs a Value")
    if operator == "NotEquals":
        return all(str(value) != wanted for value in found)
    if operator == "In":
        return any(str(value) in wanted.split(",") for value in found)
    test = _TESTS[operator]
    return any(test(value, wanted) for value in found)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, str], bool]:
    def holds(value: Any, wanted: str) -> bool:
        try:
            return test(float(value), _number(wanted))
        except (TypeError, ValueError):
            return False

    return holds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _comparable(value: Any) -> tuple[int, Any]:
    return (0, float(value)) if isinstance(value, (int, float)) else (1, str(value))


_TESTS: dict[str, Callable[[Any, str], bool]] = {
    "Equals": lambda value, wanted: str(value) == wanted,
    "Contains": lambda value, wanted: wanted in str(value),
    "GreaterThan": _ordered(lambda value, wanted: value > wanted),
    "GreaterThanOrEqualTo": _ordered(lambda value, wanted: value >= wanted),
    "LessThan": _ordered(lambda value, wanted: value < wanted),
    "LessThanOrEqualTo": _ordered(lambda value, wanted: value <= wanted),
}
