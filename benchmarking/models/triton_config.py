"""The file config.pbtxt by which Triton knows a model, from one typed object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from backends.deployment import Tensor

BACKENDS: Mapping[str, str] = {"onnx": "onnxruntime_onnx", "pt": "pytorch_libtorch", "trt": "tensorrt_plan"}
"""What Triton calls our platforms."""

MODEL_FILES: Mapping[str, str] = {"onnx": "model.onnx", "pt": "model.pt", "trt": "model.plan"}
"""What Triton calls the file of a model in its version's folder."""

_THREADS: Mapping[str, str] = {"onnx": "intra_op_thread_count", "pt": "INTRA_OP_THREAD_COUNT"}
"""The parameter of each of Triton's back-ends that says how many threads compute one answer; TensorRT has none."""

_TYPES: Mapping[str, str] = {"BOOL": "TYPE_BOOL"}


@dataclass(frozen=True)
class TritonConfig:
    """How Triton serves a model.

    Args:
        name: of the model, and of its folder.
        platform: `onnx`, `pt` or `trt`.
        inputs, outputs: without the batch dimension, unless the model has none.
        max_batch_size: most samples of a request; 0 where the model has no batch dimension.
        instances: copies of the model on each device, which run side by side.
        device: `auto` (GPUs where there are any), `gpu` or `cpu`.
        batch_delay_us: for how long requests wait for others to be put together, in microseconds; None not to wait, and without
            preferred sizes not to put any together.
        preferred_batch_sizes: that are not waited for any longer.
        threads: that compute one answer; None for Triton's default.
        warm_up: whether one request of zeros is run when the model is loaded.
    """

    name: str
    platform: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    max_batch_size: int
    instances: int = 1
    device: str = "auto"
    batch_delay_us: int | None = None
    preferred_batch_sizes: tuple[int, ...] = ()
    threads: int | None = None
    warm_up: bool = False

    def text(self) -> str:
        """Return the file in the text format of protocol buffers (Triton's model_config.proto)."""
        lines = [f'name: "{self.name}"', f'platform: "{BACKENDS[self.platform]}"', f"max_batch_size: {self.max_batch_size}"]
        lines += [*_tensors("input", self.inputs), *_tensors("output", self.outputs)]
        # A TensorRT engine runs on GPUs alone.
        kind = "KIND_GPU" if self.platform == "trt" else f"KIND_{self.device.upper()}"
        lines += ["instance_group [", "  {", f"    count: {self.instances}", f"    kind: {kind}", "  }", "]"]
        if self.max_batch_size > 1 and (self.batch_delay_us is not None or self.preferred_batch_sizes):
            preferred = ", ".join(map(str, self.preferred_batch_sizes))
            sizes = [f"  preferred_batch_size: [ {preferred} ]"] if preferred else []
            delay = [] if self.batch_delay_us is None else [f"  max_queue_delay_microseconds: {self.batch_delay_us}"]
            lines += ["dynamic_batching {", *sizes, *delay, "}"]
        if self.threads is not None and self.platform in _THREADS:
            lines += ["parameters {", f'  key: "{_THREADS[self.platform]}"', f'  value: {{ string_value: "{self.threads}" }}', "}"]
        if self.warm_up:
            lines += self._warm_up()
        return "\n".join(lines) + "\n"

    def _warm_up(self) -> Iterator[str]:
        yield from ("model_warmup [", "  {", '    name: "first"', f"    batch_size: {max(1, self.max_batch_size)}")
        for one in self.inputs:
            yield from ("    inputs {", f'      key: "{one.name}"', "      value: {", f"        data_type: {_type_of(one)}")
            # Zeros need a size in each dimension; of a free one the least that there is.
            yield f"        dims: [ {', '.join(str(1 if size < 0 else size) for size in one.shape)} ]"
            yield from ("        zero_data: true", "      }", "    }")
        yield from ("  }", "]")


def _type_of(tensor: Tensor) -> str:
    return _TYPES.get(tensor.datatype, f"TYPE_{tensor.datatype}")


def _tensors(kind: str, tensors: Iterable[Tensor]) -> Iterator[str]:
    yield f"{kind} ["
    listed = [
        "\n".join(
            (
                "  {",
                f'    name: "{one.name}"',
                f"    data_type: {_type_of(one)}",
                # Triton takes no empty shape: a single number of each sample is a dimension of 1.
                f"    dims: [ {', '.join(map(str, one.shape or (1,)))} ]",
                *(() if one.shape else ("    reshape: { shape: [ ] }",)),
                "  }",
            )
        )
        for one in tensors
    ]
    yield ",\n".join(listed)
    yield "]"


def named_in(text: str) -> str | None:
    """Return the name that a config.pbtxt gives its model; None where it gives none."""
    found = re.search(r'^\s*name\s*:\s*("(?:[^"\\]|\\.)*")', text, re.MULTILINE)
    return None if found is None else str(json.loads(found[1]))
