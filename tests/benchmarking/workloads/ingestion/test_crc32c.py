"""CRC-32C: published values, and lanes against a byte at a time."""

import random

import pytest

from benchmarking.workloads.ingestion.crc32c import by_numpy, crc32c


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),  # the check value of the algorithm
        (bytes(32), 0x8A9136AA),  # RFC 3720, B.4
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_published_values(text, expected):
    assert crc32c(text) == expected
    assert by_numpy(text) == expected


def bit_by_bit(text):
    state = 0xFFFFFFFF
    for byte in text:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [1023, 1024, 1025, 1055, 1056, 1057, 2047, 4096, 5001, 10007])
def test_lanes_give_what_single_bits_give(size):
    text = random.Random(size).randbytes(size)
    assert by_numpy(text) == bit_by_bit(text)
    assert by_numpy(memoryview(text)) == bit_by_bit(text)
