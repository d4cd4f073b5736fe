import pytest

from benchmarking.workloads.ingestion.samples import BadSampleError
from benchmarking.workloads.ingestion.tolerance import Tolerance


def test_so_many_are_skipped_and_the_next_is_fatal():
    said = []
    tolerance = Tolerance(2, said.append)
    for number in range(2):
        tolerance.skip(BadSampleError(f"{number}.jpg: cut"))
    assert said == ["bad sample 1 of at most 2 skipped: 0.jpg: cut", "bad sample 2 of at most 2 skipped: 1.jpg: cut"]
    with pytest.raises(BadSampleError, match=r"2\.jpg: cut \(max_bad_samples is 2, and it is bad sample 3\)"):
        tolerance.skip(BadSampleError("2.jpg: cut"))


def test_reads_that_are_tried_again_are_named_as_long_as_they_are_few():
    said = []
    tolerance = Tolerance(say=said.append)
    for number in range(30):
        tolerance.retry(f"s3://b/{number}", RuntimeError("reset by peer"))
    assert (tolerance.counts()["read_errors"], tolerance.counts()["read_retries"]) == (30, 30)
    assert said[0] == "s3://b/0: it is asked for again after RuntimeError: reset by peer"
    assert len(said) == 20
    assert said[-1].endswith("; further ones are counted alone")


def test_none_may_be_skipped_by_default():
    with pytest.raises(BadSampleError, match=r"a\.jpg \(max_bad_samples is 0\)"):
        Tolerance().skip(BadSampleError("a.jpg"))


def test_only_bad_samples_are_guarded_against():
    def wrong(given):
        raise ZeroDivisionError

    assert Tolerance().guarded(len, "abc") == 3
    with pytest.raises(ZeroDivisionError):
        Tolerance(9).guarded(wrong, 1)
