"""Checks before a first start, and whether instance types have room."""

import pytest

from backends.checks import Check, CheckStatus, capacity_checks, problems


def test_problems_are_what_failed():
    checks = [Check(status, status, "") for status in CheckStatus]
    assert [check.name for check in problems(checks)] == ["failed"]


@pytest.mark.parametrize(
    ("capacity", "n_workers", "status", "found"),
    [
        (4, None, "ok", "4 fit at once"),
        (1, None, "ok", "1 fits at once"),
        (4, 4, "ok", "4 fit at once"),
        (4, 5, "warning", "4 fit at once, 5 are asked for"),
        (0, None, "failed", "there is no room for one"),
        ("it has no such cores", None, "failed", "it has no such cores"),
    ],
)
def test_each_instance_type_has_room_or_not(capacity, n_workers, status, found):
    (check,) = capacity_checks({"local.2cpu": capacity}, n_workers)
    assert (check.name, str(check.verdict), check.found) == ("instance type local.2cpu", status, found)
