"""A job whose source lies elsewhere on the machine where it runs than where it was submitted. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from backends.job_spec import JobSpec


def moved(spec: JobSpec, source: str) -> JobSpec:
    """Return a job whose paths below its source folder are those of another folder with the same content.

    Args:
        spec: as it was submitted.
        source: the other folder, an absolute path.
    """
    before = spec.source_dir.rstrip("/")
    if not before:
        return spec

    def place(word: str) -> str:
        if word == before or word.startswith(before + "/"):
            return source + word[len(before) :]
        name, sign, value = word.partition("=")
        return f"{name}={place(value)}" if sign and name.startswith("-") and value.startswith(before) else word

    def all_of(words: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(place, words))

    return dataclasses.replace(
        spec,
        script=place(spec.script),
        source_dir=source,
        working_dir=place(spec.working_dir),
        arguments=all_of(spec.arguments),
        command=all_of(spec.command),
        prepare=all_of(spec.prepare),
        cleanup=all_of(spec.cleanup),
        environment={name: place(value) for name, value in spec.environment.items()},
    )
