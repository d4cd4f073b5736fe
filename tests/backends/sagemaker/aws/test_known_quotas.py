"""Quotas are read once for all experiments of a machine, and by nobody on behalf of somebody else."""

from __future__ import annotations

import json

import pytest

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.known_quotas import KnownQuotas
from backends.sagemaker.aws.lookups import Quota

ACCOUNT = {"a": Quota("L-1", 3), "b": Quota("L-2", 0)}


class Account:
    """Answers with the quotas that there are, and counts."""

    def __init__(self, failure=None):
        self.asked, self.failure = [], failure

    def __call__(self, names):
        self.asked.append([*names])
        return self.failure or {name: ACCOUNT[name] for name in self.asked[-1] if name in ACCOUNT}


class Clock:
    now = 50.0

    def __call__(self):
        return self.now


def known(folder, account, key="k", clock=None):
    return KnownQuotas(folder, key, account, clock or Clock())


def test_the_second_who_asks_is_told_what_the_first_was_also_that_there_is_none(tmp_path):
    first, second = Account(), Account()
    assert known(tmp_path, first).quotas(["b", "a", "none"]) == ACCOUNT
    assert known(tmp_path, second).quotas(["a", "none"]) == {"a": Quota("L-1", 3)}
    assert (first.asked, second.asked) == ([["a", "b", "none"]], [])


def test_a_further_name_is_asked_for_and_another_account_for_itself(tmp_path):
    account, other = Account(), Account()
    known(tmp_path, account).quotas(["a"])
    known(tmp_path, account).quotas(["a", "b"])
    known(tmp_path, account).quotas(["b"])
    known(tmp_path, other, "other").quotas(["a"])
    assert (account.asked, other.asked) == ([["a"], ["a", "b"]], [["a"]])


def test_what_was_read_five_minutes_ago_or_before_a_restart_of_the_machine_is_read_again(tmp_path):
    account, clock = Account(), Clock()
    for now in (50.0, 349.0, 350.0, 20.0):
        clock.now = now
        known(tmp_path, account, clock=clock).quotas(["a"])
    assert len(account.asked) == 3


def test_a_refusal_is_not_kept(tmp_path):
    refused = Account(CallFailure(FailureKind.DENIED, "AccessDenied", "ListServiceQuotas", "no"))
    assert isinstance(known(tmp_path, refused).quotas(["a"]), CallFailure)
    assert known(tmp_path, Account()).quotas(["a"]) == {"a": Quota("L-1", 3)}


@pytest.mark.parametrize("text", ["{", "[]", '{"k": {"a": 1}}', '{"k": {"a": {"code": "L-1"}}}', '{"k": {"a": {"at": "x"}}}'])
def test_a_torn_file_is_written_anew(tmp_path, text):
    (tmp_path / "quotas.json").write_text(text)
    assert known(tmp_path, Account()).quotas(["a"]) == {"a": Quota("L-1", 3)}
    assert json.loads((tmp_path / "quotas.json").read_text())["k"]["a"] == {"at": 50.0, "code": "L-1", "limit": 3}


def test_a_folder_that_cannot_be_used_leaves_each_to_ask_for_itself(tmp_path):
    (tmp_path / "file").write_text("")
    account = Account()
    for _ in range(2):
        assert known(tmp_path / "file", account).quotas(["a"]) == {"a": Quota("L-1", 3)}
    assert len(account.asked) == 2
