"""Messages with descriptors between the controller and its warm worker, over a stream socket. Standard library only.

What is imported here is loaded in each job, and is found there by a script that has a module of the same name: so `_socket` for `socket`,
`marshal` for `json`, and no `typing` while it runs.
"""

from __future__ import annotations

import marshal
import os
import sys
from _socket import CMSG_LEN, SCM_RIGHTS, SOL_SOCKET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

_MARSHAL_VERSION = 2
"""Form of the messages that all interpreters of Python 3 read alike; theirs may be another than ours."""

_HEAD_BYTES = 4
_DESCRIPTOR_BYTES = 4
_MOST_DESCRIPTORS = 4


def send(connection: socket, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message and copies of open descriptors.

    Args:
        connection: to the other side.
        message: of text, numbers, None, and lists and dictionaries of these.
        descriptors: at most four, which the other side gets copies of.

    Raises:
        OSError: the other side is gone, or does not read before the socket's time-out.
    """
    data = marshal.dumps(dict(message), _MARSHAL_VERSION)
    data = len(data).to_bytes(_HEAD_BYTES, "big") + data
    numbers = b"".join(number.to_bytes(_DESCRIPTOR_BYTES, sys.byteorder) for number in descriptors)
    # The descriptors travel with the first byte; of a long message the rest follows as the other side reads.
    sent = connection.sendmsg([data], [(SOL_SOCKET, SCM_RIGHTS, numbers)] if descriptors else [])
    if sent < len(data):
        connection.sendall(data[sent:])


def receive(connection: socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next message and the descriptors that came with it, which are then the caller's; None at the end.

    Raises:
        OSError: nothing came before the socket's time-out.
        ValueError, EOFError: what came is no message.
    """
    # The length first, and no byte more: what follows the message is for whoever reads next, which may be another process.
    head, ancillary, _, _ = connection.recvmsg(_HEAD_BYTES, CMSG_LEN(_MOST_DESCRIPTORS * _DESCRIPTOR_BYTES))
    descriptors = [
        int.from_bytes(numbers[at : at + _DESCRIPTOR_BYTES], sys.byteorder)
        for level, kind, numbers in ancillary
        if (level, kind) == (SOL_SOCKET, SCM_RIGHTS)
        for at in range(0, len(numbers) // _DESCRIPTOR_BYTES * _DESCRIPTOR_BYTES, _DESCRIPTOR_BYTES)
    ]
    # A message that breaks off is an end too, and its descriptors must not stay open.
    rest = None if not head else _exactly(connection, _HEAD_BYTES - len(head))
    data = None if rest is None else _exactly(connection, int.from_bytes(head + rest, "big"))
    if data is None:
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    message: dict[str, Any] = marshal.loads(data)
    if sys.getfilesystemencoding().lower() != "utf-8":
        # Names and arguments are bytes to the system, which an interpreter under another locale would have read so at its start.
        message = _decoded_here(message)
    return message, descriptors


def _decoded_here(value: Any) -> Any:
    if isinstance(value, str):
        return os.fsdecode(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, dict):
        return {_decoded_here(name): _decoded_here(one) for name, one in value.items()}
    return [_decoded_here(one) for one in value] if isinstance(value, (list, tuple)) else value


def _exactly(connection: socket, count: int) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            return None
        found += piece
    return bytes(found)
