"""Failures are told apart by cause, and alike ones have one signature."""

from __future__ import annotations

import pytest

from backends.failures import Cause, classify_exit, says_killed, says_shared_memory, signature

OF_BUS_ERRORS = (
    "It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."  # as PyTorch says it
)


@pytest.mark.parametrize(
    ("exit_code", "tail", "cause", "message"),
    [
        (1, ["Traceback", "ValueError: bad"], Cause.SCRIPT_ERROR, "ValueError: bad"),
        (1, ["ValueError: bad", "", "  "], Cause.SCRIPT_ERROR, "ValueError: bad"),
        (3, [], Cause.SCRIPT_ERROR, "exit code 3"),
        (-11, [], Cause.SCRIPT_ERROR, "ended by signal SIGSEGV"),
        (-9, ["epoch 3"], Cause.OUTSIDE, "ended by SIGKILL, which neither this program nor the kernel sent"),
        (137, ["epoch 3"], Cause.OUTSIDE, "ended by SIGKILL, which neither this program nor the kernel sent"),
        (143, [], Cause.OUTSIDE, "ended by SIGTERM, which neither this program nor the kernel sent"),
        (255, [], Cause.SCRIPT_ERROR, "exit code 255"),
        (-11, ["epoch 3, loss 0.5"], Cause.SCRIPT_ERROR, "ended by signal SIGSEGV"),
        (139, ["x.sh: line 3: 71 Segmentation fault"], Cause.SCRIPT_ERROR, "ended by signal SIGSEGV: x.sh: line 3: 71 Segmentation fault"),
        (
            -6,
            ["python: x.c:3: f: Assertion `n' failed."],
            Cause.SCRIPT_ERROR,
            "ended by signal SIGABRT: python: x.c:3: f: Assertion `n' failed.",
        ),
        (2, ["no such data set: cifar11", "Terminated"], Cause.SCRIPT_ERROR, "no such data set: cifar11"),
        (2, ["no data", "/x/y.py:3: FutureWarning: old", "  f(x)", "UserWarning: z"], Cause.SCRIPT_ERROR, "no data"),
        (1, ["no data", "resource_tracker: There appear to be 1 leaked semaphore objects to clean up"], Cause.SCRIPT_ERROR, "no data"),
        (1, ["sys:1: DeprecationWarning: x", "Exception ignored in: <f>"], Cause.SCRIPT_ERROR, "exit code 1"),
        (1, ["warning: CUDA out of memory, a smaller batch is tried", "KeyError: 1"], Cause.SCRIPT_ERROR, "KeyError: 1"),
        (-99, [], Cause.SCRIPT_ERROR, "ended by signal 99"),
        (1, ["torch.OutOfMemoryError: CUDA out of memory."], Cause.OUT_OF_MEMORY, "torch.OutOfMemoryError: CUDA out of memory."),
        (1, ["MemoryError"], Cause.OUT_OF_MEMORY, "MemoryError"),
        (-6, ["terminate called: std::bad_alloc", "Aborted"], Cause.OUT_OF_MEMORY, "terminate called: std::bad_alloc"),
        (1, ["numpy.core._exceptions._ArrayMemoryError: Unable to allocate 40 GiB"], Cause.OUT_OF_MEMORY, None),
        (1, ["RuntimeError: Caught OutOfMemoryError in replica 0 on device 0."], Cause.OUT_OF_MEMORY, None),
        (1, ["RuntimeError: CUDA error: out of memory"], Cause.OUT_OF_MEMORY, None),
        (1, ["RuntimeError: [enforce fail at a.cpp:7] . DefaultCPUAllocator: can't allocate memory: x"], Cause.OUT_OF_MEMORY, None),
        (1, ["OSError: [Errno 12] Cannot allocate memory"], Cause.OUT_OF_MEMORY, None),
        (1, ["x.sh: fork: Cannot allocate memory"], Cause.OUT_OF_MEMORY, None),
        (
            1,
            ["RuntimeError: unable to allocate shared memory(shm) for file </torch_9>: No space left on device (28)"],
            Cause.OUT_OF_MEMORY,
            None,
        ),
        (1, [f"RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. {OF_BUS_ERRORS}"], Cause.OUT_OF_MEMORY, None),
        (1, ["RuntimeError: DataLoader worker (pid 9) is killed by signal: Segmentation fault."], Cause.SCRIPT_ERROR, None),
        # Words in what a user wrote, in a name or a path.
        (1, ["ValueError: no column MemoryError"], Cause.SCRIPT_ERROR, None),
        (1, ["KeyError: 'CUDA out of memory'"], Cause.SCRIPT_ERROR, None),
        (1, ["FileNotFoundError: [Errno 2] No such file: '/data/OutOfMemoryError/x'"], Cause.SCRIPT_ERROR, None),
        (1, ["skipped 3 lines with MemoryError: none is left"], Cause.SCRIPT_ERROR, None),
        (1, ["MemoryError was handled", "a", "b", "c", "d", "KeyError: 1"], Cause.SCRIPT_ERROR, "KeyError: 1"),
    ],
)
def test_an_exit_has_a_cause(exit_code: int, tail: list[str], cause: Cause, message: str | None) -> None:
    assert classify_exit(exit_code, tail) == (cause, message or tail[-1])


SUMMARY = '[outrider-summary]: {"phases_s": {"train": 0.0123}, "steps": 3}'


def test_what_the_reporter_prints_at_exit_is_no_cause() -> None:
    tails = [
        ["Traceback (most recent call last):", f"{error}", SUMMARY, "  " + SUMMARY, ""] for error in ("KeyError: 'a'", "TimeoutError: b")
    ]
    found = [classify_exit(1, tail) for tail in tails]
    assert found == [(Cause.SCRIPT_ERROR, "KeyError: 'a'"), (Cause.SCRIPT_ERROR, "TimeoutError: b")]
    assert len({signature(*one) for one in found}) == 2


def test_reports_and_summaries_do_not_hide_memory_that_ran_out() -> None:
    tail = ["torch.OutOfMemoryError: CUDA out of memory", *['[tune-metric]: {"loss": 1}'] * 6, "[outrider-end]: {}", SUMMARY]
    assert classify_exit(1, tail) == (Cause.OUT_OF_MEMORY, "torch.OutOfMemoryError: CUDA out of memory")


def test_a_program_that_only_reported_has_no_last_words() -> None:
    assert classify_exit(3, ['[tune-metric]: {"loss": 1}', SUMMARY]) == (Cause.SCRIPT_ERROR, "exit code 3")
    assert classify_exit(-11, [SUMMARY]) == (Cause.SCRIPT_ERROR, "ended by signal SIGSEGV")


def test_failures_of_one_kind_have_one_signature() -> None:
    first = signature(Cause.SCRIPT_ERROR, "FileNotFoundError: /data/run-1/x.csv at 0x7f01 line 12")
    second = signature(Cause.SCRIPT_ERROR, "FileNotFoundError: /other/y/z.csv at 0xab line 7")
    assert first == second
    assert first != signature(Cause.OUT_OF_MEMORY, "FileNotFoundError: /other/y/z.csv at 0xab line 7")
    assert first != signature(Cause.SCRIPT_ERROR, "ImportError: no module named torch")
    assert signature(Cause.SCRIPT_ERROR, "--amp: ignored explicit argument 'true'") == signature(
        Cause.SCRIPT_ERROR, "--amp: ignored explicit argument 'false'"
    )
    assert signature(Cause.SCRIPT_ERROR, "KeyError: 3", "a.py:f") != signature(Cause.SCRIPT_ERROR, "KeyError: 4", "a.py:g")


CHAIN = """Traceback (most recent call last):
  File "t.py", line 1, in load
MemoryError: no room

{joint}

Traceback (most recent call last):
  File "t.py", line 3, in main
RuntimeError: training failed"""


def test_an_exception_that_memory_that_ran_out_was_turned_into_is_one_of_memory() -> None:
    direct = CHAIN.format(joint="The above exception was the direct cause of the following exception:").splitlines()
    assert classify_exit(1, direct) == (Cause.OUT_OF_MEMORY, "RuntimeError: training failed, raised from MemoryError: no room")
    # What was raised while that was handled may have any reason.
    other = CHAIN.format(joint="During handling of the above exception, another exception occurred:").splitlines()
    assert classify_exit(1, other) == (Cause.SCRIPT_ERROR, "RuntimeError: training failed")
    # A third one goes back to the first, and what comes later is of its own.
    third = [*direct, "", "The above exception was the direct cause of the following exception:", "", *direct[6:8], "ValueError: no result"]
    assert classify_exit(1, third)[0] is Cause.OUT_OF_MEMORY
    later = [*direct, *direct[6:8], "KeyError: 'x'"]
    assert classify_exit(1, later) == (Cause.SCRIPT_ERROR, "KeyError: 'x'")


@pytest.mark.parametrize(
    ("message", "is_shared"),
    [
        (f"RuntimeError: DataLoader worker (pid 9) is killed by signal: Bus error. {OF_BUS_ERRORS}", True),
        ("ingestion.shared_memory.SharedMemoryError: batches of 38.0 MB need up to 342.0 MB", True),
        ("MemoryError: no room", False),
        ("ValueError: shared memory is off", False),
    ],
)
def test_what_says_that_shared_memory_ran_out(message: str, is_shared: bool) -> None:
    assert says_shared_memory(message) is is_shared


@pytest.mark.parametrize(
    ("line", "is_killed"),
    [
        ("RuntimeError: DataLoader worker (pid 77) is killed by signal: Killed. ", True),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal SIGKILL", True),
        ("run.sh: line 3:   512 Killed                  python train.py", True),
        ("A process in the process pool was terminated abruptly while the future was running or pending.", True),
        ("subprocess.CalledProcessError: Command 'x' died with <Signals.SIGKILL: 9>.", True),
        ("  exitcode  : -9 (pid: 77)", True),
        ("step 137 of 900, status 13799", False),
        ("Killed processes: none", False),
    ],
)
def test_what_says_that_another_process_was_killed(line: str, is_killed: bool) -> None:
    assert says_killed([line]) is is_killed
