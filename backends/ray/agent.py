"""What Outrider has on each node: an actor that passes messages to the process which runs the node's jobs, and keeps what comes of them.

It travels by value, so that nodes need nothing of ours: standard library alone, of which the code of that process is brought here first.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any

_HEAD_BYTES = 8
_MOST_BYTES = 64 << 20
_RATE_S = 0.1
_TAIL_BYTES = 4000


class NodeAgent:
    """One node's part of an experiment.

    Args:
        scratch: name of the folder, among the node's temporary files, for what is brought here; whoever leaves it last deletes it.
        root: folder of Outrider's code on this node; empty where it comes with `code`.
        code: an archive of it, named by its content's digest.
        by: names the controller that it listens to.
    """

    def __init__(self, scratch: str, root: str = "", digest: str = "", code: bytes = b"", by: str = "") -> None:
        self._scratch = Path(tempfile.gettempdir(), f"{scratch}-{os.getuid()}")
        lock = _shared(self._scratch)
        root = root or self.put(digest, code)
        descriptor, self._errors = tempfile.mkstemp(prefix="node-", suffix=".log", dir=self._scratch)
        of_node = environment_of_node()
        path = os.pathsep.join([root, *filter(None, [of_node.get("PYTHONPATH")])])
        environment = {**of_node, "PYTHONPATH": path, "OUTRIDER_NODE_SCRATCH": f"{lock}:{self._scratch}"}
        command = [sys.executable, "-m", "backends.ray.node_process"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=descriptor, cwd="/", env=environment, start_new_session=True, pass_fds=[lock]
        )
        os.close(descriptor)
        os.close(lock)
        self._changed = threading.Condition()
        self._batches: list[tuple[int, bytes]] = []
        self._urgent = 0
        self._count, self._kept_bytes, self._is_over = 0, 0, False
        self._returned_at, self._failed = 0.0, ""
        self._told: dict[int, tuple[bytes, tuple[str, Any] | None]] = {}
        self._next = 1
        self._by = by
        self._jobs: dict[str, Any] = {}
        self._ended: set[str] = set()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    def put(self, digest: str, archive: bytes) -> str:
        """Unpack an archive, unless its content is here already; return the folder."""
        target = self._scratch / "content" / digest
        if not target.is_dir():
            target.parent.mkdir(exist_ok=True)
            making = Path(tempfile.mkdtemp(dir=target.parent))
            try:
                with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                    tar.extractall(making, filter="fully_trusted")
                making.rename(target)
            except OSError:
                if not target.is_dir():  # else another agent of this node was first, or another message
                    raise
            finally:
                shutil.rmtree(making, ignore_errors=True)
        return str(target)

    def tell(
        self, number: int, frame: bytes, digest: str = "", archive: bytes = b"", job: tuple[str, Any] | None = None, by: str = ""
    ) -> None:
        """Pass on messages in the order of their numbers, from 1, in whatever order they come; twice is once.

        Args:
            number: of the message.
            frame: its bytes.
            digest: of the content of a folder that it needs; empty where that is here.
            archive: that folder.
            job: name of the job that it starts, and where it has its room.
            by: whose message it is; one of an earlier controller comes too late.
        """
        failed = ""
        try:
            # Nobody else waits for it: a folder may take longer to unpack than the controller waits for an answer.
            if digest and by == self._by:
                self.put(digest, archive)
        except OSError as error:
            failed = f"{type(error).__name__}: {error}"
        with self._changed:
            if by != self._by:
                return
            if failed:
                self._failed = failed
                self._changed.notify_all()
                return
            if number >= self._next:
                self._told[number] = frame, job
            while self._next in self._told:
                content, started = self._told.pop(self._next)
                self._next += 1
                self._jobs.update([] if started is None else [started])
                if self._process.stdin is not None:
                    with contextlib.suppress(OSError):  # its end is told by `take`
                        self._process.stdin.write(content)
                        self._process.stdin.flush()

    def take_over(self, by: str) -> dict[str, Any]:
        """Listen to another controller from now on, and return what it has to know.

        Returns:
            `next`: the number of its first message; `jobs`: where each job that was started here has its room, by name; `now`: this clock.
        """
        with self._changed:
            self._by = by
            self._told.clear()
            self._changed.notify_all()
            return {"next": self._next, "jobs": dict(self._jobs), "now": time.time()}

    def busy(self) -> list[Any]:
        """Return where the jobs have their room that have not ended."""
        with self._changed:
            return [place for name, place in self._jobs.items() if name not in self._ended]

    def take(self, settled: int, after: int, wait_s: float, by: str = "") -> list[tuple[int, bytes]]:
        """Return the batches after a number, as soon as there is one; those up to `settled` are forgotten.

        Raises:
            RuntimeError: the process has ended, and all that it said was taken; or another controller has taken over.
        """
        deadline = time.monotonic() + wait_s
        with self._changed:
            if by == self._by:
                self._forget(settled)
            while True:
                if by != self._by:
                    raise RuntimeError("another controller has taken over")
                now = time.monotonic()
                found = [one for one in self._batches if one[0] > after]
                # What nobody waits for comes at most ten times a second: each answer costs the controller about as much as a report.
                pause_s = 0.0 if self._urgent > after or self._is_over else max(0.0, self._returned_at + _RATE_S - now)
                if (found and pause_s <= 0.0) or now >= deadline:
                    self._returned_at = now
                    return found
                if self._failed:
                    raise RuntimeError(self._failed)
                if self._is_over and not found:
                    raise RuntimeError(f"the process that runs jobs has ended: {self._last_words()}")
                self._changed.wait(pause_s if found else deadline - now)

    def _read(self, stream: IO[bytes]) -> None:
        while (content := _frame(stream)) is not None:
            with self._changed:
                self._count += 1
                self._batches.append((self._count, content))
                self._kept_bytes += len(content)
                head = content[: content.index(b"\n")].decode()
                self._ended.update(head[1:].split())
                if head[0] == "!":
                    self._urgent = self._count
                self._changed.notify_all()
                # Where nobody takes, jobs wait with what they print, as at any full pipe.
                while self._kept_bytes > _MOST_BYTES:
                    self._changed.wait()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _forget(self, settled: int) -> None:
        kept = [one for one in self._batches if one[0] > settled]
        self._kept_bytes = sum(len(content) for _, content in kept)
        self._batches = kept
        self._changed.notify_all()

    def _last_words(self) -> str:
        try:
            text = Path(self._errors).read_bytes()[-_TAIL_BYTES:].decode("utf-8", "replace").strip()
        except OSError:
            text = ""
        return text.splitlines()[-1] if text else "it said nothing"


def environment_of_node() -> dict[str, str]:
    """Return the variables that Ray was started with on this node, without its own: a worker's has more, and others in place of some."""
    try:
        words = Path(f"/proc/{os.getppid()}/environ").read_bytes().split(b"\0")
        pairs = (os.fsdecode(word).partition("=") for word in words if b"=" in word)
        found = {name: value for name, _, value in pairs}
    except OSError:
        found = dict(os.environ)
        for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"):
            found.pop(name, None)
    return {name: value for name, value in found.items() if not name.startswith("RAY_")}


def assigned_gpus() -> list[str]:
    """Return the GPUs that Ray has given to whoever calls this."""
    import ray

    context: Any = ray.get_runtime_context()
    return [str(name) for name in context.get_accelerator_ids().get("GPU", [])]


def _shared(scratch: Path) -> int:
    """Make the folder where it is not there, and return the descriptor of a lock that keeps it there while it is open."""
    while True:
        scratch.mkdir(mode=0o700, exist_ok=True)
        found = scratch.lstat()
        if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
            raise RuntimeError(f"{scratch} belongs to another user of this node, or is no folder of its own")
        with contextlib.suppress(FileNotFoundError):  # whoever was the last has just deleted it
            lock = os.open(scratch / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_SH)
            with contextlib.suppress(FileNotFoundError):
                if (scratch / "lock").stat().st_ino == os.fstat(lock).st_ino:
                    return lock
            os.close(lock)


def _frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        return None
    length = int.from_bytes(head, "big")
    content = stream.read(length)
    return content if len(content) == length else None
