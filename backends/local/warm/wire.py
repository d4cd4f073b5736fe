"""Messages with descriptors between the controller and its warm worker, over a stream socket. Standard library only."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any

_HEAD = struct.Struct("!I")
_MOST_DESCRIPTORS = 4


def send(connection: socket.socket, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message and copies of open descriptors.

    Raises:
        OSError: the other side is gone, or does not read before the socket's time-out.
    """
    data = json.dumps(message).encode("ascii")
    head = _HEAD.pack(len(data))
    if descriptors:
        socket.send_fds(connection, [head], list(descriptors))
    else:
        connection.sendall(head)
    connection.sendall(data)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next message and the descriptors that came with it, which are then the caller's; None at the end.

    Raises:
        OSError: nothing came before the socket's time-out.
    """
    head, descriptors, _, _ = socket.recv_fds(connection, _HEAD.size, _MOST_DESCRIPTORS)
    rest = None if not head else _exactly(connection, _HEAD.size - len(head))
    data = None if rest is None else _exactly(connection, _HEAD.unpack(head + rest)[0])
    if data is None:
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    message: dict[str, Any] = json.loads(data)
    return message, list(descriptors)


def _exactly(connection: socket.socket, count: int) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        piece = connection.recv(count - len(found))
        if not piece:
            return None
        found += piece
    return bytes(found)
