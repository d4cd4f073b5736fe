"""Runs a load against an endpoint that is there for it alone: front up, script, front down. Standard library only.

Usage: `endpoint_run.py PLAN`, the path of a JSON file that `backends.processes.endpoint_job` writes.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import urllib.request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_END_S = 10.0
_STATUS_S = 5.0
_LEAK_UNLOADS = 20
_LEAK_PART = 0.05


class EndpointRun:
    """One endpoint and one load.

    Args:
        plan: as in the file.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        self._is_told = False
        self._begun = time.monotonic()
        self._front: subprocess.Popen[str] | None = None
        # Whoever ends a job signals all of its processes, so that there is nothing to pass on; the front stays until its input ends.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told)

    def run(self) -> int:
        """Return the exit code that counts, 128 + n for signal n."""
        begun = self._begun = time.monotonic()
        try:
            said = self._start_front()
            if self._is_told:
                return 128 + signal.SIGTERM
            if not said.get("ready"):
                # The words of a Python program, so that who reads the log tells a lack of memory from other reasons.
                kind = "MemoryError" if said.get("short_of_memory") else "EndpointError"
                sys.stderr.write(f"{kind}: the endpoint did not come up: {said.get('error')}\n")
                return 1
            ready_s = time.monotonic() - begun
            code = self._load(int(said["port"]))
            if self._front is not None and self._front.poll() is None:
                self._measure(int(said["port"]), ready_s)
            return code
        finally:
            self._end_front()

    def _told(self, *_: Any) -> None:
        self._is_told = True

    def _start_front(self) -> dict[str, Any]:
        plan = self._plan
        _stay_on(plan["server_cores"])
        self._front = subprocess.Popen(
            plan["front"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **plan["front_environment"]},
            encoding="utf-8",
        )
        _stay_on(plan["client_cores"])
        assert self._front.stdout is not None
        line = ""
        while not self._is_told:
            # Looked at now and then, as a stop must not wait for a server that is long in coming.
            if select.select([self._front.stdout], [], [], 0.1)[0]:
                line = self._front.stdout.readline()
                break
        try:
            said = json.loads(line)
        except ValueError:
            return {"ready": False, "error": f"its front {self._how_front_ended()}; see {plan['log']}"}
        return said if isinstance(said, dict) else {}

    def _load(self, port: int) -> int:
        """Run the script to its end, or to that of the front."""
        plan = self._plan
        told = {
            "OUTRIDER_ENDPOINT_URL": f"http://127.0.0.1:{port}/endpoints/{plan['endpoint']}/invocations",
            "OUTRIDER_ENDPOINT_STATUS_URL": f"http://127.0.0.1:{port}/status",
            "OUTRIDER_ENDPOINT_REGION": "",
            "OUTRIDER_ENDPOINT_KEY": plan["key"],
            "OUTRIDER_ENDPOINT_TARGETS": plan["targets"],
        }
        if plan.get("max_run_s") is not None:
            told["OUTRIDER_ENDPOINT_LEFT_S"] = str(max(0.0, plan["max_run_s"] - (time.monotonic() - self._begun)))
        script = subprocess.Popen(plan["command"], env={**os.environ, **told})
        assert self._front is not None
        code = _first_end(script, self._front)
        if code is not None:
            return _exit_code(code)
        script.kill()
        script.wait()
        if self._is_told:
            return 128 + signal.SIGTERM
        sys.stderr.write(f"EndpointError: the endpoint's front {self._how_front_ended()} while the load ran; see {plan['log']}\n")
        return 1

    def _how_front_ended(self) -> str:
        assert self._front is not None
        code = self._front.wait()
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _measure(self, port: int, ready_s: float) -> None:
        """Write down what the server took, and apart from it what the load took."""
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        found: dict[str, Any] = {
            "ready_s": ready_s,
            # Of the children only the script has ended and was waited for: the front still runs.
            "client_cpu_s": usage.ru_utime + usage.ru_stime,
            "client_peak_rss_bytes": usage.ru_maxrss * 1024,
            "client_shares_cores": self._plan["client_cores"] == self._plan["server_cores"],
        }
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/status", headers={"X-Outrider-Key": self._plan["key"]})
        try:
            # A proxy of the user's cannot reach this machine's loopback.
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=_STATUS_S) as answer:
                found = {**found, **json.loads(answer.read())}
        except (OSError, ValueError) as error:
            sys.stderr.write(f"the endpoint's front did not say what its server took: {error}\n")
        unloads, left_bytes = found.get("unloads", 0), found.get("left_bytes", 0)
        if unloads >= _LEAK_UNLOADS and left_bytes > _LEAK_PART * found["memory_bytes"]:
            sys.stderr.write(
                f"the server keeps {left_bytes / 2**20:.0f} MiB of models that are unloaded ({unloads} times, since the second): a leak\n"
            )
        with open(self._plan["measured"], "w", encoding="utf-8") as file:  # noqa: PTH123 (pathlib would double the time that this takes to start)
            json.dump(found, file)

    def _end_front(self) -> None:
        front = self._front
        if front is None or front.stdin is None:
            return
        front.stdin.close()
        try:
            front.wait(_END_S)
        except subprocess.TimeoutExpired:
            front.kill()
            front.wait()


def _first_end(script: subprocess.Popen[bytes], front: subprocess.Popen[str]) -> int | None:
    """Wait for the script's end and return its exit code; None where the front ended before it."""
    ends = [os.pidfd_open(script.pid), os.pidfd_open(front.pid)]
    try:
        ready = select.select(ends, [], [])[0]
        return script.wait() if ends[0] in ready else None
    finally:
        for descriptor in ends:
            os.close(descriptor)


def _stay_on(cores: list[int]) -> None:
    try:
        os.sched_setaffinity(0, cores)
    except (AttributeError, OSError):
        return  # another system, or cores that this process may not use: then it runs where it runs


def _exit_code(code: int) -> int:
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as plan_file:  # noqa: PTH123
        code = EndpointRun(json.load(plan_file)).run()
    if code > 128:
        # Ended as the script was, so that who looks sees the same signal.
        if code - 128 != signal.SIGKILL:
            signal.signal(code - 128, signal.SIG_DFL)
        os.kill(os.getpid(), code - 128)
    sys.exit(code)
