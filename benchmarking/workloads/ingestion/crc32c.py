"""CRC-32C (Castagnoli), which TFRecord files and S3 carry: by the package google-crc32c where it is installed, else by numpy.

The remainder is linear over bits, so a long text is cut into lanes whose remainders are found at once, a step for two bytes of all lanes,
and are then joined in pairs: that of `a` before `b` is that of `a` moved on by the length of `b`, plus that of `b`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78
_LANE = 32
"""Bytes of a lane: many lanes make each step cheap, while each lane has to be joined."""
_FEW = 8
"""Lanes that are joined one by one, without numpy."""
_SHORT = 1024
"""Bytes from which lanes are faster than a table lookup for each byte."""


def crc32c(data: bytes | memoryview) -> int:
    """Return the CRC-32C of some bytes."""
    return _chosen()(data)


@functools.cache
def _chosen() -> Callable[[bytes | memoryview], int]:
    try:
        import google_crc32c  # type: ignore[import-not-found,unused-ignore]  # an extra
    except ImportError:
        return by_numpy
    return lambda data: int(google_crc32c.value(bytes(data)))


def by_numpy(data: bytes | memoryview) -> int:
    """Return the CRC-32C of some bytes, by numpy."""
    size = len(data)
    if size < _SHORT:
        return _by_bytes(data)
    # Zeros in front change nothing where the state begins at zero; that it begins with ones is the same as turning the first four bytes.
    lanes = -(-size // _LANE)
    lanes += lanes & 1
    padded = np.zeros(lanes * _LANE, np.uint8)
    padded[-size:] = np.frombuffer(data, np.uint8)
    padded[-size : padded.size - size + 4] ^= 0xFF
    columns = np.ascontiguousarray(padded.view("<u2").reshape(lanes, -1).T)
    table = _pair_table()
    state: NDArray[np.uint32] = np.zeros(lanes, np.uint32)
    for column in columns:
        # `clip` looks nothing up differently, as all indices are in range; it only spares the check
        state = table.take((state & 0xFFFF) ^ column, mode="clip") ^ (state >> 16)
    return _joined(state) ^ 0xFFFFFFFF


def _by_bytes(data: bytes | memoryview) -> int:
    table, state = _byte_table(), 0xFFFFFFFF
    for byte in data:
        state = table[(state ^ byte) & 0xFF] ^ state >> 8
    return state ^ 0xFFFFFFFF


def _joined(states: NDArray[np.uint32]) -> int:
    """Return the remainder of all lanes (lanes,), each of `_LANE` bytes, one after the other."""
    level = 0
    while len(states) > _FEW:
        if len(states) % 2:
            states = np.concatenate([np.zeros(1, np.uint32), states])
        first, second = states[0::2], states[1::2]
        moved = second.copy()
        for part, table in enumerate(_shift_tables(level)):
            moved ^= table.take((first >> np.uint32(8 * part)) & np.uint32(0xFF), mode="clip")
        states, level = moved, level + 1
    tables = _shift_tables(level).tolist()
    joined = 0
    for state in states.tolist():
        a, b, c, d = tables
        joined = a[joined & 0xFF] ^ b[joined >> 8 & 0xFF] ^ c[joined >> 16 & 0xFF] ^ d[joined >> 24] ^ state
    return int(joined)


@functools.cache
def _byte_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


@functools.cache
def _pair_table() -> NDArray[np.uint32]:
    """Return what two bytes at once do to the state: (65536,)."""
    single = np.array(_byte_table(), np.uint32)
    pairs = np.arange(65536, dtype=np.uint32)
    once = single[pairs & 0xFF] ^ (pairs >> 8)
    twice: NDArray[np.uint32] = single[once & 0xFF] ^ (once >> 8)
    return twice


@functools.cache
def _shift_tables(level: int) -> NDArray[np.uint32]:
    """Return the tables (4, 256), one for each byte of a state, that move it on by 2**level lanes of zeros."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    if level == 0:
        moved = bits
        single = np.array(_byte_table(), np.uint32)
        for _ in range(_LANE):
            moved = single[moved & 0xFF] ^ (moved >> 8)
    else:
        half = _shift_tables(level - 1)
        moved = bits
        for _ in range(2):
            moved = functools.reduce(np.bitwise_xor, (half[part][(moved >> np.uint32(8 * part)) & np.uint32(0xFF)] for part in range(4)))
    bytes_ = np.arange(256, dtype=np.uint32)
    set_ = (bytes_[:, None] >> np.arange(8, dtype=np.uint32)) & 1
    return np.stack([np.bitwise_xor.reduce(np.where(set_ == 1, moved[8 * part : 8 * part + 8], np.uint32(0)), axis=1) for part in range(4)])
