"""Runs a script between what prepares it and what cleans up after it, and measures it alone. Standard library only, Python 3.8 or later.

Usage: `staged_run.py PLAN`, the path of a JSON file: {"prepare": [...], "warmup_runs": n, "command": [...], "cleanup": [...],
"folder": "...", "measured": "..."}. What is measured is written to the last one. With "read": [...], "places": {...} and "packages": "..."
metrics in files that the script writes are printed as reports, by what lies in `packages`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from backends.metrics.files.printer import ReportPrinter


class Stages:
    """Runs commands one after another; once it was told to end, only what cleans up still starts.

    Args:
        plan: as in the file.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        self._is_told = False
        # Whoever ends a job signals all of its processes, so that this one has nothing to pass on; what it starts has the usual handler.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told)

    def run(self) -> int:
        """Return the exit code that counts, 128 + n for signal n."""
        ended = self._start(self._plan["prepare"], "prepare") if self._plan["prepare"] else 0
        for number in range(self._plan["warmup_runs"]):
            ended = ended or self._warm_up(number)
        if ended == 0:
            ended = self._measured()
        if self._plan["cleanup"]:
            self._is_told = False
            self._start(self._plan["cleanup"], "cleanup")
        return ended

    def _told(self, *_: Any) -> None:
        self._is_told = True

    def _start(self, command: Sequence[str], what: str) -> int:
        code = 128 + signal.SIGTERM if self._is_told else _exit_code(subprocess.Popen(command).wait())
        if code and not self._is_told:
            sys.stderr.write(f"{what} ended with exit code {code}: {' '.join(command)[:300]}\n")
        return code

    def _warm_up(self, number: int) -> int:
        """Run the script with output and checkpoint of no account; what it printed is shown where it fails."""
        if self._is_told:
            return 128 + signal.SIGTERM
        folder = Path(self._plan["folder"]) / f"warmup-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "output.log").open("w+b") as output:
            child = subprocess.Popen(
                self._plan["command"], stdout=output, stderr=output, env={**os.environ, "OUTRIDER_CHECKPOINT_DIR": str(folder)}
            )
            code = _exit_code(child.wait())
            if code:
                output.seek(0)
                sys.stderr.write(output.read()[-20000:].decode("utf-8", "replace"))
        return code

    def _measured(self) -> int:
        if self._is_told:
            return 128 + signal.SIGTERM
        printer = self._printer()
        begun = time.monotonic()
        child = subprocess.Popen(self._plan["command"])
        peak = PeakMemory(child.pid)
        peak.start()
        _, status, usage = os.wait4(child.pid, 0)
        duration_s = time.monotonic() - begun
        found = {
            "duration_s": duration_s,
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_rss_bytes": peak.end_bytes(usage.ru_maxrss * 1024),
        }
        child.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if printer is not None:
            printer.finish(child.returncode == 0)
        Path(self._plan["measured"]).write_text(json.dumps(found), encoding="utf-8")
        return _exit_code(child.returncode)

    def _printer(self) -> ReportPrinter | None:
        # Made only now, so that what prepares the script or warms it up is not taken for its own.
        if not self._plan.get("read"):
            return None
        sys.path.insert(0, self._plan["packages"])
        from backends.metrics.files.printer import ReportPrinter

        printer = ReportPrinter(self._plan["read"], str(Path.cwd()), self._plan["places"], every_s=0.25)
        printer.start()
        return printer


class PeakMemory(threading.Thread):
    """Finds the largest resident memory of one process of a tree, also where that is less than what its starter has.

    A process begins with the peak of the one that started it (getrusage(2) on Linux keeps it over execve), so that the kernel's figure at
    the end is a small program's own only once it is above that. Until then its high-water mark is read, at least every 100 ms.

    Args:
        pid: the tree's root, which this process has started and which runs its own program already.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        # The kernel's two figures of one process may differ by some pages for each core.
        self._floor_bytes = _high_water_bytes(os.getpid()) + 2**20
        self._seen_bytes = _tree_peak_bytes(pid)

    def run(self) -> None:
        """Look until the kernel's own figure can be believed, or the end."""
        wait_s = 0.001
        while self._seen_bytes <= self._floor_bytes and not self._over.wait(wait_s):
            self._seen_bytes = max(self._seen_bytes, _tree_peak_bytes(self._pid))
            wait_s = min(0.1, 2 * wait_s)

    def end_bytes(self, kernel_bytes: int) -> int:
        """Return the peak in bytes, given what the kernel says of the process that has ended."""
        self._over.set()
        self.join()
        return self._seen_bytes if self._seen_bytes > 0 and kernel_bytes <= self._floor_bytes else kernel_bytes


def _tree_peak_bytes(pid: int) -> int:
    found, left = 0, [pid]
    while left:
        one = left.pop()
        found = max(found, _high_water_bytes(one))
        try:
            left += [int(word) for word in Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii").split()]
        except OSError:
            continue  # it has ended, or this is no Linux
    return found


def _high_water_bytes(pid: int) -> int:
    """Return the largest resident memory of a process in bytes; 0 where it is not known."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def _exit_code(code: int) -> int:
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    code = Stages(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).run()
    if code > 128:
        # Ended as the script was, so that who looks sees the same signal.
        if code - 128 != signal.SIGKILL:
            signal.signal(code - 128, signal.SIG_DFL)
        os.kill(os.getpid(), code - 128)
    sys.exit(code)
