"""What every server of models does, whatever program it is. Used by the front; all calls are of its event loop."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from backends.serving.memory import tree_bytes
from definitions.errors import OutriderError

BINARY = "application/vnd.sagemaker-triton.binary+json"
"""Type of a body of KServe's protocol v2 with binary tensors, as SageMaker's container of Triton takes it, with `json-header-size`."""


@dataclass(frozen=True)
class ServerOptions:
    """How a server is run.

    Args:
        folder: of its own, where it may write.
        log: file that all it prints is appended to.
        threads: that compute one answer; None for the server's own default. As many answers are computed at once as its cores allow.
        cores: that it may use; empty for all.
        max_batch_size: rows that it may compute at once; None for what a model's config.pbtxt says.
        batch_delay_ms: milliseconds that a request may wait for others to be computed with; 0 for what config.pbtxt says.
        start_s: seconds within which it must be ready.
        load_s: seconds within which a model must be loaded.
    """

    folder: Path
    log: Path
    threads: int | None = None
    cores: tuple[int, ...] = ()
    max_batch_size: int | None = None
    batch_delay_ms: float = 0.0
    start_s: float = 30.0
    load_s: float = 300.0


@dataclass(frozen=True)
class ModelAnswer:
    """What a model answered: status of HTTP, body and its type, and what else the server said of it."""

    status: int
    body: bytes
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


class ServerFailedError(OutriderError):
    """The server is not to be had: it did not start, has ended, or does not answer."""


class LoadFailedError(OutriderError):
    """A model could not be loaded.

    Args:
        message: the server's own words.
        is_short_of_memory: whether it would load where there is more memory.
    """

    def __init__(self, message: str, *, is_short_of_memory: bool = False) -> None:
        super().__init__(message)
        self.is_short_of_memory = is_short_of_memory


class ModelLostError(OutriderError):
    """The server says that it has a model, and the process of that model is gone for good.

    Args:
        answer: to the request that found it out.
    """

    def __init__(self, answer: ModelAnswer) -> None:
        super().__init__(answer.body.decode("utf-8", "replace"))
        self.answer = answer


class ModelServer(abc.ABC):
    """One program that serves models which are loaded and unloaded by name."""

    name: ClassVar[str]
    """By which definitions ask for it; what it serves is `backends.deployment.SERVED`."""

    @classmethod
    def missing(cls) -> str:
        """Return why it cannot run on this machine, with what to do; empty where it can."""
        return ""

    @abc.abstractmethod
    async def start(self, options: ServerOptions) -> None:
        """Start the program and return when it can load models.

        Raises:
            ServerFailedError: it is not ready in time, or has ended.
        """

    @abc.abstractmethod
    async def ready(self) -> bool:
        """Return whether it answers now."""

    @abc.abstractmethod
    async def load(self, name: str, folder: Path) -> None:
        """Load the model that is unpacked in a folder (`config.pbtxt`, `1/...`).

        Raises:
            LoadFailedError: it cannot be loaded.
            ServerFailedError: the server did not answer.
        """

    @abc.abstractmethod
    async def unload(self, name: str) -> None:
        """Unload a model and return when its memory is given back; one that is not there is unloaded already."""

    @abc.abstractmethod
    async def resident(self) -> Sequence[str]:
        """Return the names of the models that the server itself says are loaded."""

    @abc.abstractmethod
    async def invoke(self, name: str, body: bytes, content_type: str) -> ModelAnswer:
        """Return what a loaded model answers.

        Raises:
            ServerFailedError: the server did not answer.
            ModelLostError: it answered with an error, and will to each request until the model is loaded again.
        """

    @abc.abstractmethod
    def pids(self) -> Sequence[int]:
        """Return the numbers of its processes, those of its models included."""

    @abc.abstractmethod
    def has_ended(self) -> bool:
        """Return whether its program is gone."""

    @abc.abstractmethod
    async def stop(self) -> None:
        """End the program and all that it has started; twice is once."""

    def memory(self) -> int:
        """Return the bytes of main memory that its processes take together (`tree_bytes`); reads files for some ms."""
        return tree_bytes(self.pids())
