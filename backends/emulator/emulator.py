"""The emulator as a whole: a context manager for tests and commands, and what `outrider emulate` runs."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from backends.emulator.core.clock import Clock, SystemClock
from backends.emulator.core.credentials import Credentials
from backends.emulator.core.private import LOCK, TemporaryFolder, private_folder
from backends.emulator.core.settings import SDK_CONFIG, Settings, client_environment, leading_elsewhere
from backends.emulator.faults.rules import FaultRule, parse_faults, read_faults
from definitions.errors import UserError


class Emulator:
    """SageMaker's training jobs, S3, logs and what else a client of them needs, on a port of 127.0.0.1.

    Inside the `with` block it serves; after it, nothing of it is left but a folder that was given. Jobs die with it.

    Args:
        folder: where it keeps jobs, logs and buckets, so that another emulator can go on with them; None for one that is deleted.
        port: 0 for a free one.
        seed: of all faults that are drawn.
        faults: a fault file, or faults as plain data (a list of mappings with `kind`).
        clock: what its life-cycle goes by.
        settings: delays, quotas, how jobs run.
        credentials: that clients sign with; None for random ones, which are those of this run alone.

    Raises:
        UserError: botocore is missing, the port or the folder is taken, a fault is wrong.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        port: int = 0,
        seed: int = 0,
        faults: Path | str | Sequence[Mapping[str, Any]] | None = None,
        clock: Clock | None = None,
        settings: Settings | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._given = Path(folder) if folder is not None else None
        self._port, self._seed = port, seed
        self._faults: list[FaultRule] = read_faults(Path(faults)) if isinstance(faults, (str, Path)) else parse_faults(faults)
        self._clock = clock or SystemClock()
        self._settings = settings or Settings()
        self._open: Any = None
        self.credentials = credentials or Credentials.drawn()
        """What clients sign with."""

    @property
    def endpoint_url(self) -> str:
        """The address that clients take as AWS_ENDPOINT_URL."""
        return str(self._running.context.endpoint_url)

    @property
    def environment(self) -> dict[str, str]:
        """What to export so that any AWS client talks to the emulator, and to nothing else."""
        found = client_environment(self.endpoint_url, self._settings.region, self.credentials)
        found[SDK_CONFIG] = str(self._running.context.sdk_config)
        return found | leading_elsewhere(os.environ, self.endpoint_url)

    @property
    def folder(self) -> Path:
        """Where it keeps everything."""
        return Path(self._running.folder)

    @property
    def isolation(self) -> str:
        """How much of a container jobs get: `root`, `user` or `none`."""
        return str(self._running.context.isolation)

    def add_faults(self, faults: Sequence[Mapping[str, Any]]) -> None:
        """Put further faults in force; raises UserError for a wrong one."""
        self._running.context.injector.add(parse_faults(faults))

    def clear_faults(self, kind: str | None = None) -> None:
        """Lift all faults, or those of one kind."""
        self._running.context.injector.clear(kind)

    def create_bucket(self, name: str) -> None:
        """Create a bucket; one that exists stays as it is."""
        self._running.context.s3.create_bucket(name)

    def client(self, service: str) -> Any:
        """Return a boto3 client that needs no environment; it retries nothing."""
        from backends.common.aws_client import make_client

        return make_client(
            service,
            region=self._settings.region,
            endpoint_url=self.endpoint_url,
            access_key=self.credentials.access_key,
            secret_key=self.credentials.secret_key,
            attempts=1,
            connections=32,
        )

    def __enter__(self) -> Emulator:
        from backends.emulator.assembly import Assembly

        temporary = self._temporary = TemporaryFolder()
        try:
            folder = private_folder(self._given or temporary.path / "data", (LOCK, "jobs.sqlite"))
            token = f"outrider-emulator-{uuid.uuid4().hex}"
            self._open = Assembly(
                folder.resolve(),
                temporary.path,
                self._port,
                self._seed,
                self._faults,
                self._clock,
                self._settings,
                dict(os.environ),
                token,
                self.credentials,
            )
        except BaseException:
            temporary.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        opened, self._open = self._open, None
        opened.close()
        self._temporary.close()

    @property
    def token(self) -> str:
        """What the processes of its jobs carry in their environment; raises `UserError` outside of the `with` block."""
        return str(self._running.context.token)

    @property
    def _running(self) -> Any:
        if self._open is None:
            raise UserError("the emulator is not running", "it serves inside its `with` block only", "with Emulator() as emulator: ...")
        return self._open
