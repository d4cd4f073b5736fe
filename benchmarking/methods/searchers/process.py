"""Where a searcher runs: in this process, or in a child that is restarted and gets all observations again when it dies."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, TypeAlias

from benchmarking.methods.searchers.base import Observation, Searcher, SearcherSpec
from benchmarking.methods.searchers.registry import make_searcher
from definitions import strict_json

Configurations: TypeAlias = Sequence[Mapping[str, Any]]

_LIVES = 3
"""Child processes that may die over one question."""


class SearcherError(Exception):
    """The searcher failed, or its process died again and again."""


class SearcherHost(Protocol):
    """Answers what to evaluate next."""

    @property
    def busy(self) -> bool:
        """Whether it is at work on an answer, or has one that nobody has taken."""
        ...

    def observe(self, observation: Observation) -> None:
        """Take a measured value in."""
        ...

    def ready(self, number: int, pending: Configurations) -> bool:
        """Return whether `answer` has one at once; where not, begin to look for one."""
        ...

    def answer(self, number: int, pending: Configurations) -> list[dict[str, Any]]:
        """Return the searcher's proposals; raises `SearcherError`."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class InProcess:
    """Runs the searcher in the calling process and thread; it is made when it is first asked.

    Args:
        spec: the searcher.
    """

    busy = False

    def __init__(self, spec: SearcherSpec) -> None:
        self.spec = spec
        self._searcher: Searcher | None = None
        self._not_observed: list[Observation] = []

    def observe(self, observation: Observation) -> None:
        """Keep the value until the searcher is next asked."""
        self._not_observed.append(observation)

    def ready(self, number: int, pending: Configurations) -> bool:
        """Return True: it computes when `answer` is called."""
        return True

    def answer(self, number: int, pending: Configurations) -> list[dict[str, Any]]:
        """Tell the searcher what is new and return its proposals."""
        if self._searcher is None:
            self._searcher = make_searcher(self.spec)
        for observation in self._not_observed:
            self._searcher.observe(observation)
        self._not_observed.clear()
        return self._searcher.propose(number, pending)

    def close(self) -> None:
        """Do nothing, as it holds nothing that must be released."""


class ChildProcess:
    """Runs the searcher in a child process, one question at a time; a child that dies is replaced by one that gets all observations again.

    Args:
        spec: the searcher.
        wake: called, from another thread, when an answer has arrived.
        command: the child's command; for tests.
    """

    def __init__(self, spec: SearcherSpec, wake: Callable[[], None], command: Sequence[str] | None = None) -> None:
        self._spec = spec
        self._wake = wake
        self._command = list(command or (sys.executable, "-P", "-m", "benchmarking.methods.searchers.worker"))
        self._observations: list[Observation] = []
        self._sent = 0
        self._child: subprocess.Popen[str] | None = None
        self._stderr: IO[str] | None = None
        self._thread: threading.Thread | None = None
        self._asked: int | None = None
        self._answer: list[dict[str, Any]] | None = None
        self._error = ""
        self._closed = False
        self.restarts = 0

    @property
    def busy(self) -> bool:
        """Whether the child is at work on an answer, or has one that nobody has taken.

        An answer that has just come counts: whoever heard before that there is none yet would else take it that there will be none.
        """
        return self._asked is not None and not self._closed

    @property
    def process_id(self) -> int | None:
        """Process id of the child; None where there is none."""
        return None if self._child is None else self._child.pid

    def observe(self, observation: Observation) -> None:
        """Keep the value; it travels with the next question, and again to each new child."""
        self._observations.append(observation)

    def ready(self, number: int, pending: Configurations) -> bool:
        """Return whether the answer to this question has arrived, or an error; a question that is new is put to the child first."""
        if self._asked != number:
            self._join()
            self._asked, self._answer, self._error = number, None, ""
            question = {"propose": number, "pending": [dict(configuration) for configuration in pending]}
            known = len(self._observations)
            self._thread = threading.Thread(target=self._ask, args=(question, known), name="searcher", daemon=True)
            self._thread.start()
            return False
        return self._answer is not None or bool(self._error)

    def answer(self, number: int, pending: Configurations) -> list[dict[str, Any]]:
        """Wait for the child's proposals; raises `SearcherError` where the searcher failed or its process died again and again."""
        self.ready(number, pending)
        self._join()
        answer, self._asked = self._answer, None
        if answer is None:
            raise SearcherError(self._error)
        return answer

    def close(self) -> None:
        """Kill the child and wait for its thread; an answer that is on its way is dropped."""
        self._closed = True
        self._end_child()
        self._join()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _ask(self, question: Mapping[str, Any], known: int) -> None:
        """Put the question, in a thread of its own, so that neither a full pipe nor a slow start holds anybody up."""
        why = ""
        for _ in range(_LIVES):
            if self._closed:
                break
            try:
                reply = self._converse(question, known)
            except (OSError, ValueError) as error:
                why = str(error)
                reply = None
            if reply is None and self._closed:
                self._end_child()
                break
            if reply is None:
                why = self._last_words() or why
                self._end_child()
                self.restarts += 1
                continue
            self._error = reply.get("error", "")
            self._answer = None if self._error else reply["proposals"]
            break
        else:
            self._error = f"its process ended {_LIVES} times without an answer" + (f": {why}" if why else "")
        if not self._closed:
            self._wake()

    def _converse(self, question: Mapping[str, Any], known: int) -> dict[str, Any] | None:
        child = self._child or self._start()
        if self._closed:
            return None
        assert child.stdin is not None
        assert child.stdout is not None
        news = [_form(observation) for observation in self._observations[self._sent : known]]
        child.stdin.write(strict_json.dumps({"observations": news, **question}) + "\n")
        child.stdin.flush()
        line = child.stdout.readline()
        if not line.endswith("\n"):
            return None
        self._sent = known
        reply: dict[str, Any] = strict_json.loads(line)
        return reply

    def _start(self) -> subprocess.Popen[str]:
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH", "")) if part)
        # One thread each: a small fit is slowed down by more, the more so beside the trials that are measured.
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed with the child
        self._sent = 0
        self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **one, "PYTHONPATH": path},
            encoding="utf-8",
            # Ctrl-C is for the controller, which winds down in order.
            start_new_session=True,
        )
        assert self._child.stdin is not None
        self._child.stdin.write(strict_json.dumps(self._spec.to_json()) + "\n")
        return self._child

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        with contextlib.suppress(OSError, ValueError):
            self._stderr.seek(0)
            lines = [line.strip() for line in self._stderr if line.strip()]
            return str(lines[-1]) if lines else ""
        return ""

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout, self._stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _form(observation: Observation) -> list[Any]:
    return [observation.evaluation, dict(observation.configuration), observation.value, observation.level]
