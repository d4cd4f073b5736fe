"""Whether the head of a cluster answers. Ray itself waits for it in silence, with every call that asks it something."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass

WAIT_S = 300.0
"""Seconds that a head which does not answer is waited for."""

_EVERY_S = 2.0
_ANSWER_S = 5.0
_LOOKS = 2
"""Looks in a row that find no answer where the head is gone."""


@dataclass(frozen=True)
class HeadGone:
    """The head does not answer: why."""

    why: str


@dataclass(frozen=True)
class HeadBack:
    """The head answers again."""


class HeadWatch:
    """Looks at the head again and again, in a thread of its own.

    Args:
        address: `HOST:PORT` of the head.
        post: takes what is learnt.
        every_s: seconds between two looks.
    """

    def __init__(self, address: str, post: Callable[[object], None], every_s: float = _EVERY_S) -> None:
        host, _, port = address.rpartition(":")
        self._address, self._post, self._every_s = (host.strip("[]"), int(port)), post, every_s
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="head", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._over.set()

    def _watch(self) -> None:
        missed = 0
        while not self._over.wait(self._every_s):
            why = self._look()
            if not why and missed >= _LOOKS:
                self._post(HeadBack())
            missed = missed + 1 if why else 0
            if missed == _LOOKS:
                self._post(HeadGone(why))

    def _look(self) -> str:
        try:
            socket.create_connection(self._address, timeout=_ANSWER_S).close()
        except OSError as error:
            return str(error)
        return ""


def gone_text(address: str, why: str, wait_s: float) -> str:
    """Return what people are told of a head that does not answer."""
    return (
        f"the head of the Ray cluster at {address} does not answer ({why}): it is waited for, for {wait_s:g} s at most; where it keeps its "
        "state in no storage, Ray ends this program once it is back, and `--resume` goes on"
    )
