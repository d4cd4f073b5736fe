"""What a job is told of a channel of data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFacts:
    """What is known of a channel's data.

    Args:
        format: of its files, e.g. `jpg` or `tar`; `labels`: where the label of a sample is: `folder`, `member`, `feature` or `none`.
        samples, classes: how many there are; `size_bytes`: of all files. None where nobody counted.
        content: of a sample: `images`, `rows` or `bytes`; empty where nobody knows.
    """

    format: str = ""
    labels: str = ""
    samples: int | None = None
    classes: int | None = None
    size_bytes: int | None = None
    content: str = ""


@dataclass(frozen=True)
class JobInput:
    """One data channel of a job.

    Args:
        name: channel name, e.g. `train`.
        dataset: the data set's name in the definition.
        layout: `files`, `shards`, `records`, `table` or `chunks`.
        input_mode: how the back-end materialises it: `local`, `file`, `fastfile`, `pipe`, `fsx`, or `none` (only the URI is passed).
        reader: how the workload reads it: `files`, `tar`, `records`, `memory`, `pipe`, `s3_map`, ..._iterable`, ...
        uri: a local path, or an `s3://` URI.
        facts: what is known of the data.
        requirements: packages that reading it takes, as pip knows them.
    """

    name: str
    dataset: str
    layout: str
    input_mode: str
    reader: str
    uri: str
    facts: DataFacts = DataFacts()
    requirements: tuple[str, ...] = ()
