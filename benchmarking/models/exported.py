"""Exports that are kept: made by a process of its own where they are not there yet, by one at a time, and then only read."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.deployment import Tensor
from benchmarking.models.exporting import FAILED, REFERENCE, RESULT
from benchmarking.models.requests import request_key
from benchmarking.models.triton_config import MODEL_FILES
from definitions.errors import UserError

Say = Callable[[str], None]

ROOT = Path(__file__).resolve().parents[2]
_LONGEST_S = 3600.0
_LOG = "export.log"
_TAIL = 5


@dataclass(frozen=True)
class ExportedModel:
    """A model as a file that servers load.

    Args:
        folder: that it is kept in, where packages of it are kept too.
        file: of the model.
        reference: JSON of inputs and what torch answers to them.
        inputs, outputs: of the model, without the batch dimension.
        exporter: what made it; `compared_at`: the batches at which it answered as torch does.
    """

    folder: Path
    file: Path
    reference: Path
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    exporter: str
    compared_at: tuple[int, ...]


def exported(
    name: str, request: Mapping[str, Any], cache: Path, *, python: str = sys.executable, say: Say = lambda line: None
) -> ExportedModel:
    """Return the export of a request, made now where the cache does not have it.

    Args:
        name: of the model in the definition, for what is said.
        request: see `benchmarking.models.requests.export_request`.
        cache: folder of what is kept between runs, shared between processes.
        python: interpreter that has torch and what a factory imports.
        say: called with what takes a while.

    Raises:
        UserError: the model cannot be made, opened or exported, or does not answer as torch does.
    """
    key = request_key(request)
    folder = cache / "models" / key
    if not (folder / RESULT).is_file():
        try:
            with _alone(cache / "models", key):
                if not (folder / RESULT).is_file():
                    say(f"model {name}: exported for {request['platform']}, and compared with torch")
                    _make(name, request, folder, python)
        except OSError as error:
            raise UserError(f"model {name!r} cannot be exported to {folder}", str(error), "give a folder by --cache_dir") from error
    return _read(folder, request["platform"])


def _read(folder: Path, platform: str) -> ExportedModel:
    found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    inputs, outputs = (
        tuple(Tensor(one["name"], one["datatype"], tuple(one["shape"])) for one in found[side]) for side in ("inputs", "outputs")
    )
    file = folder / MODEL_FILES[platform]
    return ExportedModel(folder, file, folder / REFERENCE, inputs, outputs, found["exporter"], tuple(found["compared_at"]))


@contextlib.contextmanager
def _alone(folder: Path, key: str) -> Iterator[None]:
    import fcntl

    (folder / ".locks").mkdir(parents=True, exist_ok=True)
    with (folder / ".locks" / key).open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(name: str, request: Mapping[str, Any], folder: Path, python: str) -> None:
    making = folder.with_name(f".making-{folder.name}")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    (making / "request.json").write_text(json.dumps(dict(request)), encoding="utf-8")
    path = [str(ROOT), *([request["source_dir"]] if request.get("source_dir") else [])]
    own = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, *([own] if own else [])])}
    command = [python, "-m", "benchmarking.models.exporting", str(making / "request.json"), str(making)]
    with (making / _LOG).open("w", encoding="utf-8") as log:
        try:
            # In a folder of its own, so that no module of where Outrider was started comes before those that are meant.
            code = subprocess.run(
                command,
                env=environment,
                cwd=making,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=_LONGEST_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise UserError(f"model {name!r} was not exported within {_LONGEST_S:g} s", f"its log is {making / _LOG}") from None
    if code == 0 and (making / RESULT).is_file():
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
        return
    if (making / FAILED).is_file():
        raise UserError(f"model {name!r} as {request['platform']}", json.loads((making / FAILED).read_text(encoding="utf-8"))["fact"])
    lines = (making / _LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_TAIL:]
    ended = f"was killed by signal {-code}, as for lack of memory" if code < 0 else f"ended with code {code}"
    raise UserError(f"model {name!r} as {request['platform']}: the export {ended}", "\n  ".join(lines), f"its log is {making / _LOG}")
