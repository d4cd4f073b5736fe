import pytest

from benchmarking.workloads.ingestion.stores.boto3_store import Boto3
from tests.benchmarking.workloads.ingestion.contract import SAMPLES


@pytest.mark.slow
def test_boto3_connects_once_and_anew_after_a_fork(s3, monkeypatch):
    import boto3

    sessions, session = [], boto3.session.Session
    monkeypatch.setattr(boto3.session, "Session", lambda: sessions.append(1) or session())
    store = Boto3(s3.location("files", True))
    entries = store.entries()
    assert len(entries) == SAMPLES
    assert all(entry.size > 100 for entry in entries)
    store.entries()
    assert len(sessions) == 1
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert len(store.entries()) == SAMPLES
    assert len(sessions) == 2
