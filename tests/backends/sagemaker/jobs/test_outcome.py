"""From Describe and the log to a verdict."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backends.failures import Cause, Outcome
from backends.sagemaker.jobs.outcome import JobEvidence, closed_event, failure, instance_type, stage_seconds


def evidence(**changes):
    given = {
        "job": "j",
        "at": 2000.0,
        "offset_s": 0.0,
        "stop_reason": None,
        "reports": 3,
        "exit_code": None,
        "tail": (),
        "usage": {},
        "asked_for": "ml.m5.large",
    }
    return JobEvidence(**(given | changes))


def described(status="Completed", secondary=None, **changes):
    given = {
        "TrainingJobStatus": status,
        "SecondaryStatus": secondary or status,
        "TrainingStartTime": datetime.fromtimestamp(1000.0, UTC),
        "TrainingEndTime": datetime.fromtimestamp(1090.0, UTC),
        "BillableTimeInSeconds": 90,
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 120},
    }
    return given | changes


def verdict(answer, **changes):
    found = closed_event(answer, evidence(**changes))
    return found.outcome, found.cause


@pytest.mark.parametrize(
    ("status", "secondary", "stop", "expected"),
    [
        ("Completed", None, None, (Outcome.COMPLETED, None)),
        ("Completed", None, Cause.SCHEDULER, (Outcome.COMPLETED, None)),
        ("Stopped", None, Cause.SCHEDULER, (Outcome.STOPPED, Cause.SCHEDULER)),
        ("Stopped", None, None, (Outcome.STOPPED, Cause.OUTSIDE)),
        ("Stopped", "MaxRuntimeExceeded", None, (Outcome.FAILED, Cause.TIME_OUT)),
        ("Stopped", "MaxWaitTimeExceeded", None, (Outcome.FAILED, Cause.SPOT)),
        ("Failed", None, Cause.BUDGET, (Outcome.STOPPED, Cause.BUDGET)),
    ],
)
def test_ends(status, secondary, stop, expected):
    assert verdict(described(status, secondary), stop_reason=stop) == expected


def test_a_script_that_failed_by_itself_before_the_order_to_stop_failed():
    answer = described("Failed", FailureReason="AlgorithmError: x, exit code: 3")
    assert verdict(answer, stop_reason=Cause.SCHEDULER, exit_code=3) == (Outcome.FAILED, Cause.SCRIPT_ERROR)


@pytest.mark.parametrize("exit_code", [143, -15])
def test_a_script_that_the_order_to_stop_ended_was_stopped(exit_code):
    answer = described("Failed", FailureReason="AlgorithmError: , exit code: 143")
    assert verdict(answer, stop_reason=Cause.SCHEDULER, exit_code=exit_code) == (Outcome.STOPPED, Cause.SCHEDULER)
    assert verdict(answer, exit_code=exit_code) == (Outcome.STOPPED, Cause.OUTSIDE)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("CapacityError: Unable to provision requested ML compute capacity.", Cause.CAPACITY),
        ("There is not enough capacity for instance type ml.p4d.24xlarge", Cause.CAPACITY),
        ("Insufficient instance capacity", Cause.CAPACITY),
        ("InternalServerError: We encountered an internal error.  Please try again.", Cause.SERVICE_ERROR),
        ("", Cause.SERVICE_ERROR),
        ("Something nobody has seen before", Cause.SERVICE_ERROR),
        ("ClientError: Data download failed: no such key", Cause.BAD_REQUEST),
        ("ClientError: Please use an instance type with more memory", Cause.OUT_OF_MEMORY),
        ("Spot instances were interrupted", Cause.SPOT),
        ("AlgorithmError: train.py ended with exit code 1, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: , exit code: 137", Cause.OUT_OF_MEMORY),
        ("AlgorithmError: , exit code: 139", Cause.SCRIPT_ERROR),
        # Words of the service's in the mouth of the script.
        ("AlgorithmError: RuntimeError: queue has insufficient capacity, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: InternalServerError of my database, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: KeyboardInterrupt in spot_prices.py, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: the script says no more", Cause.SCRIPT_ERROR),
        ("the container ended with exit code: 1", Cause.SCRIPT_ERROR),
        # What a path or a name holds.
        ("ClientError: Data download failed: s3://hotspot/interrupted-memory/capacityerror/x", Cause.BAD_REQUEST),
        ("ClientError: s3://b/please use an instance type with more memory", Cause.BAD_REQUEST),
        ("ClientError: spot of s3://unable to provision", Cause.BAD_REQUEST),
        ("AlgorithmError: the last exit code: 137 was kept, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: ValueError: MemoryError is no column of CUDA out of memory.csv, exit code: 1", Cause.SCRIPT_ERROR),
        ("AlgorithmError: MemoryError: Unable to allocate 40 GiB, exit code: 1", Cause.OUT_OF_MEMORY),
        ("AlgorithmError: interrupted record in spot instances interrupted.csv, exit code: 1", Cause.SCRIPT_ERROR),
        ("Insufficient instance capacity for s3://x", Cause.CAPACITY),
        (
            'AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "torch.OutOfMemoryError: CUDA out of memory.\n '
            'Tried"\nCommand "python t.py", exit code: 1',
            Cause.OUT_OF_MEMORY,
        ),
        (
            'AlgorithmError: ExecuteUserScriptError: ExitCode 1 ErrorMessage "KeyError: x" Command "python MemoryError.py", exit code: 1',
            Cause.SCRIPT_ERROR,
        ),
        ("Spot prices cannot be read", Cause.SERVICE_ERROR),
        ("The training was interrupted", Cause.SERVICE_ERROR),
    ],
)
def test_reasons(reason, expected):
    assert failure(reason, None, ())[0] is expected


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("InternalServerError: We encountered an internal error.", Cause.SERVICE_ERROR),
        ("CapacityError: none", Cause.CAPACITY),
        ("Something nobody has seen before", Cause.SCRIPT_ERROR),
        ("", Cause.SCRIPT_ERROR),
    ],
)
def test_a_script_that_says_how_it_ended_failed_itself_unless_the_service_says_what_it_did(reason, cause):
    assert failure(reason, 1, ())[0] is cause


def test_the_last_words_of_the_script_are_the_message():
    tail = ("Traceback (most recent call last):", "ImportError: No module named 'torchx'", "")
    assert failure("AlgorithmError: train.py ended with exit code 1, exit code: 1", 1, tail) == (
        Cause.SCRIPT_ERROR,
        "ImportError: No module named 'torchx'",
    )


def test_without_a_log_the_service_s_reason_is_the_message():
    reason = "AlgorithmError: t.py ended with exit code 3, exit code: 3"
    assert failure(reason, None, ())[1] == reason


def test_what_the_script_wrote_of_its_failure_is_the_message():
    tail = ("WARNING: destroying process group", "bye")
    assert failure("AlgorithmError: data set is empty: 0 rows, exit code: 1", 1, tail) == (Cause.SCRIPT_ERROR, "data set is empty: 0 rows")
    # Neither our entry point nor a framework's says more than the log does.
    assert failure("AlgorithmError: train it.py ended by signal SIGSEGV, exit code: 139", 139, tail)[1] == "ended by signal SIGSEGV"
    toolkit = 'AlgorithmError: ExecuteUserScriptError: ExitCode 1 ErrorMessage "" Command "python t.py", exit code: 1'
    assert failure(toolkit, 1, ("ValueError: bad",))[1] == "ValueError: bad"


def test_memory_that_the_log_tells_of_is_the_cause_whatever_the_script_wrote():
    tail = ("Traceback (most recent call last):", '  File "t.py", line 1, in <module>', "MemoryError")
    assert failure("AlgorithmError: training failed, exit code: 1", 1, tail) == (Cause.OUT_OF_MEMORY, "training failed")


def test_nobody_interrupts_what_is_no_spot_job():
    assert failure("Spot instances were interrupted", None, (), is_spot=False)[0] is Cause.SERVICE_ERROR
    answer = described("Failed", FailureReason="Spot instances were interrupted", EnableManagedSpotTraining=False)
    assert verdict(answer) == (Outcome.FAILED, Cause.SERVICE_ERROR)


def test_the_host_that_failed_is_named():
    answer = described("Failed", FailureReason="AlgorithmError: t.py ended with exit code 5, exit code: 5")
    found = closed_event(answer, evidence(exit_code=5, tail=("disk is full",), host="algo-2"))
    assert (found.cause, found.message) == (Cause.SCRIPT_ERROR, "algo-2: disk is full")


def test_reports_of_another_host_alone_are_said_to_be_there():
    found = closed_event(described(), evidence(reports=0, elsewhere=("algo-2", "algo-3")))
    assert (found.cause, found.message) == (
        Cause.NO_METRICS,
        "it ended well, but reported nothing; algo-2, algo-3 printed reports, but only those of the first host count",
    )


def test_the_signal_that_ended_the_script_is_named():
    assert failure("AlgorithmError: , exit code: 139", -11, ()) == (Cause.SCRIPT_ERROR, "AlgorithmError: , exit code: 139")
    assert failure("", -11, ("segfault ahead",)) == (Cause.SCRIPT_ERROR, "ended by signal SIGSEGV: segfault ahead")


@pytest.mark.parametrize("exit_code", [137, -9])
def test_a_script_that_was_killed_took_too_much_memory(exit_code):
    assert failure("AlgorithmError: ", exit_code, ())[0] is Cause.OUT_OF_MEMORY


def test_a_script_that_somebody_killed_is_told_by_the_kernels_count():
    assert failure("AlgorithmError: ", 137, (), kernel_kills=0)[0] is Cause.OUTSIDE
    assert failure("AlgorithmError: ", 137, (), kernel_kills=1)[0] is Cause.OUT_OF_MEMORY
    memory = ("RuntimeError: CUDA out of memory.",)
    assert failure("AlgorithmError: ", 137, memory, kernel_kills=0)[0] is Cause.OUT_OF_MEMORY


def test_a_failure_without_any_reason_says_so():
    assert failure("", None, ())[1] == "the training job failed, and the service gives no reason"
    assert failure("What is this?", None, ())[1] == "What is this?"


def test_memory_is_named_where_the_script_says_so():
    assert failure("AlgorithmError: , exit code: 1", None, ("torch.OutOfMemoryError: CUDA out of memory.",))[0] is Cause.OUT_OF_MEMORY


def test_success_without_a_report_is_a_failure_with_the_last_line():
    found = closed_event(described(), evidence(reports=0, tail=("loading", "nothing to do")))
    assert (found.outcome, found.cause, found.message) == (
        Outcome.FAILED,
        Cause.NO_METRICS,
        "it ended well, but reported nothing; its last line: nothing to do",
    )


def test_times_are_brought_to_our_clock_and_never_leave_the_job_s_life():
    found = closed_event(described(), evidence(offset_s=240.0))
    assert (found.started_at, found.ended_at) == (760.0, 850.0)
    ahead = closed_event(described(), evidence(at=1050.0))
    assert (ahead.started_at, ahead.ended_at) == (1000.0, 1050.0)
    endless = closed_event(described(TrainingEndTime=None), evidence(at=1050.0))
    assert (endless.started_at, endless.ended_at) == (1000.0, None)
    far = closed_event(described(), evidence(at=500.0))
    assert (far.started_at, far.ended_at) == (500.0, 500.0)


def test_billed_is_what_the_service_says_and_nothing_where_it_never_ran():
    assert closed_event(described(BillableTimeInSeconds=27), evidence()).billable_s == 27.0
    never = {"TrainingJobStatus": "Failed", "SecondaryStatus": "Failed", "FailureReason": "CapacityError: none"}
    found = closed_event(never, evidence())
    assert (found.billable_s, found.started_at, found.ended_at) == (0.0, None, None)


def test_what_it_ran_on_is_said_where_it_is_not_what_was_asked_for():
    other = {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1}
    assert closed_event(described(ResourceConfig=other), evidence()).instance_type == "ml.m5.xlarge"
    assert closed_event(described(), evidence()).instance_type is None
    assert instance_type({"ResourceConfig": {"InstanceType": "a", "SelectedInstanceType": "b"}}) == "b"


def test_seconds_in_a_stage_are_summed_over_lives_and_never_negative():
    steps = [
        ("Starting", 0, 5),
        ("Training", 5, 20),
        ("Interrupted", 20, 30),
        ("Starting", 30, 34),
        ("Training", 34, 33),
        ("Completed", 40, 40),
    ]
    answer = {
        "SecondaryStatusTransitions": [
            {"Status": s, "StartTime": datetime.fromtimestamp(a, UTC), "EndTime": datetime.fromtimestamp(b, UTC)} for s, a, b in steps
        ]
    }
    assert stage_seconds(answer) == {"Starting": 9.0, "Training": 15.0, "Interrupted": 10.0}


def test_a_log_whose_end_was_not_seen_is_said_where_the_job_ended_well():
    assert closed_event(described(), evidence(is_log_incomplete=True)).message == "log incomplete: its end was not seen"
    assert closed_event(described(), evidence(is_log_incomplete=True, reports=0)).message.endswith("; log incomplete: its end was not seen")
    assert closed_event(described("Stopped"), evidence(is_log_incomplete=True, stop_reason=Cause.SCHEDULER)).message == ""


def test_what_kept_metrics_from_being_found_is_said_of_jobs_that_ended_well():
    words = "2 lines took too long for the expression of 'loss' and were searched in part"
    end = closed_event(described(), evidence(remarks=(words,)))
    assert (end.outcome, end.message) == (Outcome.COMPLETED, f"metrics read in part: {words}")
    assert words in closed_event(described(), evidence(remarks=(words,), reports=0)).message
    failed = closed_event(described("Failed", FailureReason="AlgorithmError: x, exit code: 3"), evidence(remarks=(words,), exit_code=3))
    assert words not in failed.message
