"""Input channels: which objects belong to a host's share, and how File and FastFile put them into place."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backends.emulator.container.filesystem import Container, input_mode
from backends.emulator.container.paths import ML, place_of_object
from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.store import S3Store, StoredObject, copy_out, split_uri


class DataError(Exception):
    """The data cannot be had; the message becomes the job's reason of failure."""


def objects_of(channel: Mapping[str, Any], s3: S3Store, host: int, hosts: int) -> list[tuple[str, StoredObject]]:
    """Return (path within the channel, object) of one host's share, in the order of the keys.

    Args:
        channel: as in InputDataConfig.
        s3: where the objects are.
        host: its number, from 0.
        hosts: how many there are.

    Raises:
        DataError: nothing is there, or the kind of source is not imitated.
    """
    name = channel["ChannelName"]
    source = channel["DataSource"].get("S3DataSource")
    if source is None:
        raise DataError(f"channel {name}: only S3 data sources are imitated")
    try:
        if source["S3DataType"] == "S3Prefix":
            found = _by_prefix(source["S3Uri"], s3)
        elif source["S3DataType"] == "ManifestFile":
            found = _by_manifest(source["S3Uri"], s3)
        else:
            raise DataError(f"channel {name}: {source['S3DataType']} is not imitated")
    except ServiceError as error:
        raise DataError(f"Data download failed: {error.message} ({source['S3Uri']})") from None
    if not found:
        raise DataError(f'Data download failed: No S3 objects found under S3 URL "{source["S3Uri"]}" given in input data source')
    if source.get("S3DataDistributionType") == "ShardedByS3Key":
        found = found[host::hosts]
    return found


def provide(
    channel: Mapping[str, Any],
    request: Mapping[str, Any],
    container: Container,
    s3: S3Store,
    host: int,
    hosts: int,
    check: Callable[[str, str], None],
) -> None:
    """Make a File or FastFile channel's data appear; a Pipe channel's are checked only.

    Args:
        channel: as in InputDataConfig.
        request: CreateTrainingJob's.
        container: where they are to appear.
        s3: where the objects are.
        host: the container's number, from 0.
        hosts: how many there are.
        check: called with bucket and key before each download; raises what a fault has for it.

    Raises:
        DataError: the data cannot be had.
    """
    mode = input_mode(request, channel)
    share = objects_of(channel, s3, host, hosts)
    if mode == "Pipe":
        return
    folder = container.ml / "input" / "data" / channel["ChannelName"]
    folder.mkdir(parents=True, exist_ok=True)
    bucket = split_uri(channel["DataSource"]["S3DataSource"]["S3Uri"])[0]
    for path, found in share:
        try:
            target = place_of_object(container.ml, f"{ML}/input/data/{channel['ChannelName']}", path)
            check(bucket, found.key)
            if mode == "File":
                copy_out(found, target)
            else:
                _link(found.path, target)
        except ServiceError as error:
            raise DataError(f"Data download failed: {error.message} (s3://{bucket}/{found.key})") from None
        except FileNotFoundError:
            raise DataError(f"Data download failed: s3://{bucket}/{found.key} was deleted meanwhile") from None
        except (ValueError, *NO_ROOM) as error:
            raise DataError(f"Data download failed: s3://{bucket}/{found.key}: {no_file(error)}") from None
    if mode == "FastFile":
        (container.folder / "lazy" / channel["ChannelName"]).touch()


NO_ROOM = (FileExistsError, NotADirectoryError, IsADirectoryError)
"""What the system says of a file that is to be where a folder is, or the other way round: buckets may hold both `a` and `a/b`."""


def no_file(error: Exception) -> str:
    """Return why an object cannot become a file."""
    return "another object needs a folder of this name, or in its place" if isinstance(error, OSError) else str(error)


def shuffled(share: list[tuple[str, StoredObject]], channel: Mapping[str, Any], epoch: int) -> list[tuple[str, StoredObject]]:
    """Return a share in the order of an epoch, which differs from epoch to epoch where the channel is to be shuffled."""
    if "ShuffleConfig" not in channel:
        return share
    order = list(share)
    random.Random(f"{channel['ShuffleConfig']['Seed']}/{epoch}").shuffle(order)
    return order


def _by_prefix(uri: str, s3: S3Store) -> list[tuple[str, StoredObject]]:
    bucket, prefix = split_uri(uri)
    return [(relative(found.key, prefix), found) for found in s3.select(bucket, prefix) if not found.key.endswith("/")]


def relative(key: str, prefix: str) -> str:
    """Return the path that an object gets within its channel."""
    folder = prefix.rstrip("/")
    if key == prefix or not folder:
        return key.rsplit("/", 1)[-1] if folder else key
    if key.startswith(folder + "/"):
        return key[len(folder) + 1 :]
    return key[prefix.rfind("/") + 1 :]


def _by_manifest(uri: str, s3: S3Store) -> list[tuple[str, StoredObject]]:
    bucket, key = split_uri(uri)
    try:
        entries = json.loads(s3.get(bucket, key).path.read_bytes())
        prefix = entries[0]["prefix"]
        names = [str(name) for name in entries[1:]]
    except (ValueError, LookupError, TypeError):
        raise DataError(f'{uri} is no manifest: a JSON list that begins with {{"prefix": ...}} is expected') from None
    found = []
    for name in names:
        place_bucket, place_key = split_uri(prefix + name)
        found.append((name.lstrip("/"), s3.get(place_bucket, place_key)))
    return sorted(found, key=lambda item: item[1].key)


def _link(source: Path, target: Path) -> None:
    # A link costs nothing however large the object is, and stays what it was when the object is replaced.
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        if not source.exists():
            raise FileNotFoundError(source) from None
        shutil.copyfile(source, target)
