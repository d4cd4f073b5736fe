"""TensorRT engines, made by `trtexec` in a training job on the type of instance that will serve them."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import tarfile
from dataclasses import replace
from typing import Any

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.common.leases_folder import leases_folder
from backends.engine_order import Billed, EngineOrder, Say
from backends.events import Closed, Noted, Rejected
from backends.failures import Outcome
from backends.job_input import JobInput
from backends.job_spec import JobSpec, Limits
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import as_cloud_errors
from backends.sagemaker.backend import SageMakerBackend
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.resolve_options import options_of
from backends.sagemaker.lifecycle.poll_intervals import AWS_INTERVALS, EMULATED_INTERVALS
from definitions.errors import UserError
from definitions.instances import price_of
from definitions.program import command
from definitions.quantities import size_text

TRTEXEC = "/usr/src/tensorrt/bin/trtexec"
"""Where NVIDIA's images have it."""

CHANNEL, ONNX, ENGINE = "model", "model.onnx", "model.plan"
_LOOK_S = 30.0
_LONGEST_PREFIX = 42


def build_engine(
    order: EngineOrder,
    context: BackendContext,
    say: Say = lambda line: None,
    billed: Billed = lambda job, instance_type, seconds: None,
) -> None:
    """Have an engine made, and put it to its target; returns when it is there.

    Its job's name follows from what is asked for: one that an earlier controller began goes on, and one that was completed is not run
    again.

    Args:
        order: what is to be made.
        context: of the experiment that needs it, by whose tag the job is found and stopped.
        say: called with what takes a while, and with what it cost.
        billed: told of its job, also where that fails.

    Raises:
        UserError: the job cannot be created, or failed; its log is told of.
        CloudError: AWS cannot be asked.
    """
    clients = Clients(context.definition.block(SageMakerBackend.block, SageMakerBlock).region, context.environ)
    options = _options(context, clients)
    uri = _uploaded(order, options, clients)
    definition = context.definition.model_copy(update={"endpoint": None, "models": {}, "metrics": None})
    stem = f"{(context.prefix or 'outrider')[:_LONGEST_PREFIX].rstrip('-')}-engine-{_digest(order, uri)}"
    backend = SageMakerBackend(
        definition,
        options,
        clients,
        stem,
        intervals=EMULATED_INTERVALS if clients.emulated else AWS_INTERVALS,
        logs_folder=context.folder / "logs" if clients.emulated else None,
        shared=leases_folder(context.environ),
    )
    try:
        backend.storage()
        closed = _made(backend, stem, uri, order, say, billed)
    finally:
        left = backend.close()
        if left:
            say(f"training job {', '.join(left)} could not be stopped and may still run; `{command('stop', '--tag', context.tag)}`")
    _check(closed, order)
    _fetch(clients.get("s3"), options, closed.job, order)
    size = size_text(order.target.stat().st_size)
    say(f"model {order.model}: engine of {size} after {closed.billable_s:.0f} billed seconds{_cost(closed, order, options.region)}")


def engine_job(order: EngineOrder, name: str, uri: str) -> JobSpec:
    """Return the job that makes an engine.

    Args:
        order: what is to be made.
        name: of the job.
        uri: `s3://` folder that holds the ONNX file.
    """
    paths = (f"--onnx=/opt/ml/input/data/{CHANNEL}/{ONNX}", f"--saveEngine=/opt/ml/model/{ENGINE}")
    return JobSpec(
        name,
        0,
        1,
        "",
        command=(TRTEXEC, *paths, *order.arguments),
        inputs=(JobInput(CHANNEL, order.model, "files", "file", "files", uri),),
        instance_type=order.instance_type,
        is_silent=True,
        limits=Limits(order.max_run_s),
    )


def _options(context: BackendContext, clients: Clients) -> Options:
    experiment = f"{context.tag}/{context.prefix}"
    with as_cloud_errors("AWS is asked whose account this is"):
        found = options_of(context.definition, SageMakerBackend.block, experiment, clients, context.environ)
    # The image's own program runs, once, on an instance that is there to the end.
    return replace(
        found, has_script=False, script="", python="", spot=False, keep_alive_s=0, metrics={}, console_metrics=False, profiler=False
    )


def _uploaded(order: EngineOrder, options: Options, clients: Clients) -> str:
    """Return the folder in S3 with the ONNX file, put there once for all engines that are made of it."""
    digest = hashlib.sha256(order.onnx.read_bytes()).hexdigest()
    folder = s3.joined(options.prefix, "models", digest)
    client: Any = clients.get("s3")
    with as_cloud_errors(f"model {order.model}: its ONNX file cannot be uploaded to s3://{options.bucket}/{folder}"):
        if s3.head(client, options.bucket, f"{folder}{ONNX}") is None:
            with order.onnx.open("rb") as file:
                s3.put(client, options.bucket, f"{folder}{ONNX}", file)
    return f"s3://{options.bucket}/{folder}"


def _digest(order: EngineOrder, uri: str) -> str:
    """Return what names an engine among those of an experiment: its ONNX file is in `uri`, by its content."""
    asked = json.dumps([uri, order.instance_type, *order.arguments])
    return hashlib.sha256(asked.encode()).hexdigest()[:8]


def _made(backend: SageMakerBackend, stem: str, uri: str, order: EngineOrder, say: Say, billed: Billed) -> Closed:
    """Return the end of the job that makes an engine: of the one that there is, unless that failed before anybody asked now."""
    began_at = backend.now()
    for number in itertools.count(1):
        name = f"{stem}-{number}"
        billed(name, order.instance_type, None)
        say(f"model {order.model}: its TensorRT engine is made on {order.instance_type} by training job {name}; minutes to half an hour")
        backend.adopt([AdoptedJob(engine_job(order, name, uri), began_at)], began_at)
        closed = _awaited(backend, name, order, say)
        billed(name, closed.instance_type or order.instance_type, closed.billable_s)
        if closed.outcome is Outcome.COMPLETED or closed.ended_at is None or closed.ended_at >= began_at:
            return closed
    raise AssertionError


def _awaited(backend: SageMakerBackend, name: str, order: EngineOrder, say: Say) -> Closed:
    while True:
        for event in backend.wait(_LOOK_S):
            if isinstance(event, Rejected):
                raise UserError(f"model {order.model} as trt: no engine could be asked for on {order.instance_type}", event.message)
            if isinstance(event, Noted) and event.text:
                say(event.text)
            if isinstance(event, Closed) and event.job == name:
                return event


def _check(closed: Closed, order: EngineOrder) -> None:
    if closed.outcome is Outcome.COMPLETED:
        return
    tail = [line for line in closed.log_tail if line.strip()][-5:]
    raise UserError(
        f"model {order.model} as trt: training job {closed.job} made no engine",
        "\n  ".join([closed.message or closed.outcome.value, *tail]),
        f"trtexec was given {' '.join(order.arguments)}",
    )


def _fetch(client: Any, options: Options, name: str, order: EngineOrder) -> None:
    """Take the engine out of what the job left in S3."""
    bucket, prefix = s3.split_uri(options.uri("output", options.experiment))
    key = f"{prefix}{name}/output/model.tar.gz"
    order.target.parent.mkdir(parents=True, exist_ok=True)
    archive, aside = order.target.with_suffix(".tar.gz"), order.target.with_suffix(".part")
    try:
        with as_cloud_errors(f"s3://{bucket}/{key} cannot be read"):
            client.download_file(bucket, key, str(archive))
        with tarfile.open(archive) as opened:
            stream = opened.extractfile(ENGINE)
            if stream is None:
                raise KeyError(ENGINE)
            with stream, aside.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except (KeyError, tarfile.TarError, OSError) as error:
        raise UserError(f"model {order.model} as trt", f"s3://{bucket}/{key} holds no {ENGINE}: {error}") from error
    finally:
        archive.unlink(missing_ok=True)
    aside.replace(order.target)


def _cost(closed: Closed, order: EngineOrder, region: str) -> str:
    price = price_of(closed.instance_type or order.instance_type, region)
    if price is None:
        return "; what that costs is not known"
    return f", {closed.billable_s * price.usd_per_hour / 3600:.4g} dollars, which count as what trials cost does"
