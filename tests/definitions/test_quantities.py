"""Counts and sizes as people write them."""

import pytest

from definitions.quantities import parse_count, parse_share, parse_size, size_text


@pytest.mark.parametrize(
    ("written", "count"), [(0, 0), (2000, 2000), ("2k", 2000), ("2K", 2000), ("1.5M", 1_500_000), (" 3 g ", 3 * 10**9), ("7", 7)]
)
def test_counts(written, count):
    assert parse_count(written) == count


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (65536, 65536),
        ("8MiB", 8 * 1024**2),
        ("64kB", 64_000),
        ("1.5 GiB", 3 * 1024**3 // 2),
        ("10B", 10),
        ("1tib", 1024**4),
        ("2TB", 2 * 10**12),
    ],
)
def test_sizes(written, size):
    assert parse_size(written) == size


@pytest.mark.parametrize("written", ["", "k", "2x", "-1", -1, 2.0, True, None, "1e3", "2 000", "8MiB", [1]])
def test_what_is_no_count(written):
    with pytest.raises(ValueError, match="is not a count such as 2000 or 2k"):
        parse_count(written)


@pytest.mark.parametrize("written", ["8M", "2k", "1 Mib b", "", -5, False])
def test_what_is_no_size(written):
    with pytest.raises(ValueError, match="is not a size such as 65536 or 8MiB"):
        parse_size(written)


@pytest.mark.parametrize(("parse", "written"), [(parse_count, "1.5"), (parse_count, "0.0001k"), (parse_size, "0.3KiB")])
def test_parts_of_a_unit_must_make_whole_numbers(parse, written):
    with pytest.raises(ValueError, match="is not a whole number"):
        parse(written)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1.5 * 1024**2, "1.5 MiB"),
        (1024**3 - 1, "1024.0 MiB"),
        (16 * 1024**3, "16.0 GiB"),
        (3000 * 1024**4, "3000.0 TiB"),
    ],
)
def test_sizes_for_people(size, text):
    assert size_text(size) == text


@pytest.mark.parametrize(("given", "share"), [("1%", 0.01), (0.25, 0.25), ("0", 0.0), ("0.5%", 0.005)])
def test_shares(given, share):
    assert parse_share(given) == share


@pytest.mark.parametrize("given", ["100%", 1, -0.1, "x", True, "nan"])
def test_what_is_no_share_is_refused(given):
    with pytest.raises(ValueError, match=r"needs a share below 1, such as 1% or 0\.01"):
        parse_share(given)
