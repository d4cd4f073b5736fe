"""The members of a TAR stream, read forwards, each header's checksum verified. Of the form: POSIX.1-2001, pax, "ustar Interchange Format".

Python's `tarfile` takes what has no valid header for padding where several archives follow each other, so that damage would go unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

BLOCK_BYTES = 512
_ZEROS = bytes(BLOCK_BYTES)
_REGULAR = (b"0", b"\0", b"7")
_LONG_NAME, _PAX = b"L", b"x"


class DamagedTarError(ValueError):
    """A stream that is no whole TAR archive: says what is wrong."""


def members(file: Any) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each regular file in a stream of one archive, or of several that follow each other.

    Args:
        file: binary; `read(n)` may give fewer bytes than asked for, as those of pipes do.

    Raises:
        DamagedTarError: a header is wrong, or the stream ends within a member or without an archive's end.
    """
    name, is_open, offset = "", False, 0
    while True:
        header = exactly(file, BLOCK_BYTES)
        if not header:
            if is_open:
                raise DamagedTarError(f"it ends at byte {offset}, without the two empty blocks that end an archive")
            if not offset:
                raise DamagedTarError("it is empty")
            return
        if header == _ZEROS:
            name, is_open, offset = "", False, offset + BLOCK_BYTES
            continue
        if len(header) < BLOCK_BYTES:
            raise DamagedTarError(f"it ends within the header at byte {offset}")
        size = _checked_size(header, offset)
        padded = -(-size // BLOCK_BYTES) * BLOCK_BYTES
        kind = header[156:157]
        is_open, offset = True, offset + BLOCK_BYTES
        known = name or _name_of(header)
        content = exactly(file, padded)
        if len(content) < padded:
            raise DamagedTarError(f"it ends within member {known}: {min(len(content), size)} of {size} bytes")
        offset += padded
        body = content[:size]
        if kind == _LONG_NAME:
            name = body.rstrip(b"\0").decode("utf-8", "surrogateescape")
        elif kind == _PAX:
            name = _path_of(body) or name
        else:
            if kind in _REGULAR:
                yield known, body
            if kind != b"g":
                name = ""


def exactly(file: Any, size: int) -> bytes:
    """Return so many bytes, fewer only at the end of a file."""
    first: bytes = file.read(size)
    if len(first) == size or not first:
        return first
    parts, missing = [first], size - len(first)
    while missing and (part := file.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _checked_size(header: bytes, offset: int) -> int:
    try:
        expected = int(header[148:156].strip(b"\0 ") or b"0", 8)
        # The checksum is that of the header with blanks in its place; some old writers summed signed bytes.
        plain = sum(header) - sum(header[148:156]) + 8 * 32
        if plain != expected and plain - 256 * sum(byte > 127 for byte in header[:148] + header[156:]) != expected:
            raise DamagedTarError(f"the header at byte {offset} has a wrong checksum: damaged, or no TAR archive")
        if header[124] & 0x80:  # GNU's form of sizes beyond 8 GiB
            return int.from_bytes(header[125:136], "big")
        return int(header[124:136].strip(b"\0 ") or b"0", 8)
    except ValueError as error:
        if isinstance(error, DamagedTarError):
            raise
        raise DamagedTarError(f"the header at byte {offset} is none: damaged, or no TAR archive") from None


def _name_of(header: bytes) -> str:
    name = header[:100].partition(b"\0")[0]
    prefix = header[345:500].partition(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return (prefix + b"/" + name if prefix else name).decode("utf-8", "surrogateescape")


def _path_of(body: bytes) -> str:
    """Return the path in a pax header, whose records are `<length> <key>=<value>` and a line feed; nothing where there is none."""
    found = ""
    while body:
        length, blank, _ = body.partition(b" ")
        if not blank or not length.isdigit() or int(length) <= len(length) + 1:
            raise DamagedTarError("a pax header is none")
        key, _, value = body[len(length) + 1 : int(length) - 1].partition(b"=")
        if key == b"path":
            found = value.decode("utf-8", "surrogateescape")
        body = body[int(length) :]
    return found
