"""A package's config.pbtxt as that of Triton's Python back-end. Pure."""

from __future__ import annotations

import json

from backends.serving.pbtxt import ModelConfig, TensorConfig


def python_config(name: str, config: ModelConfig, max_batch_size: int | None, batch_delay_ms: float) -> str:
    """Return a configuration in text form.

    Args:
        name: of the model within the server, which is its folder's.
        config: of the package.
        max_batch_size: rows at once, in place of the package's; None to keep that.
        batch_delay_ms: milliseconds that a request may wait for others, in place of the package's; 0 to keep that.
    """
    rows = config.max_batch_size if max_batch_size is None else max_batch_size
    lines = [f"name: {json.dumps(name)}", 'backend: "python"', f"max_batch_size: {rows}"]
    lines += [_tensor("input", one) for one in config.inputs]
    lines += [_tensor("output", one) for one in config.outputs]
    lines.append(f"instance_group [ {{ count: {config.instances or 1} kind: KIND_CPU }} ]")
    delay_ms = batch_delay_ms or config.batch_delay_ms or 0.0
    if rows > 1 and (batch_delay_ms > 0 or config.is_batched):
        preferred = [size for size in config.preferred if size <= rows]
        wanted = f"preferred_batch_size: [ {', '.join(map(str, preferred))} ] " if preferred else ""
        lines.append(f"dynamic_batching {{ {wanted}max_queue_delay_microseconds: {round(1000 * delay_ms)} }}")
    return "\n".join(lines) + "\n"


def _tensor(kind: str, tensor: TensorConfig) -> str:
    dims = ", ".join(map(str, tensor.dims))
    return f"{kind} {{ name: {json.dumps(tensor.name)} data_type: TYPE_{tensor.datatype} dims: [ {dims} ] }}"
