"""A script is compiled once for all jobs that are forked to run it. Standard library only.

`compile` makes some hundred types of syntax trees in the process that calls it, which each job would make, and take down again, for itself.
"""

from __future__ import annotations

import io
import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType


class ScriptCode:
    """The code of one script as it was when this was made, compiled by a process of its own.

    Args:
        path: of the script; empty for none.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        # Looked at before it is read: whatever is written from now on makes the file another one.
        self._version = _version(path)
        self._code = _compiled_apart(path) if self._version is not None else None

    def of(self, path: str) -> CodeType:
        """Return the code of a script: the kept one where file and content are the same, else compiled here and now.

        Raises:
            OSError, SyntaxError, ValueError: it cannot be read or compiled.
        """
        if self._code is not None and path == self._path and _version(path) == self._version:
            return self._code
        with io.open_code(path) as file:
            source = file.read()
        code: CodeType = compile(source, path, "exec", dont_inherit=True)
        return code


def _version(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (pathlib would be one more module in each job)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _compiled_apart(path: str) -> CodeType | None:
    """Return the code as a child process compiles it; None where it does not, or warns, which is the job's to print."""
    read_end, write_end = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(read_end)
        os.close(write_end)
        return None
    if child == 0:
        try:
            # What the compiler warns of becomes an error here, and is printed in the job that compiles for itself.
            import warnings

            warnings.simplefilter("error")
            with io.open_code(path) as file:
                source = file.read()
            data = marshal.dumps(compile(source, path, "exec", dont_inherit=True))
            with open(write_end, "wb") as pipe:  # noqa: PTH123 (a descriptor)
                pipe.write(data)
        except BaseException:  # noqa: BLE001 (nothing of this process may go on as if it were the worker)
            os._exit(1)
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:  # noqa: PTH123
        data = pipe.read()
    # Reaped before the first fork, as a job must find no child that is not its own.
    _, status = os.waitpid(child, 0)
    code: CodeType | None = marshal.loads(data) if status == 0 and data else None
    return code
