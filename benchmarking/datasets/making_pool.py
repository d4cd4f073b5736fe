"""Makes parts of a set on all cores: in this process, and in others that read numbers of parts and answer with their files, a line each."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from pydantic import TypeAdapter

from benchmarking.datasets.generating import Generator
from benchmarking.datasets.manifest import FileEntry
from definitions.datasets import Dataset
from definitions.errors import OutriderError

_ROOT = Path(__file__).resolve().parents[2]


def make_parts(
    generator: Generator,
    data: Path,
    numbers: Sequence[int],
    processes: int,
    finished: Callable[[int, list[FileEntry]], None],
) -> None:
    """Make parts in several processes, of which this is one, and return when all are made.

    So nobody waits for the others' start, which takes as long as a thousand images do.

    Args:
        generator: of the set.
        data: folder of its files.
        numbers: of the parts.
        processes: how many, at most, this one included.
        finished: called here with each part that is made and its files.

    Raises:
        OutriderError: a process failed; what was finished is.
        OSError: the disk refused.
    """
    order = {
        "spec": generator.spec.model_dump(mode="json"),
        "per_file": generator.parts.per_file,
        "archive": None if generator.archive is None else str(generator.archive),
        "data": str(data),
    }
    answers: SimpleQueue[tuple[int, Any] | BaseException] = SimpleQueue()
    queue = list(reversed(numbers))
    lock = threading.Lock()
    workers = [_started(order) for _ in range(min(processes, len(numbers)) - 1)]
    feeds = ((worker, queue.pop(), queue, lock, answers) for worker in workers)
    threads = [threading.Thread(target=_feed, args=feed, daemon=True) for feed in feeds]
    try:
        for thread in threads:
            thread.start()
        left = len(numbers)
        while left:
            own = _taken(queue, lock) if answers.empty() else None
            if own is not None:
                finished(own, generator.write_part(own, data))
            else:
                answer = answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                number, rows = answer
                finished(number, [FileEntry(*row) for row in rows])
            left -= 1
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            for stream in (worker.stdin, worker.stdout, worker.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()


def _started(order: dict[str, Any]) -> subprocess.Popen[str]:
    # Not forked: threads of this process may hold locks; and not by multiprocessing, which would run the user's script again.
    code = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from {__name__} import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # a Ctrl-C in the terminal is for the controller, which ends them
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
    return process


def _taken(queue: list[int], lock: threading.Lock) -> int | None:
    """Return the number of the part that is next, None where all are taken."""
    with lock:
        return queue.pop() if queue else None


def _feed(
    worker: subprocess.Popen[str],
    first: int,
    queue: list[int],
    lock: threading.Lock,
    answers: SimpleQueue[tuple[int, Any] | BaseException],
) -> None:
    """Hand a process one part after the other, from its first one on, and pass its answers on."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    assert worker.stderr is not None
    try:
        number: int | None = first
        while number is not None:
            worker.stdin.write(f"{number}\n")
            worker.stdin.flush()
            line = worker.stdout.readline()
            if not line:
                raise BrokenPipeError
            answer = json.loads(line)
            if "errno" in answer:
                raise OSError(answer["errno"], answer["text"])
            answers.put((number, answer["files"]))
            number = _taken(queue, lock)
    except BrokenPipeError:
        said = worker.stderr.read().strip().splitlines() or ["it was killed"]
        answers.put(OutriderError(f"a process that makes a data set ended: {said[-1]}"))
    except (OSError, ValueError) as error:
        answers.put(error)


def main() -> None:
    """Make parts as asked for on standard input, until it ends; runs as a process of its own."""
    order = json.loads(sys.stdin.readline())
    spec: Any = TypeAdapter(Dataset).validate_python(order["spec"])
    generator = Generator(spec, order["per_file"], None if order["archive"] is None else Path(order["archive"]))
    data = Path(order["data"])
    for line in sys.stdin:
        try:
            entries = generator.write_part(int(line), data)
        except OSError as error:
            answer: dict[str, Any] = {"errno": error.errno or 0, "text": str(error)}
        else:
            answer = {"files": [[entry.name, entry.size_bytes, entry.checksum] for entry in entries]}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
