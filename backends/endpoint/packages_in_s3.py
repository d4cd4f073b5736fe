"""Brings the packages of a deployment to S3: each archive once, each target as a copy within S3."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from backends.deployment import Deployment, ModelPackage
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.buckets import ensure_bucket
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import as_cloud_errors
from backends.sagemaker.jobs.options import Options

_THREADS = 8


class PackageStore:
    """Packages and targets of one experiment in its bucket; safe to use from several threads.

    Args:
        clients: of AWS.
        options: of the experiment.
        is_default_bucket: whether the bucket is the account's default one, which is made where it is missing.
    """

    def __init__(self, clients: Clients, options: Options, is_default_bucket: bool) -> None:
        self._clients, self._options, self._is_default = clients, options, is_default_bucket
        self._there: dict[str, str] = {}
        self._lock = threading.Lock()
        self._has_bucket = False

    def ensure_bucket(self) -> None:
        """Make the account's default bucket where it is missing; one that a user names has to be there."""
        with self._lock:
            if self._is_default and not self._has_bucket:
                account = self._clients.get("sts").get_caller_identity()["Account"]
                ensure_bucket(self._clients.get("s3"), self._options.bucket, self._options.region, account)
            self._has_bucket = True

    def prefix(self, endpoint: str) -> str:
        """Return the prefix of an endpoint's targets, with a slash at its end."""
        return s3.joined(self._options.prefix, "jobs", self._options.experiment, endpoint, "targets")

    def bring(self, endpoint: str, deployment: Deployment) -> str:
        """Upload what is not there yet, make the targets that are not there yet, and return the URI of the model's data.

        Args:
            endpoint: name of the endpoint.
            deployment: that it serves.

        Raises:
            UserError, CloudError: S3 refuses.
        """
        self.ensure_bucket()
        archives = {package.name: self._archive(package) for package in deployment.packages}
        if deployment.mode == "single":
            return next(iter(archives.values()))
        prefix, client, bucket = self.prefix(endpoint), self._clients.get("s3"), self._options.bucket
        there = {key.removeprefix(prefix) for key, _ in s3.objects(client, bucket, prefix)}
        wanted = [(target.name, archives[target.package.name]) for target in deployment.targets if target.name and target.name not in there]
        self._copy(client, prefix, wanted)
        return f"s3://{bucket}/{prefix}"

    def clear(self, endpoint: str) -> None:
        """Delete an endpoint's targets; raises as `bring`."""
        s3.delete_prefix(self._clients.get("s3"), self._options.bucket, self.prefix(endpoint))

    def _copy(self, client: Any, prefix: str, wanted: Iterable[tuple[str, str]]) -> None:
        def copy(item: tuple[str, str]) -> None:
            name, uri = item
            bucket, key = s3.split_uri(uri)
            with as_cloud_errors(f"{uri} cannot be copied to s3://{self._options.bucket}/{prefix}{name}"):
                client.copy_object(CopySource={"Bucket": bucket, "Key": key}, Bucket=self._options.bucket, Key=f"{prefix}{name}")

        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(copy, wanted))

    def _archive(self, package: ModelPackage) -> str:
        """Return the URI of a package's archive, uploaded where it is on this machine alone."""
        if package.uri:
            return package.uri
        with self._lock:
            known = self._there.get(package.sha256)
            if known is not None:
                return known
            client, bucket = self._clients.get("s3"), self._options.bucket
            key = f"{s3.joined(self._options.prefix, 'models', package.sha256)}{package.name}.tar.gz"
            if s3.head(client, bucket, key) is None:
                with Path(package.path).open("rb") as file:
                    s3.put(client, bucket, key, file)
            self._there[package.sha256] = f"s3://{bucket}/{key}"
            return self._there[package.sha256]
