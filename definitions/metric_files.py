"""Files that a script writes its metrics to, as a definition names them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from definitions.fields import Text
from definitions.file_source import RANKS, FileSource
from definitions.model import Model

Format = Literal["csv", "jsonl", "json", "tensorboard"]

_BY_ENDING = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}


class MetricFile(Model):
    """A file, or all that a pattern matches, that the script writes metrics to."""

    path: Text = Field(min_length=1, description="relative to where the job starts; may have `*`, `**` and places such as ${output}")
    format: Format | None = Field(None, description="default: what the ending of the path says")
    level: Text | None = Field(
        None, description="column, key or tag that says how far the job is; default: `reported_as` of the fidelity, of event files the step"
    )
    counts_from: Literal[0, 1] = Field(
        1, description="what the first level is called there; reports count what is done (default: as the fidelity)"
    )
    names: dict[str, Text] = Field({}, description="what a metric is called there, e.g. {val_acc: validation/acc}")

    @model_validator(mode="after")
    def _has_format(self) -> Self:
        if self.found_format is None:
            known = "csv, jsonl, json or tensorboard"
            raise ValueError(f"{self.path!r} has no ending that tells its format; write {{path: {self.path}, format: ...}} with {known}")
        return self

    @property
    def found_format(self) -> str | None:
        """The format given, else that of the path's ending; None where neither tells."""
        if self.format is not None or "tfevents" in self.path:
            return self.format or "tensorboard"
        return next((found for ending, found in _BY_ENDING.items() if self.path.endswith(ending)), None)


def _listed(value: Any) -> Any:
    """Return what `read` says as a list of mappings."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [{"path": item} if isinstance(item, str) else item for item in items]


Read = Annotated[tuple[MetricFile, ...], BeforeValidator(_listed)]


def file_sources(
    files: Iterable[MetricFile], paths: Iterable[str], level: str | None, objectives: Iterable[str], keys: Collection[str], first: int = 1
) -> tuple[FileSource, ...]:
    """Return what a job reads.

    Args:
        files: of the definition.
        paths: of these, with the job's own values filled in.
        level: what the fidelity is reported as; None where there is none.
        objectives: of the script.
        keys: of its arguments, which it may write beside its metrics.
        first: what the first level is called where a file does not say it.
    """
    wanted, ranks = tuple(objectives), tuple(name for name in RANKS if name not in keys)
    return tuple(_source(file, path, level, wanted, ranks, first) for file, path in zip(files, paths, strict=True))


def _source(file: MetricFile, path: str, level: str | None, wanted: tuple[str, ...], ranks: tuple[str, ...], first: int) -> FileSource:
    names: Mapping[str, str] = {theirs: ours for ours, theirs in file.names.items()}
    # Where a name is given to the level it is one of `names`, and so need not be said twice.
    theirs = file.level if file.level is not None else file.names.get(level) if level is not None else None
    form = str(file.found_format)
    if theirs is None and form != "tensorboard":
        theirs = level
    reported_as = level or (theirs and names.get(theirs)) or ""
    counts_from = file.counts_from if "counts_from" in file.model_fields_set else first
    return FileSource(path, form, theirs, reported_as, counts_from, names, wanted, ranks)
