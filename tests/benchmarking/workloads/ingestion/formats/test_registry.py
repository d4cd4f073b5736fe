import pytest

from benchmarking.workloads.ingestion.formats import FORMATS, format_of, unread_note


def test_endings_count_in_any_case():
    form = format_of("jpg", "files")
    assert [form.holds(name) for name in ("a/1.jpg", "1.JPG", "x.jpeg", "x.JPEG", "x.png", "jpg", ".jpg")] == [True] * 4 + [False] * 3


def test_without_a_format_a_layout_stands_for_all_that_it_knows():
    assert format_of("", "files").suffixes == (".jpg", ".jpeg", ".png")
    assert format_of("", "shards") is FORMATS["tar"]
    with pytest.raises(SystemExit, match="no format 'zip'"):
        format_of("zip", "archives")


def test_what_is_not_read_is_counted_by_ending():
    names = [f"{number}.jpg" for number in range(5)]
    assert unread_note([*names, "manifest.json"], FORMATS["jpg"]) == ""
    said = unread_note([*names, "a.png", "b.png", "README"], FORMATS["jpg"])
    assert said == "not read: 3 of 8 files (2 .png, 1 without an ending)"
    assert unread_note([f"x.{letter}" for letter in "abcdefg"], FORMATS["tar"]).endswith("1 .e, ...)")
