import io

import numpy as np
import pytest

from benchmarking.workloads.ingestion.formats.records import records_of
from benchmarking.workloads.ingestion.samples import BadSampleError
from benchmarking.workloads.ingestion.tfrecord import example, framed
from benchmarking.workloads.ingestion.tolerance import Tolerance


def samples(content, labels="feature", tolerance=None):
    return list(records_of(io.BytesIO(content), "d/x.tfrecord", labels, tolerance or Tolerance()))


def record(**features):
    return framed(example({name.replace("__", "/"): value for name, value in features.items()}))


def test_content_label_and_key_by_their_usual_names():
    theirs = record(image__encoded=b"jpeg", image__class__label=7, image__filename=b"n01/a_1.JPEG")
    (bencher,) = samples(record(image=b"raw", label=2))
    (found,) = samples(theirs)
    assert (found.key, found.content, found.label, found.place) == ("a_1", b"jpeg", 7, "d/x.tfrecord: record 0")
    assert (bencher.key, bencher.content, bencher.label) == ("x-000000", b"raw", 2)


def test_pixels_with_their_size_are_an_array():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    (found,) = samples(record(image=pixels.tobytes(), height=2, width=4, depth=3))
    assert (found.content == pixels).all()


def test_records_without_a_label_are_counted_and_none_is_asked_for_by_none():
    tolerance = Tolerance()
    assert [one.label for one in samples(record(image=b"a") * 3, tolerance=tolerance)] == [0, 0, 0]
    assert tolerance.counts()["unlabelled"] == 3
    assert samples(record(image=b"a", label=5), "none", tolerance)[0].label == 0
    assert tolerance.counts()["unlabelled"] == 3


def test_what_is_no_example_is_a_sample_itself():
    (found,) = samples(framed(b"\xff\xff plain bytes"))
    assert found.content == b"\xff\xff plain bytes"


def test_a_wrong_checksum_is_located_and_may_be_skipped():
    good = record(image=b"a" * 100, label=1)
    bad = bytearray(good)
    bad[40] ^= 1
    with pytest.raises(BadSampleError, match=r"x\.tfrecord: record at byte \d+: the checksum of its content is wrong \(after record 0\)"):
        samples(good + bytes(bad))
    tolerance = Tolerance(1, len)
    assert len(samples(good + bytes(bad) + good, tolerance=tolerance)) == 1
    assert tolerance.counts()["bad_samples"] == 1


def test_a_record_that_is_cut_is_located():
    good = record(image=b"a" * 100, label=1)
    with pytest.raises(BadSampleError, match=r"the file ends within it: \d+ of \d+ bytes \(after record 1\)"):
        samples(good + good + good[:60])


def test_an_example_without_bytes_says_what_it_has():
    with pytest.raises(BadSampleError, match=r"record 0: none of its features holds bytes \(it has label, size\)"):
        samples(record(label=1, size=2))
