"""Brings packages of models that are in S3 to this machine, by the credentials and the endpoint of the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from definitions.errors import UserError


def fetch_by(environ: Mapping[str, str], make: Callable[..., Any] | None = None) -> Callable[[str, Path | None], str]:
    """Return what fetches an object of S3 by its URI; with None for the file it only says its size and version, as text.

    Args:
        environ: of the controller.
        make: makes a client of boto3's in place of the usual one; for tests.
    """
    clients: list[Any] = []

    def client() -> Any:
        if not clients:
            if make is None:
                from backends.common.aws_client import make_client

                endpoint_url = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
                clients.append(
                    make_client("s3", region=environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"), endpoint_url=endpoint_url)
                )
            else:
                clients.append(make("s3"))
        return clients[0]

    def fetch(uri: str, path: Path | None) -> str:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        s3 = client()
        try:
            head = s3.head_object(Bucket=bucket, Key=key)
            if path is not None:
                s3.download_file(bucket, key, str(path))
        except OSError as error:
            raise UserError(f"{uri} cannot be kept in {path}", str(error), "give a folder by --cache_dir") from error
        except Exception as error:
            raise _unreachable(uri, error) from error
        return f"{head['ContentLength']} {head['ETag']}"

    return fetch


def _unreachable(uri: str, error: Exception) -> UserError:
    answer = getattr(error, "response", None) or {}
    code = str(answer.get("Error", {}).get("Code", ""))
    if code in ("404", "NoSuchKey", "NoSuchBucket"):
        return UserError(f"{uri} is not there", advice="check the bucket and the key, and that it was uploaded")
    if code in ("403", "AccessDenied"):
        return UserError(f"{uri} cannot be read", "access is denied", "allow these credentials s3:GetObject there")
    return UserError(f"{uri} cannot be read", f"{type(error).__name__}: {error}", "check the network, the region and the credentials")
