"""Where the ranks of a job on several hosts find their store: at a port that whoever else is on the machine may have taken.

`TCPStore` on a port agreed on beforehand has two holes. The first rank fails where another process has the port; and the others wait
without end where that process listens and says nothing, whatever time-out they were given. So the store takes any free port, and the
first rank tells which, at the first free one of a few, in the name of the job.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import zlib
from collections.abc import Iterator, Sequence

_PORTS = range(20000, 32000)  # below those that systems hand out by themselves
_CANDIDATES = 4
_ANSWER_S = 2.0
_PAUSE_S = 0.1
_MOST_BYTES = 1024


def candidate_ports(job: str) -> tuple[int, ...]:
    """Return the ports at which the ranks of a job look for each other, the same for all of them, in order."""
    first = zlib.crc32(job.encode()) % len(_PORTS)
    # Apart by a number that shares no factor with that of the ports, so that jobs which meet once part again.
    return tuple(_PORTS[(first + 4999 * number) % len(_PORTS)] for number in range(_CANDIDATES))


@contextlib.contextmanager
def announced(job: str, ports: Sequence[int], store_port: int) -> Iterator[int]:
    """Tell whoever asks at the first free port where the job's store is; gives that port, and ends with the block.

    Raises:
        OSError: all the ports are taken.
    """
    with _listener(ports) as listener:
        answer = f"{job}\n{store_port}\n".encode()
        threading.Thread(target=_answer, args=(listener, answer), name="rendezvous", daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            # Wakes the thread, which a mere close would leave waiting.
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)


def store_port(job: str, host: str, ports: Sequence[int], timeout_s: float, answer_s: float = _ANSWER_S) -> int:
    """Ask until the job's first rank says where the store is.

    Args:
        job: its name; who answers with another is passed over.
        host: of the first rank.
        ports: where it may be announced.
        timeout_s: most seconds in all.
        answer_s: most seconds for one answer.

    Raises:
        TimeoutError: nobody answered for this job.
    """
    give_up_at = time.monotonic() + timeout_s
    while True:
        for port in ports:
            found = _ask(job, host, port, answer_s)
            if found is not None:
                return found
        if time.monotonic() >= give_up_at:
            raise TimeoutError(
                f"rank 0 of {job or 'this job'} was not found on {host}, ports {', '.join(map(str, ports))}, in {timeout_s:g} s"
            )
        time.sleep(_PAUSE_S)


def _listener(ports: Sequence[int]) -> socket.socket:
    for port in ports[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_server(("", port))
    return socket.create_server(("", ports[-1]))


def _answer(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.sendall(answer)


def _ask(job: str, host: str, port: int, answer_s: float) -> int | None:
    """Return where the store is, or None where the port is nobody's, or another's."""
    said = b""
    with contextlib.suppress(OSError), socket.create_connection((host, port), answer_s) as connection:
        give_up_at = time.monotonic() + answer_s
        while len(said) < _MOST_BYTES and time.monotonic() < give_up_at:
            piece = connection.recv(_MOST_BYTES)
            if not piece:
                break
            said += piece
    name, _, number = said.decode(errors="replace").removesuffix("\n").rpartition("\n")
    return int(number) if name == job and number.isdigit() and said.endswith(b"\n") else None
