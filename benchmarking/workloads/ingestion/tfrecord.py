"""TFRecord files, read and written without TensorFlow: framing with checksums, and the `tf.train.Example` inside of a record.

Needs numpy alone, so that jobs and generators share it. Sources: https://www.tensorflow.org/tutorials/load_data/tfrecord for the framing,
tensorflow/core/example/example.proto for the message.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from .crc32c import crc32c

Value: TypeAlias = "bytes | int | float | Sequence[bytes] | Sequence[int] | Sequence[float]"
"""Of a feature that is written."""

_LENGTH, _CHECKSUM = struct.Struct("<Q"), struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
_LARGEST = 2**34
"""Bytes of a record, at most: a larger length is damage that its checksum did not show, and would ask for all memory."""


class DamagedRecordError(ValueError):
    """A file that is no intact TFRecord: says which file, where in it, and what is wrong."""

    def __init__(self, name: str, offset: int, what: str) -> None:
        super().__init__(f"{name}: record at byte {offset}: {what}")
        self.name, self.offset = name, offset


def masked(checksum: int) -> int:
    """Return a CRC-32C as TFRecord files store it: rotated and shifted, as checksums of checksums are weak."""
    return ((checksum >> 15 | checksum << 17) + _MASK_DELTA) & 0xFFFFFFFF


def framed(payload: bytes) -> bytes:
    """Return a record as it stands in a file: length, its checksum, payload, its checksum."""
    length = _LENGTH.pack(len(payload))
    return b"".join((length, _CHECKSUM.pack(masked(crc32c(length))), payload, _CHECKSUM.pack(masked(crc32c(payload)))))


def records(file: Any, name: str, *, verify: bool = True) -> Iterator[bytes]:
    """Yield the payloads of a file's records.

    Args:
        file: binary, read from its position on; `read(n)` may give fewer bytes than asked for, as those of pipes do.
        name: of the file, for what is said of damage.
        verify: whether the checksum of each payload is compared; that of its length always is.

    Raises:
        DamagedRecordError: the file ends within a record, or a checksum is wrong.
    """
    offset = 0
    while True:
        head = _read(file, 12)
        if not head:
            return
        if len(head) < 12:
            raise DamagedRecordError(name, offset, f"the file ends after {len(head)} bytes of its length")
        if masked(crc32c(head[:8])) != _CHECKSUM.unpack(head[8:])[0]:
            raise DamagedRecordError(name, offset, "the checksum of its length is wrong: damaged, or no TFRecord")
        (size,) = _LENGTH.unpack(head[:8])
        if size > _LARGEST:
            raise DamagedRecordError(name, offset, f"a length of {size} bytes")
        body = _read(file, size + 4)
        if len(body) < size + 4:
            raise DamagedRecordError(name, offset, f"the file ends within it: {len(body)} of {size + 4} bytes")
        payload = body[:size]
        if verify and masked(crc32c(payload)) != _CHECKSUM.unpack(body[size:])[0]:
            raise DamagedRecordError(name, offset, "the checksum of its content is wrong")
        yield payload
        offset += size + 16


def example(features: Mapping[str, Value]) -> bytes:
    """Return a serialised `tf.train.Example`; bytes, whole numbers and others become its three kinds of lists."""
    entries = []
    for key, value in features.items():
        values = [value] if isinstance(value, (bytes, int, float)) else list(value)
        feature = _feature(values)
        name = key.encode()
        entry = b"".join((b"\x0a", _varint(len(name)), name, b"\x12", _varint(len(feature)), feature))
        entries += [b"\x0a", _varint(len(entry)), entry]
    body = b"".join(entries)
    return b"".join((b"\x0a", _varint(len(body)), body))


def parsed(payload: bytes, name: str = "") -> dict[str, list[Any]]:
    """Return the features of a serialised `tf.train.Example`, each a list of bytes, whole numbers or floats.

    Args:
        payload: of a record.
        name: of its file, for what is said where it is none.

    Raises:
        DamagedRecordError: the payload is no `tf.train.Example`.
    """
    found: dict[str, list[Any]] = {}
    try:
        for number, features in _fields(memoryview(payload)):
            for inner, entry in _fields(features) if number == 1 else ():
                if inner == 1:
                    parts = dict(_fields(entry))
                    found[bytes(parts[1]).decode()] = _values(parts.get(2, memoryview(b"")))
    except (IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise DamagedRecordError(name, 0, f"its content is no tf.train.Example ({error})") from error
    return found


def _read(file: Any, size: int) -> bytes:
    """Return so many bytes, fewer only at the end of the file."""
    first: bytes = file.read(size)
    if len(first) == size or not first:
        return first
    parts, missing = [first], size - len(first)
    while missing:
        part = file.read(missing)
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _feature(values: Sequence[Any]) -> bytes:
    if all(isinstance(value, bytes) for value in values) and values:
        kind, inner = b"\x0a", b"".join(b"".join((b"\x0a", _varint(len(value)), value)) for value in values)
    elif all(isinstance(value, int) for value in values):
        kind, inner = b"\x1a", _packed(_varint(value) for value in values)
    else:
        kind, inner = b"\x12", _packed(struct.pack("<f", value) for value in values)
    return b"".join((kind, _varint(len(inner)), inner))


def _packed(values: Iterable[bytes]) -> bytes:
    body = b"".join(values)
    return b"".join((b"\x0a", _varint(len(body)), body))


def _varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF  # negative ones are written in two's complement
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _varint_at(data: memoryview, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield number and content of each field of a protocol buffer's message: a view of bytes, or a whole number."""
    at = 0
    while at < len(data):
        tag, at = _varint_at(data, at)
        kind = tag & 7
        if kind == 0:
            content, at = _varint_at(data, at)
            yield tag >> 3, content
            continue
        if kind not in (1, 2, 5):
            raise ValueError(f"a field of the unknown kind {kind}")
        size, at = _varint_at(data, at) if kind == 2 else (8 if kind == 1 else 4, at)
        if at + size > len(data):
            raise ValueError("a field that is longer than what holds it")
        yield tag >> 3, data[at : at + size]
        at += size


def _values(feature: memoryview) -> list[Any]:
    found: list[Any] = []
    for kind, listed in _fields(feature):
        for number, content in _fields(listed):
            if number != 1:
                continue
            if kind == 1:
                found.append(bytes(content))
            elif kind == 2:
                found += struct.unpack(f"<{len(content) // 4}f", content)
            elif isinstance(content, int):
                found.append(_signed(content))
            else:
                at = 0
                while at < len(content):
                    value, at = _varint_at(content, at)
                    found.append(_signed(value))
    return found


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
