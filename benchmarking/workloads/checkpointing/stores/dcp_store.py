"""torch.distributed.checkpoint: each rank writes what it has, to a disk or to an object store."""

from __future__ import annotations

import contextlib
import inspect
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from .base import StoreOptions, region_of, split, synced_folder

_ENDPOINT = "AWS_ENDPOINT_URL"


@contextlib.contextmanager
def _plain_errors() -> Iterator[None]:
    """Raise what failed on the first of the ranks that failed; torch's own exception is none that one would catch (a BaseException)."""
    from torch.distributed.checkpoint.api import CheckpointException

    try:
        yield
    except CheckpointException as error:
        rank, (cause, _) = next(iter(sorted(error.failures.items(), key=lambda item: item[0])))
        raise RuntimeError(f"rank {rank}: {type(cause).__name__}: {cause}") from cause


class DcpFolder:
    """A folder a checkpoint, with files of each rank and one that says what is where."""

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._group: Any = None
        # What is meant here, of one rank.
        warnings.filterwarnings("ignore", "torch.distributed is disabled")

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Write this rank's part, together with the others."""
        from torch.distributed.checkpoint.state_dict_saver import save

        with _plain_errors():
            save(dict(state), storage_writer=self._writer(name), no_dist=self._options.world == 1)
        self._lasting(name)

    def begin(self, state: Mapping[str, Any], name: str) -> Future[Any]:
        """Have torch copy the state, and write the copy in a thread, over a group of its own so that training's messages do not meet it."""
        import torch
        from torch.distributed.checkpoint.state_dict_saver import async_save

        alone = self._options.world == 1
        how: dict[str, Any] = {}
        if not alone:
            if self._group is None:
                self._group = torch.distributed.new_group(backend="gloo")
            how = {"process_group": self._group}
        elif "no_dist" in inspect.signature(async_save).parameters:
            how = {"no_dist": True}
        elif not torch.distributed.is_initialized():
            store = torch.distributed.HashStore()  # type: ignore[attr-defined]  # documented, but not among the exported names
            torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        begun = async_save(dict(state), storage_writer=self._writer(name), **how)
        done: Future[Any] = Future()

        def finish(future: Future[Any]) -> None:
            try:
                with _plain_errors():
                    future.result()
                self._lasting(name)
            except Exception as error:  # noqa: BLE001 (who waits for it hears of it)
                done.set_exception(error)
            else:
                done.set_result(None)

        begun.add_done_callback(finish)  # type: ignore[union-attr]  # a future, where no process is asked for
        return done

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read this rank's part into `like`."""
        from torch.distributed.checkpoint.state_dict_loader import load

        found = dict(like)
        with _plain_errors():
            load(found, storage_reader=self._reader(name), no_dist=self._options.world == 1)
        return found

    def remove(self, name: str) -> None:
        """Delete the folder."""
        if self._options.rank == 0:
            shutil.rmtree(self._at(name), ignore_errors=True)

    def stored_bytes(self, name: str) -> int:
        """Return the size of all files in the folder."""
        return sum(path.stat().st_size for path in Path(self._at(name)).rglob("*") if path.is_file())

    def close(self) -> None:
        """Remove the folder of all checkpoints where nothing is left in it."""
        if self._options.rank == 0:
            with contextlib.suppress(OSError):
                Path(self._options.place).rmdir()

    def _at(self, name: str) -> str:
        return f"{self._options.place}/{name}"

    def _lasting(self, name: str) -> None:
        if self._options.fsync:
            synced_folder(Path(self._at(name)))

    def _writer(self, name: str) -> Any:
        from torch.distributed.checkpoint.filesystem import FileSystemWriter

        return FileSystemWriter(self._at(name), sync_files=self._options.fsync, thread_count=self._options.threads)

    def _reader(self, name: str) -> Any:
        from torch.distributed.checkpoint.filesystem import FileSystemReader

        return FileSystemReader(self._at(name))


class DcpObjects(DcpFolder):
    """A prefix a checkpoint, with objects of each rank."""

    def __init__(self, options: StoreOptions) -> None:
        super().__init__(options)
        # The connector's writer for DCP takes no endpoint; its client reads this variable.
        endpoint = options.environ.get("AWS_ENDPOINT_URL_S3")
        if endpoint:
            os.environ[_ENDPOINT] = endpoint
        self._made: Any = None
        self._listed: dict[str, list[tuple[str, int]]] = {}

    def remove(self, name: str) -> None:
        """Delete the objects."""
        if self._options.rank == 0:
            bucket, _ = split(self._at(name))
            for key, _ in self._listed.pop(name, None) or self._objects(name):
                self._client().delete_object(bucket, key)

    def stored_bytes(self, name: str) -> int:
        """Return the size of all objects of the checkpoint."""
        # Kept, as who deletes it when the next one is whole would list it once more.
        self._listed[name] = self._objects(name)
        return sum(size for _, size in self._listed[name])

    def close(self) -> None:
        """Nothing is left to close."""

    def _lasting(self, name: str) -> None:
        """An object is there for good when its stream is closed."""

    def _writer(self, name: str) -> Any:
        from s3torchconnector.dcp import S3StorageWriter

        return S3StorageWriter(region_of(self._options.environ), self._at(name), thread_count=self._options.threads)

    def _reader(self, name: str) -> Any:
        from s3torchconnector.dcp import S3StorageReader

        return S3StorageReader(region_of(self._options.environ), self._at(name))

    def _objects(self, name: str) -> list[tuple[str, int]]:
        bucket, key = split(self._at(name))
        return [(one.key, int(one.size)) for page in self._client().list_objects(bucket, f"{key}/") for one in page.object_info]

    def _client(self) -> Any:
        if self._made is None:
            from s3torchconnector import S3Checkpoint

            self._made = S3Checkpoint(region_of(self._options.environ), endpoint=os.environ.get(_ENDPOINT))._client
        return self._made
