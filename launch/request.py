"""What a run was asked for, as data: built by the command line and by `outrider.run`, read by planning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from definitions import strict_json
from definitions.builtin_backends import DEFAULT


@dataclass(frozen=True)
class RunRequest:
    """What to run.

    Args:
        benchmark: names, paths of YAML files, what files or mappings say, or definitions.
        method: names; empty for each definition's default.
        backend: name of the back-end; empty for the default, or for that of the tag that goes on.
        num_seeds, start_seed: how many seeds (1), and the first one (0); None where that was not said.
        random_seed: master seed that all experiments' seeds are derived from (0); None where that was not said.
        settings: `key=value` texts that override or sweep keys of the definitions, later ones winning; those of
            a study know where they were written.
        method_args: arguments for the methods, over those of a variant.
        experiment_tag: shared by the experiments; made from date and hash where empty.
        resume: go on with the experiments of this tag.
        results_dir: folder of all results.
        cache_dir: folder for generated data sets.
        dry_run: only show what would run.
        verbose: log more.
        warm_start: tags of finished runs that a new experiment's method learns from, in place of those that its definition names.
        accept_changes: go on with a tag although its code is another than was measured.
        parallel: how many experiments of a study run at once, or `auto`; None for one after the other.
        track: kinds of trackers that are told of the experiments while they run.
        study: the study that what is not said here is taken from: True for the `study:` block of the definitions, the path of a study's
            file, or what such a file says; None for none.
        study_order, shares: as `StudyFlags` has them; empty where that was not said.
        skip_unfit: whether pairs of benchmark and method that cannot be are left out; None where that was not said.
        compare: options of the comparison at the end, as a study says them.
        launched_remotely: where the state of the run is kept, e.g. `s3://bucket/outrider/runs/TAG`; empty where it is in its folder alone.
    """

    benchmark: tuple[Any, ...] = ()
    method: tuple[str, ...] = ()
    backend: str = ""
    num_seeds: int | None = None
    start_seed: int | None = None
    random_seed: int | None = None
    settings: tuple[str, ...] = ()
    method_args: Mapping[str, Any] = field(default_factory=dict)
    experiment_tag: str = ""
    resume: str = ""
    results_dir: Path = Path("results")
    cache_dir: Path = Path("~/.cache/outrider")
    dry_run: bool = False
    verbose: bool = False
    accept_changes: bool = False
    warm_start: tuple[str, ...] = ()
    track: tuple[str, ...] = ()
    parallel: int | str | None = None
    study: Any = None
    study_order: str = ""
    shares: str = ""
    skip_unfit: bool | None = None
    compare: Mapping[str, Any] = field(default_factory=dict)
    launched_remotely: str = ""

    @property
    def backend_name(self) -> str:
        """The back-end of what is new."""
        return self.backend or DEFAULT

    @property
    def laid_over(self) -> tuple[str, ...]:
        """All that is laid over the definitions, as settings."""
        tags = strict_json.dumps(list(self.warm_start))
        return (*self.settings, f"warm_start={tags}") if self.warm_start else self.settings
