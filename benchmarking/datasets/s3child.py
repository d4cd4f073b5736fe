"""The process of the embedded S3 server: serves a folder on a free port of 127.0.0.1 until its parent is gone.

Started by `s3server.EmbeddedS3` as a program: `s3child.py FOLDER PARENT_PID`; prints its port.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path


def main(folder: str, parent: int) -> None:
    """Serve `folder` and print the port, once it listens."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    from localbucket import S3Handler

    S3Handler.data_root = Path(folder).resolve()
    # It writes headers and body one after the other: for a small object the body would wait some 40 ms for the client's delayed
    # acknowledgement of the headers.
    S3Handler.disable_nagle_algorithm = True
    server = _Server(("127.0.0.1", 0), S3Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


class _Server(ThreadingHTTPServer):
    # many loader workers connect at once
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        # readers that stop early close their connection; that is no fault worth a traceback
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _end_with(parent: int) -> None:
    # A pipe alone is not enough: a process forked by the parent would hold its other end open. The parent-death signal is not either: it
    # comes when the thread ends that started us. Where there is no pidfd, the pipe must do.
    try:
        watched = os.pidfd_open(parent)
    except (AttributeError, OSError):
        if os.getppid() == parent:
            sys.stdin.buffer.read()
        os._exit(0)
    if os.getppid() == parent:
        select.select([watched], [], [])
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
