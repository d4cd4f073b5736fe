import io

import numpy as np
import pytest

from benchmarking.workloads.ingestion import BadSampleError, Tolerance
from benchmarking.workloads.ingestion.formats.table import rows_of

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


class Forwards(io.BytesIO):
    """As the body of a request is: no going back, and no more than ten bytes at a time."""

    def seekable(self):
        return False

    def seek(self, *given):
        raise io.UnsupportedOperation("seek")

    def read(self, size=-1):
        return super().read(size if size < 0 else min(size, 10))


def rows(content, name="a.csv", labels="feature", tolerance=None, kind=io.BytesIO):
    return list(rows_of(kind(content), name, labels, tolerance or Tolerance()))


def packed(**columns):
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", [io.BytesIO, Forwards])
def test_a_row_is_its_numbers_without_label_and_key(kind):
    found = rows(b"id,a,label,b\nx,1,3,0.5\ny,2,4,-1\n", kind=kind)
    assert [(one.key, one.content.tolist(), one.label, one.place) for one in found] == [
        ("x", [1.0, 0.5], 3, "a.csv: row 0"),
        ("y", [2.0, -1.0], 4, "a.csv: row 1"),
    ]
    assert found[0].content.dtype == np.float32
    content = packed(id=["x", "y"], a=[1, 2], label=[3, 4], b=[0.5, -1.0])
    assert [(one.key, one.content.tolist(), one.label) for one in rows(content, "a.parquet", kind=kind)] == [
        ("x", [1.0, 0.5], 3),
        ("y", [2.0, -1.0], 4),
    ]


def test_keys_are_the_file_and_the_number_where_no_column_has_them():
    assert [one.key for one in rows(b"a,Label\n1,0\n2,0\n", "s3://b/part-3.csv")] == ["part-3-000000", "part-3-000001"]


def test_whole_numbers_may_turn_out_to_be_others_and_be_missing():
    """The type of a column is not that of its first megabyte."""
    lines = b"a,label\n" + b"1000000000,0\n" * 100_000 + b"0.25,1\n,1\n"
    found = rows(lines)
    assert len(found) == 100_002
    assert found[-2].content.tolist() == [0.25]
    assert np.isnan(found[-1].content[0])


def test_bytes_are_the_content_as_tables_of_images_have_them():
    image = {"bytes": b"\xff\xd8", "path": "x.jpg"}
    assert [(one.content, one.label) for one in rows(packed(image=[image, image], label=[1, 0]), "a.parquet")] == [
        (b"\xff\xd8", 1),
        (b"\xff\xd8", 0),
    ]
    assert rows(packed(a=[1.0], raw=[b"xy"]), "a.parquet", "none")[0].content == b"xy"
    assert rows(packed(text=["\u00e4"]), "a.parquet", "none")[0].content == "\u00e4".encode()


def test_rows_without_a_label_are_counted():
    tolerance = Tolerance()
    assert [one.label for one in rows(b"a\n1\n2\n", tolerance=tolerance)] == [0, 0]
    assert tolerance.counts()["unlabelled"] == 2
    tolerance = Tolerance()
    rows(b"a\n1\n2\n", labels="none", tolerance=tolerance)
    assert tolerance.counts()["unlabelled"] == 0


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"a,label\n1,2\n3\n", "a.csv", r"a\.csv: a damaged or cut table, after row .*Expected 2 columns, got 1"),
        (b"", "a.csv", r"a\.csv: it is empty"),
        (b"a,label\n1,cat\n", "a.csv", r"a\.csv: row 0: its label 'cat' is no whole number"),
        (b"PAR1 and no more", "a.parquet", r"a\.parquet: a damaged or cut table, after row none"),
        (b"label\n1\n", "a.csv", r"a\.csv: none of its columns holds numbers, bytes or text \(it has label\)"),
    ],
)
def test_what_cannot_be_read_is_named(content, name, said):
    with pytest.raises(BadSampleError, match=said):
        rows(content, name)


def test_a_parquet_file_that_is_cut_is_named():
    content = packed(a=list(range(1000)), label=[0] * 1000)
    with pytest.raises(BadSampleError, match=r"a\.parquet: a damaged or cut table"):
        rows(content[: len(content) // 2], "a.parquet")


def test_a_bad_label_may_be_skipped():
    tolerance = Tolerance(1, say=lambda line: None)
    assert [one.label for one in rows(b"a,label\n1,cat\n2,5\n", tolerance=tolerance)] == [5]
    assert tolerance.counts()["bad_samples"] == 1
