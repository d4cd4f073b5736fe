"""Noise images: no two alike, as large as those that are encoded whole, and intact."""

import io

import numpy as np
import pytest
from PIL import Image

from benchmarking.datasets.made_sample import digits, key_of
from benchmarking.datasets.noise import NoiseImages
from definitions.schema import ImagesDataset


def images(**given):
    return NoiseImages(ImagesDataset(**{"type": "images", "content": "noise", "samples": 400, **given}))


def encoded(source, index):
    return b"".join(source.sample(index).content)


@pytest.mark.parametrize(
    "given", [{"resolution": "496x387"}, {"image_size": 32}, {"image_size": 9}, {"resolution": "40x100", "format": "png"}]
)
def test_no_two_are_alike_and_each_decodes(given):
    source = images(**given)
    found = [encoded(source, index) for index in range(400)]
    assert len(set(found)) == 400
    size = source._spec.pixels  # noqa: SLF001  # as it was asked for
    for one in found[::80]:
        with Image.open(io.BytesIO(one)) as image:
            assert image.size == size
            image.load()


def test_pixels_of_no_two_are_alike_either():
    source = images(resolution="496x387")
    pixels = {np.asarray(Image.open(io.BytesIO(encoded(source, index)))).tobytes() for index in range(40)}
    assert len(pixels) == 40


def test_rows_are_intact_noise():
    """A segment in a wrong place would drift in brightness: coefficients carry over from block to block."""
    pixels = np.asarray(Image.open(io.BytesIO(encoded(images(resolution="496x387"), 7)))).astype(float)
    assert np.abs(pixels.reshape(387, -1).mean(axis=1) - 127.5).max() < 8
    assert 48 < pixels.std() < 60


def test_they_are_as_large_as_those_that_pillow_writes():
    source = images(resolution="496x387")
    ours = np.mean([len(encoded(source, index)) for index in range(50)])
    random = np.random.default_rng(1)
    theirs = []
    for _ in range(10):
        buffer = io.BytesIO()
        Image.fromarray(random.integers(0, 256, (387, 496, 3), dtype=np.uint8)).save(buffer, "JPEG")
        theirs.append(len(buffer.getvalue()))
    assert abs(ours / np.mean(theirs) - 1) < 0.005


def test_raw_images_are_pixels_with_their_shape():
    sample = images(format="tar", encoding="raw", resolution="20x30").sample(3)
    assert (sample.ending, sample.shape, len(sample.content[0])) == ("npy", (30, 20, 3), 1800)


def test_a_spread_gives_sizes_on_both_sides_of_the_middle():
    source = images(resolution="100x50", spread=0.5)
    sizes = [Image.open(io.BytesIO(encoded(source, index))).size for index in range(200)]
    widths = sorted({width for width, _ in sizes})
    assert (widths[0], widths[-1], len(widths)) == (50, 150, 16)
    assert all(abs(height * 2 - width) <= 2 for width, height in sizes)
    assert 90 < np.mean([width for width, _ in sizes]) < 110


def test_classes_come_in_turn():
    source = images(classes=3, image_size=32)
    assert [(sample.label, sample.folder) for sample in map(source.sample, range(4))] == [
        (0, "class-0000"),
        (1, "class-0001"),
        (2, "class-0002"),
        (0, "class-0000"),
    ]


@pytest.mark.parametrize(("count", "base", "distinct"), [(3, 10, 1000), (25, 384, 100_000), (1, 7, 7)])
def test_digits_tell_every_index_apart(count, base, distinct):
    found = {digits(5, index, count, base, distinct) for index in range(distinct)}
    assert len(found) == distinct
    assert {number for one in found for number in one} == set(range(base))


def test_digits_refuse_what_they_cannot_tell_apart():
    with pytest.raises(ValueError, match="2 numbers below 10 do not tell 101 samples apart"):
        digits(0, 0, 2, 10, 101)


def test_keys_sort_as_numbers_do():
    assert [key_of(index, 10) for index in (0, 9)] == ["000000", "000009"]
    assert key_of(7, 2_000_000) == "0000007"
