"""What all parts of one emulator share; made once and handed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.emulator.container.interpreter import Interpreter
from backends.emulator.container.namespaces import Isolation
from backends.emulator.core.credentials import Credentials
from backends.emulator.core.event_loop import EventLoop
from backends.emulator.core.metric_series import MetricSeries
from backends.emulator.core.settings import Settings
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.logs.store import LogStore
from backends.emulator.s3.store import S3Store


@dataclass
class Context:
    """The emulator's parts.

    Args:
        folder: of everything that jobs leave behind while they run.
        scratch: of their temporary files; a short path, as sockets lie there whose paths must not exceed 108 bytes.
        isolation: how much of a container jobs get.
        endpoint_url: under which jobs reach the emulator, once it listens.
        inherited: the emulator's own environment.
        token: what the marks of its jobs begin with.
        credentials: that jobs sign with.
        sdk_config: file with the configuration of SageMaker's SDK.
        metrics: values of jobs' metrics that CloudWatch is to show.
        interpreter: of which each job gets a view of its own; None where the settings name a program that is no Python.
    """

    settings: Settings
    loop: EventLoop
    s3: S3Store
    logs: LogStore
    injector: FaultInjector
    folder: Path
    scratch: Path
    isolation: Isolation
    inherited: Mapping[str, str]
    token: str
    credentials: Credentials
    sdk_config: Path
    interpreter: Interpreter | None = None
    metrics: MetricSeries = field(default_factory=MetricSeries)
    endpoint_url: str = ""
    started: Callable[[int], None] = field(default=lambda pid: None)
    gone: Callable[[int], None] = field(default=lambda pid: None)

    @property
    def closed(self) -> str:
        """The folder of this machine that jobs with mounts of their own cannot write to: where the interpreter is installed."""
        return "" if self.interpreter is None or self.interpreter.prefix == "/" else self.interpreter.prefix

    def now(self) -> float:
        """Return the time by the emulator's clock, without the fault of a clock that is ahead."""
        return self.loop.clock.now()

    def service_now(self) -> float:
        """Return the time that the service shows."""
        return self.loop.clock.now() + self.injector.clock_ahead_s()

    def job_check(self, operation: str) -> Callable[[str, str], None]:
        """Return a function of bucket and key that raises what a fault has for the platform's own S3 calls, e.g. `GetObject`."""
        return lambda bucket, key: self.injector.check_call("s3", f"Job{operation}", bucket, key)
