"""Data channels as SageMaker knows them: where the data are, how they arrive, and what the script is told. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from backends.common.channel_variables import channel_variables
from backends.job_input import JobInput
from backends.sagemaker.jobs.options import Options
from definitions.errors import UserError
from definitions.ingestion import FILE_SYSTEMS

MOUNT = "/opt/ml/input/data"
OWN_CHANNELS = ("code", "job")
"""Channels by which a script and its arguments travel; a benchmark's own cannot be called so."""

MANIFEST = ".manifest"
"""End of a URI that names a list of objects in place of the beginning of their keys."""

_MODES = {"file": "File", "fastfile": "FastFile", "pipe": "Pipe"}
_SYSTEMS = {"fsx": "FSxLustre", "efs": "EFS"}
_NAME = re.compile(r"[A-Za-z0-9.\-_]{1,64}")
_MOST = 20


def input_data(channels: Sequence[JobInput], options: Options, own: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the request's InputDataConfig.

    Args:
        channels: of the job; those of which only the URI is passed are none to SageMaker.
        options: of the experiment.
        own: URIs of the channels by which the script travels.

    Raises:
        UserError: SageMaker would refuse one of them, or their number.
    """
    _check(channels, options)
    found = [_s3(name, uri, "File", sharded=False) for name, uri in own.items()]
    for channel in channels:
        if channel.input_mode in FILE_SYSTEMS:
            found.append(_file_system(channel))
        elif channel.input_mode in _MODES:
            found.append(_s3(channel.name, channel.uri, _MODES[channel.input_mode], sharded=channel.name in options.sharded))
        if channel.input_mode != "none" and channel.name in options.content_types:
            found[-1]["ContentType"] = options.content_types[channel.name]
    if len(found) > _MOST:
        raise UserError(f"{len(found)} channels, {len(own)} of them Outrider's", f"SageMaker takes at most {_MOST}", "use fewer inputs")
    return found


def channel_environment(channel: JobInput, sharded: Collection[str] = ()) -> dict[str, str]:
    """Return the variables that tell the script about a channel; what SageMaker mounts is found below /opt/ml.

    Args:
        channel: of the job.
        sharded: names of channels of which each host shall get a part; where the script has nothing but the URI, it sees all objects.
    """
    place = channel.uri if channel.input_mode == "none" else f"{MOUNT}/{channel.name}"
    is_sharded = channel.name in sharded and channel.input_mode in _MODES
    return channel_variables(channel, place, "sharded" if is_sharded else "replicated")


def _check(channels: Sequence[JobInput], options: Options) -> None:
    for channel in channels:
        if channel.name in OWN_CHANNELS:
            raise UserError(
                f"inputs.{channel.name}: the name is taken", "the script itself travels by it", "call the channel something else"
            )
        if not _NAME.fullmatch(channel.name):
            raise UserError(f"inputs.{channel.name}: SageMaker takes no such name", "letters, digits, `.`, `-` and `_`, at most 64")
        if channel.input_mode not in (*_MODES, *FILE_SYSTEMS, "none"):
            raise UserError(f"inputs.{channel.name}: input mode {channel.input_mode!r}", "it does not exist on SageMaker")
        if channel.input_mode in FILE_SYSTEMS and not options.subnets:
            raise UserError(
                f"inputs.{channel.name}: a file system ({channel.uri})",
                "it is reached within its VPC only, and no subnets are given",
                "give subnets and security_groups in the sagemaker block",
            )
        if channel.input_mode == "none" and options.network_isolation:
            raise UserError(
                f"inputs.{channel.name}: reader {channel.reader!r} reads S3 itself",
                "network_isolation is asked for, with which jobs reach no network",
                "use ingestion file, fastfile or pipe",
            )


def _s3(name: str, uri: str, mode: str, *, sharded: bool) -> dict[str, Any]:
    if not uri.startswith("s3://") or len(uri) > 1024:
        raise UserError(f"inputs.{name}: {uri[:200] or 'no URI'}", "SageMaker reads s3:// URIs of at most 1024 characters")
    source = {
        "S3DataType": "ManifestFile" if uri.endswith(MANIFEST) else "S3Prefix",
        "S3Uri": uri,
        "S3DataDistributionType": "ShardedByS3Key" if sharded else "FullyReplicated",
    }
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}, "InputMode": mode}


def _file_system(channel: JobInput) -> dict[str, Any]:
    system, slash, folder = channel.uri.partition("://")[2].partition("/")
    source = {
        "FileSystemId": system,
        "FileSystemType": _SYSTEMS[channel.input_mode],
        "FileSystemAccessMode": "ro",
        "DirectoryPath": slash + folder,
    }
    return {"ChannelName": channel.name, "DataSource": {"FileSystemDataSource": source}, "InputMode": "File"}
