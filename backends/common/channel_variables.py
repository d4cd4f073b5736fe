"""The variables of the environment that tell a script about its channels, alike on every back-end."""

from __future__ import annotations

import re

from backends.job_input import JobInput


def channel_variables(channel: JobInput, place: str, distribution: str = "replicated") -> dict[str, str]:
    """Return what a script is told about one channel; what is not known is not set.

    Args:
        channel: of the job.
        place: where the script finds it: a path or a URI.
        distribution: `replicated` where each host of the job sees all of it, `sharded` where each gets a part of the objects.
    """
    facts = channel.facts
    found = {
        "CHANNEL": place,
        "READER": channel.reader,
        "INPUT_MODE": channel.input_mode,
        "LAYOUT": channel.layout,
        "DATASET": channel.dataset,
        "FORMAT": facts.format or None,
        "LABELS": facts.labels or None,
        "CONTENT": facts.content or None,
        "SAMPLES": facts.samples,
        "CLASSES": facts.classes,
        "BYTES": facts.size_bytes,
        "DISTRIBUTION": distribution,
    }
    suffix = variable_suffix(channel.name)
    return {f"OUTRIDER_{key}_{suffix}": str(value) for key, value in found.items() if value is not None}


def variable_suffix(name: str) -> str:
    """Return a channel's name as it ends the names of variables: `my-eval` is `MY_EVAL`."""
    return re.sub(r"\W", "_", name).upper()
