"""The table of formats: which files belong to one, and what is said of the others."""

import pytest

from definitions.formats import FORMATS, LABELS, LABELS_OF, LAYOUTS, unread


def test_the_table_is_complete():
    assert LAYOUTS == ("files", "shards", "records", "table", "chunks")
    assert {name: one.layout for name, one in FORMATS.items() if one.layout != "files"} == {
        "tar": "shards",
        "tfrecord": "records",
        "csv": "table",
        "parquet": "table",
        "chunks": "chunks",
    }
    assert {one.package for one in FORMATS.values()} == {"", "pyarrow", "litdata"}


def test_labels_are_where_the_layout_can_have_them():
    assert set(LABELS_OF) == set(LAYOUTS)
    for one in FORMATS.values():
        assert one.labels in LABELS_OF[one.layout]
    assert {place for places in LABELS_OF.values() for place in places} == set(LABELS)


@pytest.mark.parametrize(
    ("form", "name", "held"),
    [
        ("jpg", "a/1.jpg", True),
        ("jpg", "a/1.JPG", True),
        ("jpg", "a/1.jpeg", True),
        ("jpg", "image_0.JPEG", True),
        ("jpg", "a/1.png", False),
        ("jpg", "jpg", False),
        ("jpg", "a.jpg/1", False),
        ("tar", "s.TAR", True),
        ("tar", "s.tar.gz", False),
        ("tfrecord", "data-000.tfrecord", True),
        ("tfrecord", "data.tfrecords", True),
    ],
)
def test_endings_count_in_any_case(form, name, held):
    assert FORMATS[form].holds(name) is held


def test_what_is_not_read_is_counted_by_ending():
    names = [*(f"{n}.jpg" for n in range(40)), *(f"{n}.JPG" for n in range(30)), *(f"{n}.jpeg" for n in range(30))]
    assert unread(names, "jpg") == ""
    said = unread([*names, "x/a.png", "x/b.png", "README", "manifest.json"], "jpg")
    assert said == "not read: 3 of 103 files (2 .png, 1 without an ending)"


def test_many_kinds_are_cut():
    said = unread([f"a.{letter}" for letter in "abcdefg"] + ["b.jpg"], "jpg")
    assert said == "not read: 7 of 8 files (1 .a, 1 .b, 1 .c, 1 .d, 1 .e, ...)"
