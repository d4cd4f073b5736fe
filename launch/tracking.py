"""`--track`: a process for each tracker, beside a run from its beginning to its end; the run waits for none but some seconds at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.program import command

if TYPE_CHECKING:
    from benchmarking.tracking.process import TrackingProcess

_HURRIED_S = 2.0
"""Seconds that trackers get when the user interrupts for the second time."""


def check_tracking(kinds: Sequence[str], environ: Mapping[str, str]) -> None:
    """Raise `UserError` for a tracker that there is not or that cannot be told, before anything runs."""
    if not kinds:
        return
    from benchmarking.tracking.registry import check_tracker

    for kind in kinds:
        check_tracker(kind, environ)


@contextlib.contextmanager
def tracking(kinds: Sequence[str], tag_folder: Path, environ: Mapping[str, str], say: Callable[[str], None]) -> Iterator[None]:
    """Have trackers told of all experiments of a tag while the block lasts, and say what they lack after it.

    Args:
        kinds: of trackers.
        tag_folder: of the experiments.
        environ: where the addresses and credentials of trackers are found.
        say: takes a line for people.
    """
    if not kinds:
        yield
        return
    from benchmarking.tracking.process import TrackingProcess

    with contextlib.ExitStack() as stack:
        hurried: list[bool] = []
        for kind in dict.fromkeys(kinds):
            process = TrackingProcess(kind, say, environ)
            process.follow_all(tag_folder)
            stack.callback(_close, process, kind, tag_folder.name, say, hurried)
        try:
            yield
        except KeyboardInterrupt:
            hurried.append(True)
            raise


def _close(process: TrackingProcess, kind: str, tag: str, say: Callable[[str], None], hurried: Sequence[bool]) -> None:
    left, error = process.close(timeout_s=_HURRIED_S) if hurried else process.close()
    if left is None or left:
        say(f"{kind} lacks something of {tag}{f' ({error})' if error else ''}; `{command('export', tag, '--to', kind)}` brings it there")
