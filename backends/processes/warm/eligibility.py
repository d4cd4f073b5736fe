"""Which jobs a warm worker may fork, and what environment it is started with. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.common.command_line import StartCommand
from backends.common.gpus import VISIBLE
from backends.common.process_tree import MARK_VARIABLE
from backends.processes.warm.thread_pools import QUIET

_OWN_PREFIXES = ("OUTRIDER_", "SM_")
_OWN = (*VISIBLE, "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS")
_PINNING = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")
_MARK_LENGTH = 24


def mark_placeholder(token: str) -> str:
    """Return what stands in a worker's environment where each of its jobs writes its own mark; it begins like the marks."""
    return f"{token}.{'-' * _MARK_LENGTH}"


def worker_environment(job: Mapping[str, str], mark: str, placeholder: str) -> dict[str, str]:
    """Return the environment of a worker for jobs like this one: the job's, without what is the job's alone."""
    found = {name: value for name, value in job.items() if not name.startswith(_OWN_PREFIXES)}
    for name in VISIBLE:
        found.pop(name, None)
    return found | QUIET | {MARK_VARIABLE: job.get(MARK_VARIABLE, "").replace(mark, "") + placeholder}


def unsuitable(program: StartCommand, environment: Mapping[str, str]) -> str:
    """Return why a job is none for any warm worker, or nothing."""
    if program.alone:
        return program.alone
    if program.script is None and not program.module:
        return f"{_named(program.command)} is no Python script or module that could be forked"
    for name in _PINNING:
        if name in environment:
            return f"{name} ties threads to cores when libraries are loaded, before the job's cores are known"
    return ""


def _named(command: Sequence[str]) -> str:
    """Return the name of the program that a command starts: of `env bash run.sh` that is bash."""
    names = [Path(word).name for word in command if not word.startswith("-") and "=" not in word]
    return names[1] if names[:1] == ["env"] and len(names) > 1 else Path(command[0]).name


def unlike(first: Mapping[str, str], first_folder: str, folder: str, environment: Mapping[str, str]) -> str:
    """Return why the worker that was started for one job must not fork another, or nothing.

    Args:
        first: the environment of the job that the worker was started for.
        first_folder: the folder that this job's modules are imported from.
        folder: that of the other job.
        environment: of the other job.
    """
    if folder != first_folder:
        return f"what it runs lies in another folder ({folder}) than the first job's, so its imports may mean other modules"
    for name in sorted(first.keys() | environment.keys()):
        if name in _OWN or name.startswith(_OWN_PREFIXES):
            continue
        if first.get(name) != environment.get(name):
            return f"{name} has another value than in the first job, and may have been read by an import"
    return ""
