import json
import random
from itertools import pairwise

import pytest

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.rate_limiter import Rate, RateLimiter, machine_pace
from backends.sagemaker.aws.shared_pace import SharedPace, key_of
from backends.sagemaker.experiments.calls import PacedCalls, RefusedCallError
from backends.sagemaker.experiments.tracker import SageMakerTracker


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


def test_trackers_of_one_machine_together_call_no_oftener_than_one_alone_may(tmp_path):
    environ = {"OUTRIDER_LEASES": str(tmp_path), "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    clock, sent = [50.0], []

    def sleep(seconds):
        clock[0] += seconds

    def shared(operation):
        pace = machine_pace(operation, "eu-west-1", environ)
        return SharedPace(tmp_path, pace._key, pace._interval_s, random.Random(0), lambda: clock[0])  # noqa: SLF001

    trackers = [PacedCalls(Clients(), RateLimiter(random.Random(0), {}, shared), lambda: clock[0], sleep) for _ in range(2)]
    for _ in range(20):
        for one in trackers:
            one.sagemaker("UpdateTrialComponent")
            sent.append(clock[0])
    gaps = [later - earlier for earlier, later in pairwise(sent)]
    assert min(gaps) >= 0.0399  # 25 calls a second
    # Another operation, and the same in another region, have paces of their own.
    trackers[0].sagemaker("CreateTrial")
    assert machine_pace("UpdateTrialComponent", "us-east-1", environ).take()
    assert clock[0] == sent[-1]


def test_a_tracker_keeps_the_pace_of_its_machine(tmp_path, monkeypatch):
    environ = {"OUTRIDER_LEASES": str(tmp_path), "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_REGION": "eu-west-1"}
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    tracker = SageMakerTracker(environ)
    with pytest.raises(RefusedCallError):  # nobody is there
        tracker._calls.sagemaker("Search", Resource="Experiment")  # noqa: SLF001
    assert key_of("Search", "eu-west-1", "http://127.0.0.1:1") in json.loads((tmp_path / "calls.json").read_text())
