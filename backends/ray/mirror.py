"""Checkpoints of a node's jobs as folders there that are kept in S3: brought before a job starts, sent while it runs and when it ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backends.job_spec import JobSpec
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.clients import Clients, is_emulated
from backends.sagemaker.jobs.checkpoints import S3Checkpoints

EVERY_S = 1.0
"""Seconds between two times at which files are sent."""

_STEADY_SHARE = 0.2
"""The part of that for which a file has to be the same before it is sent."""

_OWN = ".outrider-"
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
State = dict[str, tuple[int, int]]


@dataclass(frozen=True)
class PlaceInS3:
    """Where the checkpoints of an experiment are kept.

    Args:
        uri: `s3://bucket/prefix`, below which they are.
        experiment: names it there.
        clients: of AWS, or of what the environment names in its place.
        environ: the controller's environment.
    """

    uri: str
    experiment: str
    clients: Clients
    environ: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.uri}#{self.experiment}"

    @property
    def store(self) -> S3Checkpoints:
        """The checkpoints."""
        return checkpoints_at(self.uri, self.clients, self.experiment)

    def way(self) -> dict[str, str]:
        """Return the variables by which nodes reach it.

        Keys go along only where they are an emulator's; to AWS itself nodes have their own.
        """
        names = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", *(_KEYS if is_emulated(self.environ) else ())]
        return {**{name: self.environ[name] for name in names if name in self.environ}, "AWS_DEFAULT_REGION": self.clients.region}


def checkpoints_at(uri: str, clients: Clients, experiment: str) -> S3Checkpoints:
    """Return the checkpoints of an experiment below `s3://bucket/prefix`."""
    bucket, prefix = s3.split_uri(uri if "/" in uri.removeprefix("s3://") else f"{uri}/")
    return S3Checkpoints(lambda: clients.get("s3"), bucket, prefix, experiment)


class S3Mirror:
    """The folders of one node.

    Args:
        store: where checkpoints are kept.
        client: of S3.
        folder: of the folders, each named by its key.
        post: has a call made by the thread that runs jobs.
        say: takes a sentence for whoever watches, in that thread.
        every_s: seconds between two times at which files are sent.
    """

    def __init__(
        self,
        store: S3Checkpoints,
        client: Callable[[], Any],
        folder: Path,
        post: Callable[[Callable[[], None]], None],
        say: Callable[[str], None],
        every_s: float = EVERY_S,
    ) -> None:
        self._store, self._client, self._folder, self._post, self._say, self._every_s = store, client, folder, post, say, every_s
        self._ends: dict[str, threading.Event] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._finished: dict[str, Callable[[], None]] = {}

    def bring(self, spec: JobSpec, done: Callable[[str], None]) -> None:
        """Bring a job's checkpoint, or clear it; `done` is called with an error, empty for none. It is sent until `finish` is called."""
        key, end = spec.checkpoint, threading.Event()
        self._ends[key] = end
        thread = self._threads[key] = threading.Thread(target=self._keep, args=(spec, end, done), name=f"checkpoint-{key}", daemon=True)
        thread.start()

    def finish(self, key: str, done: Callable[[], None]) -> None:
        """Send what is left of a checkpoint whose job has ended; then `done` is called."""
        self._finished[key] = done
        self._ends[key].set()

    def _keep(self, spec: JobSpec, end: threading.Event, done: Callable[[str], None]) -> None:
        key = spec.checkpoint
        place = self._folder / key
        try:
            sent = self._brought(spec, place)
        except Exception as error:  # noqa: BLE001 (whatever S3 says is why the job cannot start)
            self._post(partial(done, " ".join(str(error).split("\n")[:2])))
            end.wait()
        else:
            self._post(partial(done, ""))
            self._send_until(end, key, place, sent)
        shutil.rmtree(place, ignore_errors=True)
        self._post(self._finished.pop(key))

    def _brought(self, spec: JobSpec, place: Path) -> State:
        key, source = spec.checkpoint, spec.restore_from
        if source is None:
            self._store.delete([key])
        elif source != key:
            self._store.copy(source, key)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        client, folder = self._client(), self._store.folder(key)
        for name, _ in s3.objects(client, self._store.bucket, folder):
            path = place / name.removeprefix(folder)
            if name.endswith("/"):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with s3.s3_errors(f"s3://{self._store.bucket}/{name}: it cannot be read", self._store.bucket):
                client.download_file(self._store.bucket, name, str(path))
        return files_of(place)

    def _send_until(self, end: threading.Event, key: str, place: Path, sent: State) -> None:
        said = ""
        while True:
            is_last = end.wait(self._every_s)
            try:
                seen = now = files_of(place)
                if now != sent and not is_last:
                    end.wait(_STEADY_SHARE * self._every_s)
                    now = files_of(place)
                self._send(key, place, sent, {name: state for name, state in now.items() if seen.get(name) == state})
                if now == seen and all(sent.get(name) == state for name, state in now.items()):
                    self._clear(key, sent, now)
                said = ""
            except Exception as error:  # noqa: BLE001 (it is tried again; only what is lost at the end is lost)
                text = " ".join(str(error).split("\n")[:2])
                if text != said or is_last:
                    self._post(partial(self._say, f"the checkpoint {key} {'was not' if is_last else 'is not yet'} kept in S3: {text}"))
                said = text
            if is_last:
                return

    def _send(self, key: str, place: Path, sent: State, steady: State) -> None:
        client, bucket, folder = self._client(), self._store.bucket, self._store.folder(key)
        # In the order of their writing: what names other files is written after them.
        for name, state in sorted(steady.items(), key=lambda item: item[1][1]):
            if sent.get(name) != state:
                with contextlib.suppress(FileNotFoundError):  # gone since it was looked at
                    with s3.s3_errors(f"s3://{bucket}/{folder}{name}: it cannot be written", bucket):
                        client.upload_file(str(place / name), bucket, folder + name)
                    sent[name] = state

    def _clear(self, key: str, sent: State, now: State) -> None:
        """Delete what is there no more, as all that is there now has been sent: else nothing might be left to go on from."""
        folder, gone = self._store.folder(key), [name for name in sent if name not in now]
        s3.delete_keys(self._client(), self._store.bucket, [folder + name for name in gone])
        for name in gone:
            del sent[name]


def files_of(place: Path) -> State:
    """Return size and time of writing (nanoseconds) of all files below a folder, but for what the reporter keeps there."""
    found: State = {}
    for folder, _, names in os.walk(place):
        for name in names:
            path = Path(folder, name)
            with contextlib.suppress(OSError):  # gone meanwhile
                facts = path.stat()
                found[path.relative_to(place).as_posix()] = facts.st_size, facts.st_mtime_ns
    return {name: state for name, state in found.items() if not name.startswith(_OWN)}
