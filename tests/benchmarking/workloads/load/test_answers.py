import json

import pytest

from benchmarking.workloads.load.answers import AnswerCheck, Expected, kind_of_status
from benchmarking.workloads.load.http_answer import HttpAnswer
from benchmarking.workloads.load.tensors import TensorValue

SHAPES = Expected((TensorValue("y", "FP32", (2, -1), ()),), exact=False)
NUMBERS = Expected((TensorValue("y", "FP32", (2, 2), (1.0, 2.0, 3.0, 100.0)),), absolute=0.01, relative=0.001)


def answer(data=(1.0, 2.0, 3.0, 100.0), shape=(2, 2), status=200, name="y", datatype="FP32", body=None, kind=None):
    content = json.dumps({"outputs": [{"name": name, "datatype": datatype, "shape": shape, "data": list(data)}]}).encode()
    return HttpAnswer(status, {} if kind is None else {"x-amzn-errortype": kind}, content if body is None else body)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (answer(), ""),
        (answer((1.01, 2.0, 3.0, 100.1)), ""),
        (answer((1.02, 2.0, 3.0, 100.0)), "numbers"),
        (answer((1.0, 2.0, 3.0, 100.2)), "numbers"),
        (answer((float("nan"), 2.0, 3.0, 100.0)), "numbers"),
        (answer((1.0, 2.0), (1, 2)), "shape"),
        (answer((1.0, 2.0, 3.0, 4.0), (4,)), "shape"),
        (answer(name="z"), "shape"),
        (answer(datatype="FP16"), "shape"),
        (answer(body=b""), "empty"),
        (answer(body=b"{}"), "malformed"),
        (answer(body=b'{"outputs": []}'), "shape"),
        (answer(status=302), "status_302"),
        (answer(status=429), "not_ready"),
        (answer(status=424), "model_error"),
        (answer(status=424, body=b'{"OriginalStatusCode": 400}'), "model_error"),
        (answer(status=424, body=b"<html>"), "model_error"),
        (answer(status=424, body=b'{"OriginalStatusCode": 507}'), "model_too_large"),
        (answer(status=204), "status_204"),
        (answer(status=400, kind="ValidationError"), "status_400"),
        (answer(status=400, kind="ExpiredTokenException:http://internal.amazon.com/coral/com.amazon.coral.service/"), "denied"),
    ],
)
def test_what_is_wrong_with_an_answer(given, kind):
    check = AnswerCheck(SHAPES, NUMBERS)
    assert check.problem(given) == kind
    assert check.problem(answer()) == ""  # what was wrong before changes nothing


def test_where_numbers_are_not_known_the_first_answer_tells_them():
    check = AnswerCheck(SHAPES, None)
    assert check.problem(answer((), (2, 0), body=b"")) == "empty"
    assert check.problem(answer((1.0, 2.0), (2, 1))) == ""
    assert check.problem(answer((1.0, 2.0), (2, 1))) == ""
    assert check.problem(answer((1.0, 2.5), (2, 1))) == "numbers"


def test_a_first_answer_of_the_wrong_shape_teaches_nothing():
    check = AnswerCheck(SHAPES, None)
    assert check.problem(answer((1.0,), (1, 1))) == "shape"
    assert check.problem(answer((7.0, 2.0), (2, 1))) == ""


def test_statuses():
    assert [kind_of_status(status) for status in (200, 403, 500, 503, 507)] == ["", "denied", "status_500", "unavailable", "no_memory"]
