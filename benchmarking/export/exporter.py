"""What exporters are given and what they do: the interface below every format of `outrider export --to`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from benchmarking.controller.journal import Journal
from benchmarking.controller.state import ExperimentState
from definitions.schema import BenchmarkDefinition


@dataclass(frozen=True)
class ExportedExperiment:
    """One experiment as exporters get it; its method and its back-end need not be installed any more.

    Args:
        tag: what the experiments of one command have in common; with `benchmark`, `method`, `backend` and `number` it names this one.
        method: its name; `method_arguments`: from the command line.
        number: which of the seeds it is; `seed`: the seed that the method got.
        backend: name of the back-end; `region`: whose prices count.
        folder: where the experiment is kept; it may be a read-only copy.
        definition: the resolved definition.
        state: all that its journal amounts to.
        journal: for reading, record by record; another process may be writing it.
        dollars: what its costs are: `real`, `emulated`, `nominal`, or empty where that is not known.
        environment: what environment.json says; empty where there is none.
        forecasts: of its canaries, the rows of forecasts.csv; empty for most experiments.
    """

    tag: str
    method: str
    number: int
    seed: int
    backend: str
    region: str
    folder: Path
    definition: BenchmarkDefinition
    state: ExperimentState = field(repr=False)
    journal: Journal = field(repr=False)
    method_arguments: Mapping[str, Any] = field(default_factory=dict)
    dollars: str = ""
    environment: Mapping[str, Any] = field(default_factory=dict, repr=False)
    forecasts: Sequence[Mapping[str, Any]] = field(default=(), repr=False)

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""
        return self.definition.name

    @property
    def title(self) -> str:
        """What the experiment is called in messages."""
        return f"{self.benchmark} x {self.method} x seed {self.number} on {self.backend}"


@dataclass(frozen=True)
class ExportContext:
    """What an exporter is made with.

    Args:
        tag: whose experiments it will get.
        environ: environment of the process: addresses and credentials of services are found there.
        folder: the tag's, or that of `--output`: for files that experiments have in common.
        say: takes a warning, a line for people.
    """

    tag: str
    folder: Path
    environ: Mapping[str, str]
    say: Callable[[str], None]


class Exporter(Protocol):
    """Brings the experiments of one tag into one format; a new one is made for each export.

    It does not change what it is given. Done twice it leaves what it left the first time, nothing twice.
    """

    writes_files: bool
    """Whether it leaves files in the folders that it is given; where not, these are not made and may be read-only."""

    def experiment(self, one: ExportedExperiment, folder: Path) -> Sequence[str]:
        """Export one experiment.

        Args:
            one: the experiment; its journal is closed after the call.
            folder: for its files; the experiment's own, or one like it below `--output`. Made where it is needed.

        Returns:
            What to tell: a line each, e.g. the paths of files.

        Raises:
            UserError: it cannot be exported; files that were there before stand, none is half written. The others are tried all the same.
        """
        ...

    def finish(self, left_out: Sequence[str]) -> Sequence[str]:
        """Export what the experiments have in common, after the last of them, and let go of connections.

        Args:
            left_out: experiments that were not exported, a sentence each: not started, unreadable, or refused by `experiment`.

        Returns:
            What to tell, as `experiment` does.

        Raises:
            UserError: it cannot be exported.
        """
        ...


ExporterFactory: TypeAlias = Callable[[ExportContext], Exporter]
