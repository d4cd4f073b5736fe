"""What one run lacks as requests of `runs/log-batch`, each within MLflow's limits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

MOST_ENTITIES = 1000
MOST_PARAMETERS = 100
MOST_TAGS = 100
MOST_BYTES = 900_000
"""Of a request, of which MLflow takes a million."""

SEQUENCE = "outrider.sequence"
"""Tag that says up to which record of the journal a run has everything."""


@dataclass(frozen=True)
class Metric:
    """One value as MLflow has it: `timestamp` in milliseconds."""

    name: str
    value: float
    timestamp: int
    step: int


@dataclass
class Batch:
    """One request."""

    metrics: list[Metric] = field(default_factory=list)
    parameters: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    size_bytes: int = 0

    @property
    def entities(self) -> int:
        """How many things it logs."""
        return len(self.metrics) + len(self.parameters) + len(self.tags)


def batches(parameters: Mapping[str, str], tags: Mapping[str, str], metrics: Sequence[Metric], sequence: int) -> Iterator[Batch]:
    """Yield requests that log all, as few as can be; the last one says up to which record this is.

    Args:
        parameters: names and values within MLflow's rules.
        tags: likewise.
        metrics: in the order of the journal.
        sequence: of the latest record whose points are among them.
    """
    batch = Batch()
    # A mark that came with anything but the last batch would keep back what a killed process did not send any more.
    marked = [(SEQUENCE, str(sequence))]
    rest = [*(("parameter", *item) for item in parameters.items()), *(("tag", *item) for item in tags.items() if item[0] != SEQUENCE)]
    for kind, name, text in rest:
        batch, full = _room(batch, len(name) + 4 * len(text) + 40, kind)
        if full is not None:
            yield full
        (batch.parameters if kind == "parameter" else batch.tags)[name] = text
    for metric in metrics:
        batch, full = _room(batch, len(metric.name) * 4 + 110, "metric")
        if full is not None:
            yield full
        batch.metrics.append(metric)
    batch, full = _room(batch, 80, "tag")
    if full is not None:
        yield full
    batch.tags.update(marked)
    yield batch


def _room(batch: Batch, size_bytes: int, kind: str) -> tuple[Batch, Batch | None]:
    """Return the batch that takes one more thing, and the one that is full then; None where none is."""
    is_full = (
        batch.entities >= MOST_ENTITIES
        or (kind == "parameter" and len(batch.parameters) >= MOST_PARAMETERS)
        or (kind == "tag" and len(batch.tags) >= MOST_TAGS)
        or batch.size_bytes + size_bytes > MOST_BYTES
    )
    taking = Batch() if is_full else batch
    taking.size_bytes += size_bytes
    return taking, batch if is_full else None
