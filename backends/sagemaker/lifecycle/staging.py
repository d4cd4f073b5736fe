"""What has to be in place before a training job is created: code in S3, arguments, a checkpoint, room."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from backends.common.file_lock import locked_within
from backends.job_spec import JobSpec
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.buckets import ensure_bucket
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, failure_of
from backends.sagemaker.aws.known_quotas import QuotasOf
from backends.sagemaker.aws.lookups import SPOT, TRAINING
from backends.sagemaker.code.packing import pack
from backends.sagemaker.code.upload import upload_arguments, upload_code
from backends.sagemaker.experiments.job_config import JobConfigs
from backends.sagemaker.jobs.checkpoints import S3Checkpoints
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.request import arguments_fit, start_document, training_job
from backends.sagemaker.jobs.static_checks import named_instance_types
from backends.sagemaker.lifecycle.stop_watch import StopWatch
from backends.sagemaker.pools.capacity import jobs_within_quota
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

_UPLOADS = "uploads.lock"
_LONGEST_TURN_S = 60.0
"""After so many seconds an experiment uploads beside another one, which at worst is done twice."""


class Staging:
    """Brings things to where jobs find them; its slow methods run on threads.

    Args:
        options: of the experiment's jobs.
        clients: of AWS.
        source_dir: folder that travels.
        include: patterns of what travels though it would stay behind.
        own_bucket: whether the bucket is the account's default one, which is made where it is missing.
        watch: knows whether somebody asked from elsewhere that no job is created any more; None where nobody can.
        shared: folder in which processes of this user agree on who uploads first; None where this is the only one.
    """

    def __init__(
        self,
        options: Options,
        clients: Clients,
        source_dir: Path,
        include: Sequence[str] = (),
        *,
        own_bucket: bool = True,
        watch: StopWatch | None = None,
        shared: Path | None = None,
    ) -> None:
        self._options, self._clients, self._source_dir, self._own_bucket = options, clients, source_dir, own_bucket
        self._include, self._watch, self._shared = include, watch, shared
        self.code_uri: str | None = None

    def stage(self) -> str:
        """Upload the code unless it is there; raises `UserError` or `CloudError` where that is not possible."""
        self.ensure_bucket()
        package = pack(self._source_dir, self._include)
        with self._in_turn():
            self.code_uri = upload_code(package, self._clients.get("s3"), self._options.bucket, self._options.prefix)
        return self.code_uri

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Inside the block no other experiment uploads: those that begin together find what the first one has left."""
        with contextlib.ExitStack() as stack:
            if self._shared is not None:
                with contextlib.suppress(OSError, UserError):
                    stack.enter_context(locked_within(self._shared / _UPLOADS, _LONGEST_TURN_S))
            yield

    def ensure_bucket(self) -> None:
        """Make the account's default bucket where it is missing; one that the user named has to be there."""
        if self._own_bucket:
            ensure_bucket(self._clients.get("s3"), self._options.bucket, self._options.region)

    def creation(
        self, job: JobSpec, instance_type: str, checkpoints: S3Checkpoints, configs: JobConfigs | None = None
    ) -> Callable[[], Any]:
        """Return what creates a job, to be called on a thread, any number of times.

        What is returned raises `CloudError` of kind `MARKED`, and creates nothing, where somebody asked for the end of the experiment.

        Raises:
            UserError: the service would refuse it.
        """
        options, arguments_uri = self._options, None
        by_file = options.has_script and not arguments_fit(job, options.script, options.python)
        if by_file:
            arguments_uri = f"s3://{options.bucket}/{s3.joined(options.prefix, 'jobs', options.experiment, job.name)}"
        request = training_job(job, options, self.code_uri, arguments_uri, instance_type)

        copied = job.restore_from is None or job.restore_from == job.checkpoint

        def create() -> Any:
            nonlocal copied
            client = self._clients.get("s3")
            if not copied and job.restore_from is not None:
                # Once: where an earlier try did create the job without an answer, it is about to download this.
                checkpoints.copy(job.restore_from, job.checkpoint)
                copied = True
            if by_file:
                upload_arguments(start_document(job, options), client, options.bucket, options.prefix, options.experiment, job.name)
            sagemaker = self._clients.get("sagemaker", attempts=1)
            if self._watch is not None:
                # Right before the call, so that whoever leaves a mark need not wait for what has to be uploaded first.
                self._watch.check()
            config = None if configs is None else configs.config(job)
            if configs is None or config is None:
                return sagemaker.create_training_job(**request)
            try:
                return sagemaker.create_training_job(**request, ExperimentConfig=config)
            except Exception as error:
                failure = failure_of(error)
                if failure is None or not configs.is_cause(failure):
                    raise
                return sagemaker.create_training_job(**request)

        return create

    def jobs_within_quotas(
        self,
        definition: BenchmarkDefinition,
        instance_type: str,
        quotas: QuotasOf,
        unknown: int,
    ) -> dict[str, int]:
        """Return how many jobs of each of the definition's instance types, and of one more, quotas allow; `unknown` where none tells.

        Args:
            definition: names instance types.
            instance_type: the one more.
            quotas: looks them up by name.
            unknown: what stands for none.
        """
        types = {instance_type, *named_instance_types(definition)}
        form = SPOT if self._options.spot else TRAINING
        found = quotas(form.format(name) for name in types)
        if isinstance(found, CallFailure):
            return dict.fromkeys(types, unknown)
        return {name: jobs_within_quota(found.get(form.format(name)), 1, unknown) for name in types}
