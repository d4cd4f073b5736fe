"""What the front is told, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from definitions.errors import UserError

MOST_BODY_BYTES = 6 * 1024 * 1024
"""Longest body that SageMaker's InvokeEndpoint takes, in bytes (6,291,456)."""


@dataclass(frozen=True)
class FrontSettings:
    """How one endpoint is served.

    Args:
        work: folder of its own: unpacked packages and the server's files. It is deleted at the end.
        log: file of the server's output.
        server: name of the server; `endpoint`: of the endpoint, which requests name in their path.
        mode: `multi`: requests name their target; `single`: `model` is loaded before the front says that it is ready.
        model: the one target in mode single.
        folder: where a target's archive lies under the target's name; empty where it is fetched.
        uri: `s3://bucket/prefix/` below which it lies otherwise; `s3_endpoint`: server in place of AWS; `region`: of the bucket.
        uris: where single targets lie that are not below that, by target.
        limit_bytes: memory that the server's processes may take together; None for no limit.
        port: 0 for a free one.
        key: that requests must carry as `X-Outrider-Key`; empty for none.
        threads, max_batch_size, batch_delay_ms, cores: of the server, see `ServerOptions`.
        load_wait_s: seconds that a request waits for its model to be loaded before it is answered 429.
        load_s: seconds after which a load has failed.
        start_s: seconds within which the server must be ready.
        variant: name of the production variant that answers say.
    """

    work: str
    log: str
    server: str = "ort"
    endpoint: str = "endpoint"
    mode: str = "multi"
    model: str = ""
    folder: str = ""
    uri: str = ""
    s3_endpoint: str = ""
    region: str = ""
    uris: Mapping[str, str] = field(default_factory=dict)
    limit_bytes: int | None = None
    port: int = 0
    key: str = ""
    threads: int | None = None
    max_batch_size: int | None = None
    batch_delay_ms: float = 0.0
    cores: tuple[int, ...] = ()
    load_wait_s: float = 60.0
    load_s: float = 300.0
    start_s: float = 60.0
    variant: str = "AllTraffic"

    @classmethod
    def read(cls, path: Path) -> FrontSettings:
        """Return the settings in a file.

        Raises:
            UserError: it cannot be read, or says what is not known.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            unknown = sorted(found.keys() - {one.name for one in fields(cls)})
            if unknown:
                raise ValueError(f"unknown: {', '.join(unknown)}")
            return cls(**{**found, "cores": tuple(found.get("cores", ()))})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UserError(f"--settings {path}: cannot be used", str(error)) from error

    def write(self, path: Path) -> None:
        """Write them to a file that only its owner can read, as the key is in it."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)
