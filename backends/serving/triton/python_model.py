"""What Triton's Python back-end runs for a package of ONNX or TorchScript; copied beside the model as `model.py`, with `paths.json`.

The process that runs it ignores PYTHONPATH, so that this file extends the path of imports itself, before anything imports numpy.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (nothing may be imported yet that the path could change)


class TritonPythonModel:
    """The class of this name is what Triton looks for."""

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model; `args` as Triton gives them."""
        import numpy
        import triton_python_backend_utils

        self._numpy: Any = numpy
        self._triton: Any = triton_python_backend_utils
        config = json.loads(args["model_config"])
        self._inputs = [one["name"] for one in config["input"]]
        self._outputs = [one["name"] for one in config["output"]]
        self._has_rows = config.get("max_batch_size", 0) > 0
        onnx = os.path.join(_HERE, "model.onnx")  # noqa: PTH118
        self._run = self._of_onnx(onnx) if os.path.exists(onnx) else self._of_torch(os.path.join(_HERE, "model.pt"))  # noqa: PTH110, PTH118

    def execute(self, requests: list[Any]) -> list[Any]:
        """Return the responses to requests, those of equal shapes computed together."""
        read = self._triton.get_input_tensor_by_name
        sent = [[read(request, name).as_numpy() for name in self._inputs] for request in requests]
        groups: dict[Any, list[int]] = {}
        for number, arrays in enumerate(sent):
            shapes = tuple(array.shape[1:] for array in arrays) if self._has_rows else number
            groups.setdefault(shapes, []).append(number)
        responses = [None] * len(requests)
        for numbers in groups.values():
            for number, response in zip(numbers, self._together([sent[number] for number in numbers])):  # noqa: B905 (Python 3.8)
                responses[number] = response
        return responses

    def _together(self, requests: list[Any]) -> list[Any]:
        triton, numpy = self._triton, self._numpy
        try:
            found = self._run(requests[0] if len(requests) == 1 else [numpy.concatenate(column) for column in zip(*requests)])  # noqa: B905
        except Exception as error:  # noqa: BLE001 (each of them is to hear of it)
            return [triton.InferenceResponse(error=triton.TritonError(str(error))) for _ in requests]
        responses, at = [], 0
        for arrays in requests:
            rows = len(arrays[0]) if self._has_rows else 0
            parts = found if len(requests) == 1 else [array[at : at + rows] for array in found]
            at += rows
            tensors = [triton.Tensor(name, numpy.ascontiguousarray(part)) for name, part in zip(self._outputs, parts)]  # noqa: B905
            responses.append(triton.InferenceResponse(output_tensors=tensors))
        return responses

    def _of_onnx(self, path: str) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = _PLAN["threads"], 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda arrays: session.run(self._outputs, dict(zip(self._inputs, arrays)))  # noqa: B905

    def _of_torch(self, path: str) -> Any:
        import torch

        torch.set_num_threads(_PLAN["threads"])
        load: Any = torch.jit.load
        model = load(path, map_location="cpu").eval()

        def run(arrays: list[Any]) -> list[Any]:
            with torch.inference_mode():
                found = model(*(torch.from_numpy(self._numpy.array(array)) for array in arrays))
            return [one.numpy() for one in (found if isinstance(found, (tuple, list)) else [found])]

        return run


def _plan() -> dict[str, Any]:
    with open(os.path.join(_HERE, "paths.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        found: dict[str, Any] = json.load(file)
    # First what Triton's process must have, its numpy above all; last what only the model may need, as torch.
    sys.path[:0] = found["first"]
    sys.path += found["last"]
    return found


# Only where Triton runs it: the plan lies beside the copy.
_PLAN = _plan() if os.path.exists(os.path.join(_HERE, "paths.json")) else {}  # noqa: PTH110, PTH118
