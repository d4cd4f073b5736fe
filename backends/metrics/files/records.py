"""TFRecord files: records with checksums, as they grow."""

from __future__ import annotations

import struct

from backends.metrics.files.tail import FileTail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_POLYNOMIAL = 0x82F63B78
_HEAD_BYTES = 12
_LARGEST_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20


def _table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        found.append(byte)
    return tuple(found)


_TABLE = _table()


def masked_crc32c(data: bytes) -> int:
    """Return the checksum of a record: CRC-32C (RFC 3720, B.4), rotated by 15 bits, plus a constant, as TFRecord files have it."""
    table, crc = _TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class RecordTail:
    """The records of one file as they come.

    Args:
        path: of the file.

    Attributes:
        unreadable: records whose checksum is not theirs. After one whose length is damaged nothing more can be read of the file.
    """

    def __init__(self, path: str) -> None:
        self._tail = FileTail(path)
        self._rest = bytearray()
        self._skipped = 0
        self._is_lost = False
        self.unreadable = 0

    def take(self) -> tuple[list[tuple[bytes, int]], bool]:
        """Return the next records, each with its checksum not yet compared, and whether there may be more.

        Records of more than 1 MiB, images among them, are passed over.
        """
        is_anew, data = self._tail.take(_CHUNK_BYTES)
        if is_anew:
            self._rest.clear()
            self._skipped, self._is_lost = 0, False
            return [], True
        if not self._is_lost:
            passed = min(self._skipped, len(data))
            self._skipped -= passed
            self._rest += data[passed:]
        return [*self._records()], bool(data)

    def close(self) -> bool:
        """Release the file; return whether its last record is cut off."""
        self._tail.close()
        return bool(self._rest) or self._skipped > 0

    def _records(self) -> Iterator[tuple[bytes, int]]:
        at = 0
        while len(self._rest) - at >= _HEAD_BYTES:
            length, length_crc = struct.unpack_from("<QI", self._rest, at)
            if masked_crc32c(bytes(self._rest[at : at + 8])) != length_crc:
                # Where the next one begins cannot be known.
                self.unreadable += 1
                self._is_lost = True
                at = len(self._rest)
                break
            whole = _HEAD_BYTES + length + 4
            if length > _LARGEST_BYTES:
                self._skipped = max(0, whole - (len(self._rest) - at))
                at = min(len(self._rest), at + whole)
                continue
            if len(self._rest) - at < whole:
                break
            data = bytes(self._rest[at + _HEAD_BYTES : at + _HEAD_BYTES + length])
            (crc,) = struct.unpack_from("<I", self._rest, at + _HEAD_BYTES + length)
            yield data, crc
            at += whole
        del self._rest[:at]
