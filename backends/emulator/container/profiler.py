"""System metrics as the profiler writes them: JSON lines in S3 about what the machine does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backends.emulator.s3.store import S3Store, split_uri


def file_key(prefix: str, job: str, host: str, at: float) -> str:
    """Return the key of the file that was begun at a time.

    The form is known from public test data of sagemaker-debugger: `<job>/profiler-output/system/incremental/<hour>/<seconds>.<host>.json`.
    """
    hour = time.strftime("%Y%m%d%H", time.gmtime(at))
    return "/".join(
        part for part in (prefix.rstrip("/"), job, "profiler-output/system/incremental", hour, f"{int(at)}.{host}.json") if part
    )


class SystemMetricsSampler:
    """Takes differences between readings of the system's counters.

    Args:
        proc: where the system shows them.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._before = self._read()

    def sample(self, host: str, at: float) -> list[dict[str, Any]]:
        """Return the events since the last sample, as the profiler names them; percentages are 0 to 100."""
        before, now = self._before, self._read()
        self._before = now
        elapsed_s = max(1e-3, now["at"] - before["at"])
        found = []

        def add(kind: str, dimension: str, value: float, name: str | None = None) -> None:
            event = {"Type": kind, "Dimension": dimension, "Value": round(value, 4), "NodeId": host, "Timestamp": at}
            found.append(event if name is None else {"Type": kind, "Name": name, **event})

        for core, (busy, waiting, total) in now["cpu"].items():
            earlier = before["cpu"].get(core, (busy, waiting, total))
            ticks = max(1, total - earlier[2])
            add("cpu", "CPUUtilization", 100.0 * (busy - earlier[0]) / ticks, core)
            add("cpu", "I/OWaitPercentage", 100.0 * (waiting - earlier[1]) / ticks, core)
        add("memory", "MemoryUsedPercent", now["memory"], "MemoryUsedPercent")
        reads, writes, operations = (now["disk"][place] - before["disk"][place] for place in range(3))
        add("i/o", "ReadThroughputInBytesPerSecond", reads / elapsed_s)
        add("i/o", "WriteThroughputInBytesPerSecond", writes / elapsed_s)
        add("i/o", "IOPS", operations / elapsed_s)
        add("network", "Algorithm", (now["network"][0] - before["network"][0]) / elapsed_s, "ReceiveBytesPerSecond")
        add("network", "Algorithm", (now["network"][1] - before["network"][1]) / elapsed_s, "TransmitBytesPerSecond")
        return found

    def _read(self) -> dict[str, Any]:
        return {"at": time.monotonic(), "cpu": self._cpu(), "memory": self._memory(), "disk": self._disk(), "network": self._network()}

    def _lines(self, name: str) -> list[str]:
        try:
            return (self._proc / name).read_text(encoding="utf-8").splitlines()
        except OSError:
            return []

    def _cpu(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        for line in self._lines("stat"):
            words = line.split()
            if words and words[0].startswith("cpu") and words[0] != "cpu":
                ticks = [int(word) for word in words[1:9]]
                found[words[0]] = (sum(ticks) - ticks[3] - ticks[4], ticks[4], sum(ticks))
        return found

    def _memory(self) -> float:
        sizes = {
            line.split(":")[0]: int(line.split()[1]) for line in self._lines("meminfo") if line.startswith(("MemTotal", "MemAvailable"))
        }
        return 100.0 * (1 - sizes["MemAvailable"] / sizes["MemTotal"]) if len(sizes) == 2 else 0.0

    def _disk(self) -> tuple[int, int, int]:
        read = written = operations = 0
        for line in self._lines("diskstats"):
            words = line.split()
            if len(words) > 9 and not words[2].startswith(("loop", "ram")) and not words[2][-1:].isdigit():
                operations += int(words[3]) + int(words[7])
                read, written = read + 512 * int(words[5]), written + 512 * int(words[9])
        return read, written, operations

    def _network(self) -> tuple[int, int]:
        received = sent = 0
        for line in self._lines("net/dev")[2:]:
            words = line.split(":", 1)[1].split()
            received, sent = received + int(words[0]), sent + int(words[8])
        return received, sent


class ProfilerFile:
    """Collects one host's samples and uploads them as a file.

    Args:
        uri: the profiler's S3OutputPath.
        now: the service's clock.
    """

    def __init__(self, uri: str, job: str, host: str, s3: S3Store, now: Callable[[], float]) -> None:
        self._uri, self._job, self._host, self._s3, self._now = uri, job, host, s3, now
        self._sampler = SystemMetricsSampler()
        self._lines: list[str] = []
        self._began = now()

    def sample(self) -> None:
        """Take one sample."""
        self._lines += [json.dumps(event) for event in self._sampler.sample(self._host, self._now())]

    def take(self) -> tuple[str, str, bytes] | None:
        """Return bucket, key and content of the file so far and begin the next one; None where there is nothing."""
        lines, self._lines = self._lines, []
        began, self._began = self._began, self._now()
        if not lines:
            return None
        bucket, prefix = split_uri(self._uri)
        return bucket, file_key(prefix, self._job, self._host, began), ("\n".join(lines) + "\n").encode()

    def upload(self, file: tuple[str, str, bytes] | None) -> None:
        """Write what `take` returned."""
        if file is not None:
            self._s3.put(file[0], file[1], [file[2]])
