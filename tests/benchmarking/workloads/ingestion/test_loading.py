import pytest

from benchmarking.workloads.ingestion import BadSampleError, GuardedLoad, RawSample, Tolerance
from benchmarking.workloads.ingestion_models.images import LoadImage


def test_what_cannot_be_loaded_is_named_with_its_place_and_size():
    load = GuardedLoad(LoadImage(32), Tolerance())
    with pytest.raises(BadSampleError, match=r"s: member a\.jpg: it cannot be loaded \(3 bytes\): UnidentifiedImageError: cannot identify"):
        load(RawSample("a", b"xyz", 0, "s: member a.jpg"))
    with pytest.raises(BadSampleError, match="it is empty"):
        load(RawSample("a", b"", 0, "a.jpg"))


def test_a_model_that_raises_is_told_likewise_and_skipped_where_that_is_allowed():
    said = []

    def loads(content):
        raise ZeroDivisionError("by zero")

    tolerance = Tolerance(1, said.append)
    load = GuardedLoad(loads, tolerance)
    assert load(RawSample("a", b"xyz", 0, "a.bin")) is None
    assert said == ["bad sample 1 of at most 1 skipped: a.bin: it cannot be loaded (3 bytes): ZeroDivisionError: by zero"]
    with pytest.raises(BadSampleError, match=r"b\.bin.*max_bad_samples is 1"):
        load(RawSample("b", b"xyz", 0, "b.bin"))
