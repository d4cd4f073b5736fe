"""A process that does imports and then becomes a copy of itself for each job. Standard library only."""

from __future__ import annotations

import os
import sys
from _socket import socket

if __name__ == "__main__":
    # Our packages are on the path for just as long as the imports below take: a script may have some of the same names.
    root = os.path.abspath(__file__)  # noqa: PTH100
    for _ in range(4):
        root = os.path.dirname(root)  # noqa: PTH120
    sys.path.insert(0, root)
    from backends.processes.warm.fork_server import forget, serve
    from backends.processes.warm.job_process import run, run_module

    sys.path.remove(root)
    forget([name for name in sys.modules if name.split(".")[0] == "backends"])
    # The one descriptor that came with this process; nothing else of the controller is open here.
    control = socket(fileno=int(sys.argv[1]))
    asked = serve(control)
    # Here return two kinds of process: the worker at its end, and each job at its beginning.
    if asked is None:
        # At once, as what was imported for the jobs has nothing to finish in the worker.
        os._exit(0)
    if asked[1]:
        run_module(asked[1])
    else:
        run(asked[0], asked[2])
