"""The bodies that are sent: a model's reference, or numbers drawn by seed, as JSON or as binary tensors, of any number of rows."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from .answers import Expected
from .endpoint import ServedModel, TensorShape
from .tensors import BadTensorError, TensorValue, binary_body, json_body

JSON, BINARY = "json", "binary"
MOST_BYTES = 6_291_456
"""Of a request's body, as SageMaker's InvokeEndpoint takes it."""


@dataclass(frozen=True)
class RequestPayload:
    """One body, its content type, and what must be answered; `expected` is None where that is learnt from the first answer."""

    body: bytes
    content_type: str
    expected: Expected | None


def make_payloads(model: ServedModel, kind: str, count: int, rows: int, seed: int) -> tuple[RequestPayload, ...]:
    """Return the payloads for a model, (count,).

    The first is the model's reference where it has one; the others are drawn, each number from the range of the reference's.

    Args:
        model: what is called.
        kind: `json` or `binary`.
        count: how many different ones, at least 1.
        rows: of each request, where the model has a batch dimension.
        seed: of the numbers.

    Raises:
        SystemExit: more rows than the model takes, a datatype that is not known, or a body above 6,291,456 bytes.
    """
    if kind not in (JSON, BINARY):
        raise SystemExit(f"payload {kind!r}: it is json or binary")
    if count < 1 or rows < 1:
        raise SystemExit(f"payloads {count}, batch {rows}: both are whole numbers from 1")
    if rows > max(1, model.max_batch_size):
        raise SystemExit(f"batch {rows}: the model takes {max(1, model.max_batch_size)} rows a request at most (its max_batch_size)")
    made = []
    for number in range(count):
        rng = random.Random(f"payload {seed} {number}")
        inputs = [_input(shape, model, rows, rng if number or not model.reference_inputs else None) for shape in model.inputs]
        try:
            body, content_type = json_body(inputs) if kind == JSON else binary_body(inputs, [one.name for one in model.outputs])
        except (BadTensorError, ValueError) as error:
            raise SystemExit(f"payload {kind}: {error}") from error
        if len(body) > MOST_BYTES:
            raise SystemExit(
                f"payload {kind} with batch {rows}: {len(body):,} bytes; an endpoint takes {MOST_BYTES:,} at most. "
                "Send fewer rows, or binary tensors"
            )
        made.append(RequestPayload(body, content_type, _expected(model, rows) if not number and model.reference_inputs else None))
    return tuple(made)


def declared(model: ServedModel, rows: int) -> Expected:
    """Return the shapes that any answer of a model has; sizes that are free stay -1."""
    front = (rows,) if model.max_batch_size else ()
    return Expected(tuple(TensorValue(one.name, one.datatype, (*front, *one.shape), ()) for one in model.outputs), exact=False)


def _expected(model: ServedModel, rows: int) -> Expected | None:
    if not model.reference_outputs:
        return None
    outputs = tuple(_with_rows(one, rows, bool(model.max_batch_size)) for one in model.reference_outputs)
    return Expected(outputs, model.absolute, model.relative)


def _with_rows(tensor: TensorValue, rows: int, has_rows: bool) -> TensorValue:
    """Return a tensor with this many rows, those of the reference again and again."""
    if not has_rows or not tensor.shape:
        return tensor
    each = len(tensor.data) // tensor.shape[0] if tensor.shape[0] else 0
    data: list[float] = []
    for row in range(rows):
        at = row % max(1, tensor.shape[0]) * each
        data += tensor.data[at : at + each]
    return TensorValue(tensor.name, tensor.datatype, (rows, *tensor.shape[1:]), data)


def _input(shape: TensorShape, model: ServedModel, rows: int, rng: random.Random | None) -> TensorValue:
    known = next((one for one in model.reference_inputs if one.name == shape.name), None)
    if rng is None and known is not None:
        return _with_rows(known, rows, bool(model.max_batch_size))
    sizes = _sizes(shape, known, bool(model.max_batch_size))
    whole = ((rows,) if model.max_batch_size else ()) + sizes
    return TensorValue(shape.name, shape.datatype, whole, _numbers(shape, known, math.prod(whole), rng or random.Random(0)))


def _sizes(shape: TensorShape, known: TensorValue | None, has_rows: bool) -> tuple[int, ...]:
    if known is not None:
        return known.shape[1:] if has_rows else known.shape
    return tuple(size if size >= 0 else 1 for size in shape.shape)


def _numbers(shape: TensorShape, known: TensorValue | None, count: int, rng: random.Random) -> Sequence[float]:
    low, high = (min(known.data), max(known.data)) if known is not None and known.data else (0, 1)
    if shape.datatype == "BOOL":
        return [rng.random() < 0.5 for _ in range(count)]
    if shape.datatype.startswith("FP"):
        return [round(low + (high - low) * rng.random(), 4) for _ in range(count)]
    return [rng.randint(int(low), int(high)) for _ in range(count)]
