"""The program of a searcher's child process: reads its spec, then questions, one JSON a line, and answers each."""

from __future__ import annotations

import os
import queue
import sys
import threading
from typing import Any, TextIO

from benchmarking.methods.searchers.base import Observation, SearcherSpec
from benchmarking.methods.searchers.registry import make_searcher
from definitions import strict_json


def main() -> None:
    """Answer questions until the standard input ends."""
    # What a library prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin, lines), daemon=True).start()
    searcher = None
    spec = SearcherSpec.from_json(strict_json.loads(lines.get()))
    while True:
        question = strict_json.loads(lines.get())
        reply: dict[str, Any]
        try:
            searcher = searcher or make_searcher(spec)
            for evaluation, configuration, value, level in question["observations"]:
                searcher.observe(Observation(evaluation, configuration, value, level))
            reply = {"proposals": searcher.propose(question["propose"], question["pending"])}
        except Exception as error:  # noqa: BLE001 - whatever it is, the controller has to know
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(strict_json.dumps(reply) + "\n")
        answers.flush()


def _read(stream: TextIO, lines: queue.SimpleQueue[str]) -> None:
    """Hand lines over; when the controller is gone, end at once, in the midst of a thought if need be."""
    for line in stream:
        lines.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
