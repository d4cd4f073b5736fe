"""An experiment file of SageMaker Bencher, and the file of data sets that it may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from definitions.errors import UserError, did_you_mean
from definitions.yaml_source import read_yaml

_NEEDED = ("name", "base_trial", "trials", "datasets")


@dataclass(frozen=True)
class BencherFile:
    """What a file says.

    Args:
        path: of the file.
        settings: its keys but data sets, trials and FSx.
        trials: name -> the trial, laid over the base trial; listed ones are called t0, t1, ...
        datasets: those that the trials name.
        fsx: the block of that name; empty where there is none.
    """

    path: Path
    settings: Mapping[str, Any]
    trials: Mapping[str, Mapping[str, Any]]
    datasets: Mapping[str, Mapping[str, Any]]
    fsx: Mapping[str, Any] = field(default_factory=dict)


def read_bencher(path: Path) -> BencherFile:
    """Return what an experiment file of SageMaker Bencher says.

    Raises:
        UserError: it cannot be read, it is none, a key is there twice, or a trial names a data set that there is not.
    """
    data = _mapping(read_yaml(path).data, f"{path}")
    missing = [key for key in _NEEDED if not data.get(key)]
    if missing:
        raise UserError(f"{path}: {', '.join(missing)} missing", f"a file of SageMaker Bencher has {', '.join(_NEEDED)}")
    trials = {name: laid_over(data["base_trial"], trial) for name, trial in _named(data["trials"], path).items()}
    datasets = _datasets(data["datasets"], path)
    used: dict[str, Mapping[str, Any]] = {}
    for name, trial in trials.items():
        for channel, given in _mapping(trial.get("inputs") or {}, f"{path}: inputs of trial {name}").items():
            dataset = _mapping(given, f"{path}: trial {name}, channel {channel}").get("dataset")
            if not isinstance(dataset, str) or dataset not in datasets:
                raise UserError(
                    f"{path}: trial {name}, channel {channel}: there is no data set {dataset!r}",
                    f"there are {', '.join(datasets) or 'none'}",
                    did_you_mean(str(dataset), list(datasets)),
                )
            used[dataset] = datasets[dataset]
    if not used:
        raise UserError(f"{path}: no trial names a data set", "each has `inputs`, with a data set and an input mode for each channel")
    settings = {key: value for key, value in data.items() if key not in ("base_trial", "trials", "datasets", "fsx")}
    return BencherFile(path, settings, trials, used, _mapping(data.get("fsx") or {}, f"{path}: fsx"))


def laid_over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trial laid over the base trial: mappings key by key, all else replaced."""
    found = dict(base)
    for key, value in own.items():
        known = found.get(key)
        found[key] = laid_over(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return found


def _named(trials: Any, path: Path) -> dict[str, Mapping[str, Any]]:
    if isinstance(trials, list):
        trials = {f"t{number}": trial for number, trial in enumerate(trials)}
    if not isinstance(trials, Mapping):
        raise UserError(f"{path}: trials: a list of trials, or trials by name", f"{type(trials).__name__} was given")
    return {str(name): _mapping(trial, f"{path}: trial {name}") for name, trial in trials.items()}


def _datasets(given: Any, path: Path) -> dict[str, Mapping[str, Any]]:
    """Return data sets by name: as they stand in the file, or in another that it names, beside it or in a folder above it."""
    where = path
    if isinstance(given, str):
        places = [folder / given for folder in (path.parent, *path.resolve().parent.parents, Path.cwd())]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise UserError(
                f"{path}: datasets: there is no file {given}",
                "looked for beside the file, in all folders above it, and here",
                "copy it there, or write the data sets into the file",
            )
        where, given = found, read_yaml(found).data
    named = _mapping(given, f"{where}: datasets")
    return {str(name): _mapping(one, f"{where}: data set {name}") for name, one in named.items()}


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(f"{where}: keys and values are expected", f"{type(value).__name__} was given")
    return value
