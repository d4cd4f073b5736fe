"""From a model of a definition to the package that an endpoint loads: exported, or fetched and looked into, and kept by what it holds."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backends.common.aws_client import boto3_missing
from backends.deployment import ModelPackage, Tensor
from backends.engine_order import EngineBuilder
from benchmarking.models.engines import engine, half_reference, trtexec_arguments
from benchmarking.models.exported import Say, exported
from benchmarking.models.packaging import check_archive, file_sha256, write_archive
from benchmarking.models.requests import export_request
from benchmarking.models.triton_config import MODEL_FILES, TritonConfig
from definitions.errors import UserError
from definitions.models import ArchiveModel, EndpointModel, TensorSpec

PACKAGES = "packages"


@dataclass(frozen=True)
class Batching:
    """How requests for a model are put together.

    Args:
        max_batch_size: most samples; None for the model's own.
        delay_ms: for how long requests wait for others; 0 for none.
        threads: that compute one answer; None for the server's default.
    """

    max_batch_size: int | None = None
    delay_ms: float = 0.0
    threads: int | None = None


@dataclass(frozen=True)
class ModelSource:
    """Where models come from, and where what is made of them is kept.

    Args:
        cache: folder that is kept between runs.
        source_dir: of the definition, where modules of factories are.
        python: interpreter that has torch and what factories import.
        fetch: brings an object of S3, by its URI, to a file, and returns its size and version as text; with None for the file, that alone.
        brings_here: whether packages of S3 are needed on this machine.
        say: called with what takes a while.
        engine: makes TensorRT engines; None where the back-end makes none.
    """

    cache: Path
    source_dir: str = "."
    python: str = sys.executable
    fetch: Callable[[str, Path | None], str] | None = None
    brings_here: bool = True
    say: Say = lambda line: None
    engine: EngineBuilder | None = None


def package(
    name: str, model: EndpointModel, platform: str, batching: Batching, source: ModelSource, instance_type: str = ""
) -> ModelPackage:
    """Return a model's package for a platform, made or fetched where it is not there yet.

    Args:
        name: of the model in the definition.
        model: what it is.
        platform: one that it can be packaged for.
        batching: how requests are put together.
        source: see `ModelSource`.
        instance_type: that serves it, on which engines are made.

    Raises:
        UserError: the model cannot be made, fetched, exported, or packaged for this platform.
    """
    if platform not in model.platforms:
        raise UserError(f"model {name!r} as {platform}", f"it is {' or '.join(model.platforms)}", f"say platform {model.platforms[0]}")
    if isinstance(model, ArchiveModel):
        return _fetched(name, model, batching, source)
    most = model.max_batch_size if batching.max_batch_size is None or model.max_batch_size == 0 else batching.max_batch_size
    model = model.model_copy(update={"max_batch_size": most})
    request = export_request(model, platform, source.source_dir)
    found = exported(name, request, source.cache, python=source.python, say=source.say)
    file, reference = found.file, found.reference
    if platform == "trt":
        samples = {one["name"]: one["sample"] for one in request["inputs"] if "sample" in one}
        precision = getattr(model, "precision", "fp32")
        arguments = trtexec_arguments(found.inputs, samples, most, model.preferred_batch_sizes, precision)
        file = engine(name, found, arguments, instance_type, source.engine)
        reference = half_reference(found) if precision == "fp16" else reference
    config = TritonConfig(
        name,
        platform,
        found.inputs,
        found.outputs,
        most,
        batch_delay_us=round(1000 * batching.delay_ms) or None,
        preferred_batch_sizes=tuple(size for size in model.preferred_batch_sizes if size <= most),
        threads=batching.threads,
        warm_up=bool(getattr(model, "warm_up", False)),
    )
    path, digest = packed(found.folder if platform != "trt" else file.parent, config, file)
    return ModelPackage(name, str(path), "", digest, platform, found.inputs, found.outputs, most, str(reference))


def packed(folder: Path, config: TritonConfig, file: Path) -> tuple[Path, str]:
    """Return the archive of a model's file with a configuration, and its SHA-256; made now where it is not there yet.

    Args:
        folder: of the export, below which archives are kept.
        config: how it is served.
        file: of the model.
    """
    text = config.text()
    place = folder / PACKAGES / hashlib.sha256(text.encode()).hexdigest()[:16]
    path, noted = place / f"{config.name}.tar.gz", place / "sha256"
    if noted.is_file() and path.is_file():
        return path, noted.read_text(encoding="utf-8")
    try:
        place.mkdir(parents=True, exist_ok=True)
        digest = write_archive(path, config.name, text, {MODEL_FILES[config.platform]: file})
        # Last, so that what is there is whole.
        noted.write_text(digest, encoding="utf-8")
    except OSError as error:
        raise UserError(f"model {config.name!r} cannot be packaged in {place}", str(error), "give a folder by --cache_dir") from error
    return path, digest


def _fetched(name: str, model: ArchiveModel, batching: Batching, source: ModelSource) -> ModelPackage:
    """Return a package that is in S3 already."""
    inside = (batching.max_batch_size not in (None, model.max_batch_size)) or batching.delay_ms or batching.threads
    if inside and not source.brings_here:
        raise UserError(
            f"model {name!r}: max_batch_size, batch_delay_ms and server_threads",
            f"its package {model.uri} holds a config.pbtxt of its own, which says them",
            "leave them out of `endpoint` and of the space, or give the model itself",
        )
    if source.fetch is None:
        raise boto3_missing(f"model {name!r}: {model.uri}")
    version = source.fetch(model.uri, None)
    about = hashlib.sha256(f"{model.uri} {version}".encode()).hexdigest()
    inputs, outputs = _tensors(model.inputs), _tensors(model.outputs)
    if not source.brings_here:
        return ModelPackage(name, "", model.uri, about, model.platform, inputs, outputs, model.max_batch_size, "")
    path = source.cache / "models" / about[:24] / f"{name}.tar.gz"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}")
        source.say(f"model {name}: fetched from {model.uri}")
        source.fetch(model.uri, aside)
        check_archive(aside, name, model.platform)
        aside.replace(path)
    return ModelPackage(name, str(path), model.uri, file_sha256(path), model.platform, inputs, outputs, model.max_batch_size, "")


def _tensors(specs: tuple[TensorSpec, ...]) -> tuple[Tensor, ...]:
    return tuple(Tensor(one.name, one.datatype, one.shape) for one in specs)
