"""The profiler of one job: one sampler per host, at the interval that ProfilerConfig asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from backends.emulator.container.context import Context
from backends.emulator.container.profiler import ProfilerFile
from backends.emulator.core.job import Job
from backends.emulator.http.errors import ServiceError


class JobProfile:
    """Samples and uploads for all hosts.

    Args:
        interval_s: between two samples.
    """

    def __init__(self, files: Sequence[ProfilerFile], interval_s: float) -> None:
        self._files, self.interval_s = files, interval_s

    @staticmethod
    def of(job: Job, context: Context, hosts: Sequence[str]) -> JobProfile | None:
        """Return the profiler that a job asks for; None where it asks for none."""
        config = job.request.get("ProfilerConfig", {})
        if config.get("DisableProfiler") or not config.get("S3OutputPath"):
            return None
        files = [ProfilerFile(config["S3OutputPath"], job.name, host, context.s3, context.service_now) for host in hosts]
        return JobProfile(files, config.get("ProfilingIntervalInMilliseconds", 500) / 1000)

    def sample(self) -> None:
        """Take a sample of each host."""
        for file in self._files:
            file.sample()

    def flush(self) -> None:
        """Upload what has been sampled since the last time; a piece of work."""
        for file in self._files:
            # A profile that cannot be kept is no reason for a job to fail.
            with contextlib.suppress(ServiceError):
                file.upload(file.take())
