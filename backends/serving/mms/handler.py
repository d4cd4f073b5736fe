"""What multi-model-server runs for a package of ONNX or TorchScript, by the protocol v2; copied beside the model as `handler.py`."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STATE: dict[str, Any] = {}
_BINARY = "application/vnd.sagemaker-triton.binary+json"


def handle(data: list[dict[str, Any]] | None, context: Any) -> list[bytes] | None:
    """Return the bodies of the answers; the model is loaded on the first call, which has no data."""
    if not _STATE:
        _STATE["model"] = _loaded(context.system_properties["model_dir"])
    if not data:
        return None
    return [_answered(number, one, context) for number, one in enumerate(data)]


def _loaded(folder: str) -> Any:
    with open(os.path.join(folder, "paths.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123 (before the path of imports is set)
        plan = json.load(file)
    sys.path[:0] = plan["first"]
    sys.path += plan["last"]
    from pathlib import Path

    from backends.serving.pbtxt import ModelConfig

    config = ModelConfig.read(Path(folder) / "config.pbtxt")
    rows = config.max_batch_size if plan["max_batch_size"] is None else plan["max_batch_size"]
    if (Path(folder) / "1" / "model.pt").is_file():
        from backends.serving.mms.torch_model import TorchScriptRunner

        return TorchScriptRunner(Path(folder), config, rows, plan["threads"])
    from backends.serving.ort.model import OrtModel

    return OrtModel(Path(folder), rows, plan["threads"])


def _answered(number: int, one: dict[str, Any], context: Any) -> bytes:
    from backends.serving.ort.tensors import BadRequestError, decode, encode

    kind = str(context.get_request_header(number, "Content-Type") or "")
    length = kind.partition("json-header-size=")[2].strip()
    try:
        request = decode(bytes(one.get("body") or one.get("data") or b""), int(length) if length.isdecimal() else None)
        _STATE["model"].check(request.arrays)
        body, header_bytes = encode("model", request, _STATE["model"].run(request.arrays))
    except BadRequestError as error:
        return _refused(number, context, 400, str(error))
    except RuntimeError as error:
        return _refused(number, context, 500, str(error))
    context.set_response_content_type(number, f"{_BINARY};json-header-size={header_bytes}" if header_bytes else "application/json")
    return body


def _refused(number: int, context: Any, status: int, words: str) -> bytes:
    context.set_response_status(code=status, phrase="error", idx=number)
    return json.dumps({"error": words}).encode()
