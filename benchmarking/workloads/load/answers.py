"""Whether an answer is what was asked for, and what is wrong with it otherwise: every answer is read, none is taken on trust."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from .http_answer import HttpAnswer
from .tensors import BadTensorError, TensorValue, outputs_of

LATE, UNANSWERED = "late", "unanswered"
"""No answer within the time limit; none when the load ended."""
DENIED = "denied"
"""The service does not take who asks; says nothing of the endpoint."""
MODEL_TOO_LARGE = "model_too_large"
"""The endpoint unloaded what it could, and its container still had no memory for the model (507 behind a 424)."""
EMPTY, MALFORMED, SHAPE, NUMBERS = "empty", "malformed", "shape", "numbers"
_DENIALS = (
    "AccessDeniedException", "ExpiredTokenException", "IncompleteSignature", "InvalidClientTokenId", "InvalidSignatureException",
    "MissingAuthenticationToken", "UnrecognizedClientException",
)  # fmt: skip
"""Types of errors that services of AWS tell in a header, whatever status goes with them."""
_ERROR_TYPE = "x-amzn-errortype"
_MODEL_ERROR, _NO_MEMORY = 424, 507
_BY_STATUS = {
    403: DENIED,
    413: "too_large_request",
    _MODEL_ERROR: "model_error",
    429: "not_ready",
    503: "unavailable",
    _NO_MEMORY: "no_memory",
}


@dataclass(frozen=True)
class Expected:
    """What an answer must hold.

    Args:
        outputs: tensors by which it is judged; their numbers are compared where `exact`, else only names, types and shapes.
        absolute, relative: how far a number may be off: absolute + relative x |expected|.
        exact: whether the numbers are known.
    """

    outputs: tuple[TensorValue, ...]
    absolute: float = 1e-4
    relative: float = 1e-3
    exact: bool = True


def kind_of_status(status: int) -> str:
    """Return the kind of error that a status is; empty for 200. A redirect is an error too: none is followed."""
    return "" if status == 200 else _BY_STATUS.get(status, f"status_{status}")


def _told_by_service(answer: HttpAnswer) -> str:
    """Return the kind of error that an answer's header or body tells and its status does not; empty where they tell none."""
    if answer.headers.get(_ERROR_TYPE, "").partition(":")[0] in _DENIALS:
        return DENIED
    if answer.status != _MODEL_ERROR:
        return ""
    try:
        said = json.loads(answer.body)
    except ValueError:
        return ""
    return MODEL_TOO_LARGE if isinstance(said, dict) and said.get("OriginalStatusCode") == _NO_MEMORY else ""


class AnswerCheck:
    """Judges the answers to one payload of one model; equal bodies are read once.

    Args:
        declared: names, types and shapes that the model is said to answer with.
        expected: the numbers too; None where they are learnt from the first answer of the declared shape: what answers otherwise later
            is wrong then, or the first one was.
    """

    def __init__(self, declared: Expected, expected: Expected | None) -> None:
        self._declared, self._expected = declared, expected
        self._good: bytes | None = None

    def problem(self, answer: HttpAnswer) -> str:
        """Return the kind of error that an answer is; empty for one that is right."""
        wrong = kind_of_status(answer.status)
        if wrong:
            return _told_by_service(answer) or wrong
        if not answer.body:
            return EMPTY
        if answer.body == self._good:
            return ""
        try:
            outputs = outputs_of(answer.body, answer.headers)
        except BadTensorError:
            return MALFORMED
        wrong = difference(self._declared, outputs) or ("" if self._expected is None else difference(self._expected, outputs))
        if not wrong:
            self._good = answer.body
            if self._expected is None:
                self._expected = Expected(outputs)
        return wrong


def difference(expected: Expected, found: Sequence[TensorValue]) -> str:
    """Return `shape` or `numbers` where outputs are not what was expected, else an empty text."""
    by_name = {one.name: one for one in found}
    for wanted in expected.outputs:
        got = by_name.get(wanted.name)
        if got is None or got.datatype != wanted.datatype or not _fits(got.shape, wanted.shape):
            return SHAPE
        if expected.exact and not all(_is_near(a, b, expected) for a, b in zip(got.data, wanted.data, strict=True)):
            return NUMBERS
    return ""


def _fits(got: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether sizes are those that were expected; -1 stands for any."""
    return len(got) == len(wanted) and all(b in (a, -1) for a, b in zip(got, wanted, strict=True))


def _is_near(got: float, wanted: float, expected: Expected) -> bool:
    if got == wanted:
        return True
    if not (math.isfinite(got) and math.isfinite(wanted)):
        return math.isnan(got) and math.isnan(wanted)
    return abs(got - wanted) <= expected.absolute + expected.relative * abs(wanted)
