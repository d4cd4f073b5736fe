"""Which share of its data a past training job had, by its manifest or by the bytes of its channels; listings are made once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.past_jobs import FractionSource
from backends.sagemaker.aws.s3 import s3_errors, split_uri
from definitions.errors import UserError

_MANIFEST = "manifest"
_OF_THE_SCRIPT = ("code", "job", "sm_drivers")
_MANIFEST_FILE = "ManifestFile"


@dataclass
class PastData:
    """Looks into the data of training jobs.

    Args:
        client: returns a client of S3, made when it is needed.
        whole: `s3://` URI of all the data; empty for what the manifests are samples of.
    """

    client: Callable[[], Any]
    whole: str = ""
    _listed: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _manifests: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def fraction(self, described: Mapping[str, Any], way: FractionSource) -> float:
        """Return a job's share of the data, in (0, 1].

        Args:
            described: DescribeTrainingJob's answer.
            way: by entries of its manifests over the objects that there are, or by the bytes of its channels over all bytes.

        Raises:
            UserError: the job has no such channel, its data are not there, or what they are a share of is not known.
        """
        job = str(described["TrainingJobName"])
        sources = dict.fromkeys(_sources(described, way.name))
        if not sources:
            names = ", ".join(one["ChannelName"] for one in described.get("InputDataConfig") or ()) or "none"
            raise UserError(f"training job {job}: {way}", f"it has no such channel of data in S3; its channels: {names}")
        if way.kind == _MANIFEST:
            manifests = [uri for uri, is_manifest in sources if is_manifest]
            if not manifests:
                advice = "take channel-bytes with --data, or hyperparameter:NAME"
                raise UserError(f"training job {job}: {way}", "none of its channels is a manifest", advice)
            part = math.fsum(len(self._manifest(uri)[1]) for uri in manifests)
            whole = math.fsum(len(self._objects(uri)) for uri in self._wholes(manifests, job, way))
        else:
            part = math.fsum(self._bytes(uri, is_manifest=is_manifest) for uri, is_manifest in sources)
            only = [uri for uri, is_manifest in sources if is_manifest]
            wholes = self._wholes(only if len(only) == len(sources) else [], job, way)
            whole = math.fsum(size for uri in wholes for size in self._objects(uri).values())
        if not 0 < part <= whole:
            unit = "objects" if way.kind == _MANIFEST else "bytes"
            raise UserError(
                f"training job {job}: {way}",
                f"it had {part:.0f} {unit} of {whole:.0f}",
                "give all of the data as --data s3://bucket/prefix/",
            )
        return part / whole

    def _wholes(self, manifests: list[str], job: str, way: FractionSource) -> list[str]:
        """Return the places of all data."""
        if self.whole:
            return [self.whole]
        if not manifests:
            raise UserError(
                f"training job {job}: {way}", "what its data are a share of is not known", "give it as --data s3://bucket/prefix/"
            )
        return list(dict.fromkeys(self._manifest(uri)[0] for uri in manifests))

    def _bytes(self, uri: str, *, is_manifest: bool) -> int:
        if not is_manifest:
            return sum(self._objects(uri).values())
        prefix, names = self._manifest(uri)
        sizes, (_, base) = self._objects(prefix), split_uri(prefix)
        return sum(sizes.get(base + name, 0) for name in names)

    def _objects(self, uri: str) -> Mapping[str, int]:
        """Return size by key of all objects under a prefix; markers of folders are none."""
        if uri not in self._listed:
            bucket, prefix = split_uri(uri)
            with s3_errors(f"{uri}: it cannot be listed", bucket):
                pages = self.client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
                self._listed[uri] = {
                    str(one["Key"]): int(one["Size"]) for page in pages for one in page.get("Contents", ()) if not one["Key"].endswith("/")
                }
        return self._listed[uri]

    def _manifest(self, uri: str) -> tuple[str, tuple[str, ...]]:
        """Return the prefix of a manifest and the names in it; raises `UserError` where it is none."""
        if uri not in self._manifests:
            bucket, key = split_uri(uri)
            with s3_errors(f"{uri}: the manifest cannot be read", bucket):
                text = self.client().get_object(Bucket=bucket, Key=key)["Body"].read()
            try:
                first, *names = json.loads(text)
                self._manifests[uri] = str(first["prefix"]), tuple(str(name) for name in names)
            except (ValueError, LookupError, TypeError):
                raise UserError(f"{uri} is no manifest", 'it should be a JSON list that begins with {"prefix": ...}') from None
        return self._manifests[uri]


def _sources(described: Mapping[str, Any], channel: str) -> Iterator[tuple[str, bool]]:
    """Yield the URI of each channel's data in S3, or of the named one's alone, and whether it is a manifest."""
    for one in described.get("InputDataConfig") or ():
        source = one.get("DataSource", {}).get("S3DataSource")
        name = one["ChannelName"]
        if source is not None and (name == channel if channel else name not in _OF_THE_SCRIPT):
            yield str(source["S3Uri"]), source.get("S3DataType") == _MANIFEST_FILE
