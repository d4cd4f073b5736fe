import random

import pytest

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.rate_limiter import Rate, RateLimiter
from backends.sagemaker.experiments.calls import PacedCalls, RefusedCallError


class Clients:
    """Stands for AWS: answers each call with what it was asked, or fails as it is told."""

    def __init__(self, *failures):
        self.made, self.failures = [], list(failures)

    def get(self, service, attempts):
        assert attempts == 1
        return self

    def __getattr__(self, method):
        def call(**request):
            self.made.append((method, request))
            if self.failures:
                raise self.failures.pop(0)
            return request

        return call

    def renew(self):
        self.made.append(("renew", {}))


def refusal(code, message="no"):
    from botocore.exceptions import ClientError

    return ClientError({"Error": {"Code": code, "Message": message}}, "CreateTrial")


def paced(clients, rate=None):
    clock, slept = [0.0], []

    def sleep(seconds):
        slept.append(seconds)
        clock[0] += seconds

    limiter = RateLimiter(random.Random(0), {"CreateTrial": rate or Rate(2.0, 3, 2.0)})
    return PacedCalls(clients, limiter, lambda: clock[0], sleep), slept


def test_calls_of_one_operation_go_at_the_pace_of_the_limiter():
    clients = Clients()
    calls, slept = paced(clients)
    for number in range(7):
        calls.sagemaker("CreateTrial", TrialName=str(number))
    assert [name for name, _ in clients.made] == ["create_trial"] * 7
    assert slept == pytest.approx([0.5] * 4)


def test_a_throttled_call_is_not_repeated_and_the_next_one_waits():
    clients = Clients(refusal("ThrottlingException"))
    calls, slept = paced(clients)
    with pytest.raises(RefusedCallError) as caught:
        calls.sagemaker("CreateTrial")
    assert (caught.value.will_pass, len(clients.made)) == (True, 1)
    calls.sagemaker("CreateTrial")
    assert slept[0] >= 0.5


@pytest.mark.parametrize(
    ("code", "message", "will_pass", "taken", "missing", "full"),
    [
        ("ValidationException", "Trial with name (t) already exists.", False, True, False, False),
        ("ResourceNotFound", "Trial 't' does not exist.", False, False, True, False),
        ("ResourceLimitExceeded", "limit", False, False, False, True),
        ("AccessDeniedException", "no", False, False, False, False),
        ("InternalFailure", "no", True, False, False, False),
        ("ExpiredTokenException", "no", True, False, False, False),
    ],
)
def test_what_a_refusal_means(code, message, will_pass, taken, missing, full):
    clients = Clients(refusal(code, message))
    with pytest.raises(RefusedCallError) as caught:
        paced(clients)[0].sagemaker("CreateTrial")
    error = caught.value
    assert (error.will_pass, error.is_taken, error.is_missing, error.is_full) == (will_pass, taken, missing, full)
    assert (("renew", {}) in clients.made) is (code == "ExpiredTokenException")


def test_a_fault_of_ours_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError):
        paced(Clients(ZeroDivisionError()))[0].sagemaker("CreateTrial")


def test_a_failure_says_what_aws_said():
    error = RefusedCallError(CallFailure(FailureKind.DENIED, "CreateTrial", "AccessDenied", "not you"))
    assert str(error) == "CreateTrial: AccessDenied: not you"
