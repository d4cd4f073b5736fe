"""Objects in S3 through the S3 connector for PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class S3Connector:
    """Objects through the S3 connector for PyTorch, each by a request of its own."""

    uri: str
    environ: Mapping[str, str]
    _indices: dict[str, int] = field(default_factory=dict)
    _objects: Any = None

    def options(self) -> dict[str, Any]:
        """Return the connector's arguments that say which server to ask, and how."""
        from s3torchconnector import S3ClientConfig

        endpoint = self.environ.get("AWS_ENDPOINT_URL_S3") or self.environ.get("AWS_ENDPOINT_URL") or None
        region = self.environ.get("AWS_REGION") or self.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
        return {"region": region, "endpoint": endpoint, "s3client_config": S3ClientConfig(force_path_style=endpoint is not None)}

    def names(self) -> list[str]:
        """Return the URIs of all objects under the channel's URI, by listing alone."""
        from s3torchconnector import S3IterableDataset

        # a reader asks for the object's content when it is first read, so this only lists
        return list(S3IterableDataset.from_prefix(self.uri, transform=_uri_of, **self.options()))

    def select(self, names: list[str]) -> None:
        """Say which objects will be opened."""
        from s3torchconnector import S3MapDataset

        self._objects = S3MapDataset.from_objects(names, **self.options())
        self._indices = {name: index for index, name in enumerate(names)}

    def open(self, name: str) -> Any:
        """Return a reader for an object that `select` has named; the request is made when it is first read."""
        return self._objects[self._indices[name]]


def _uri_of(reader: Any) -> str:
    return f"s3://{reader.bucket}/{reader.key}"
