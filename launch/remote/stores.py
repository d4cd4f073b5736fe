"""The object store that a URI names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from backends.object_store import ObjectStore

if TYPE_CHECKING:
    from backends.sagemaker.aws.clients import Clients


def store_at(uri: str, environ: Mapping[str, str], region: str | None = None) -> ObjectStore:
    """Return the store whose root is at a URI; nothing is asked of it yet.

    Args:
        uri: `s3://bucket/prefix`.
        environ: of this program; an endpoint in it counts.
        region: of the bucket; None for that of the AWS configuration.

    Raises:
        UserError: it is no such URI, or boto3 is not installed.
    """
    from backends.sagemaker.aws.object_store import S3ObjectStore

    return S3ObjectStore(uri, clients_of(environ, region))


def clients_of(environ: Mapping[str, str], region: str | None = None) -> Clients:
    """Return clients of AWS; arguments as of `store_at`."""
    from backends.sagemaker.aws.clients import Clients

    return Clients(region, environ)
