"""Which jobs a warm worker may fork, and in which environment it starts."""

from __future__ import annotations

from pathlib import Path

from backends.common.command_line import StartCommand
from backends.processes.warm.eligibility import mark_placeholder, unlike, unsuitable, worker_environment


def test_who_may_be_forked_is_told_by_folder_and_environment() -> None:
    program = StartCommand(("python", "/x/train.py"), Path("/x/train.py"))
    first = {"PATH": "/bin", "OUTRIDER_JOB": "a", "SM_HPS": "{}", "OMP_NUM_THREADS": "1"}
    assert unsuitable(program, first) == ""
    assert unsuitable(StartCommand(("python", "-m", "a.b"), None, "a.b"), first) == ""
    assert "torchrun is no Python script or module" in unsuitable(StartCommand(("/v/bin/torchrun", "t.py")), first)
    # Of a first line `#!/usr/bin/env bash` the program is bash.
    for words in (("/usr/bin/env", "bash", "run.sh"), ("/usr/bin/env", "-S", "LR=1", "bash", "run.sh"), ("/bin/bash", "run.sh")):
        assert unsuitable(StartCommand(words), first) == "bash is no Python script or module that could be forked"
    assert unsuitable(StartCommand(("env",)), first).startswith("env is no Python")
    assert (
        unlike(first, "/x", "/x", first | {"OUTRIDER_JOB": "b", "SM_HPS": "1", "OMP_NUM_THREADS": "2", "CUDA_VISIBLE_DEVICES": "1"}) == ""
    )
    assert "another folder" in unlike(first, "/y", "/x", first)
    assert unlike(first, "/x", "/x", {"PATH": "/bin"}) == ""
    assert unlike(first, "/x", "/x", first | {"PATH": "/usr/bin"}).startswith("PATH has another value")
    assert unlike(first, "/x", "/x", first | {"NEW": ""}).startswith("NEW has another value")


def test_a_worker_starts_without_what_is_a_jobs_own_and_with_room_for_marks() -> None:
    job = {"HOME": "/h", "OUTRIDER_CONTROLLER": "outer.3;abc.7;", "OUTRIDER_JOB": "j", "SM_HPS": "{}", "CUDA_VISIBLE_DEVICES": "0"}
    found = worker_environment(job, "abc.7;", mark_placeholder("abc"))
    quiet = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    assert found == {"HOME": "/h", **quiet, "OUTRIDER_CONTROLLER": "outer.3;abc." + "-" * 24}
