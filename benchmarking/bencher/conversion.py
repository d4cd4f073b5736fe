"""From a file of SageMaker Bencher to a definition, and what of it has no counterpart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarking.bencher.data import dataset_of, mounted
from benchmarking.bencher.hyperparameters import PORTED, arguments_of
from benchmarking.bencher.reading import BencherFile
from definitions.errors import UserError

INGESTIONS = {"file": "file", "ffm": "fastfile", "pipe": "pipe", "fsx": "fsx", "s3tf": "s3_iterable"}
"""Their input modes -> ours."""

_FRAMEWORKS = {"tf": "tensorflow", "pt": "pytorch"}
_OF_TRIALS = ("script", "source_dir", "framework", "framework_version", "py_version", "image_uri")
_KNOWN_TRIAL = (*_OF_TRIALS, "volume_size", "instance_type", "instance_count", "max_run", "hyperparameters", "inputs")
_WITHOUT = {
    "output_prefix": "results are below --results_dir, what jobs leave below sagemaker.prefix",
    "clean": "each --experiment_tag is a run of its own, and none is deleted",
}
_LOCAL_TYPE = "local.2cpu"


@dataclass(frozen=True)
class Converted:
    """A definition as it is written to YAML.

    Args:
        data: its keys.
        trials: what the trials are called in Bencher's file, in the order of the definition's.
        notes: on each key that has no counterpart, a line each.
    """

    data: Mapping[str, Any]
    trials: Sequence[str]
    notes: Sequence[str]


def converted(file: BencherFile, scripts: Path) -> Converted:
    """Return the definition that a file of SageMaker Bencher amounts to.

    Args:
        file: what it says.
        scripts: folder of our script, which takes the place of Bencher's two; of any other script the folder is as the file says.

    Raises:
        UserError: trials have different scripts or frameworks, or something that no definition can say.
    """
    notes: list[str] = []
    program = _program(file)
    is_ported = program["script"] in PORTED
    trials = {name: _settings(name, trial, is_ported, notes) for name, trial in file.trials.items()}
    datasets = {name: dataset_of(name, given, notes) for name, given in file.datasets.items()}
    for settings in trials.values():
        if settings["ingestion"] == "fsx":
            name = settings["dataset"]
            datasets.setdefault(f"{name}-fsx", mounted(name, file.datasets[name], file.fsx, notes))
            settings["dataset"] = f"{name}-fsx"
    fixed, listed = _apart([*trials.values()])
    if len(listed) < len(trials):
        notes.append(f"{len(trials)} trials are {len(listed)} configurations: those that are alike are measured once, `repeats` times")
    data: dict[str, Any] = {"name": _name(file), "description": str(file.settings.get("description") or "Imported from SageMaker Bencher")}
    data |= _script(program, scripts, file.path, is_ported, notes)
    data |= {"arguments": fixed} if fixed else {}
    data |= {"trials": listed, "inputs": {"train": {}}, "datasets": datasets}
    repeats = file.settings.get("repeat") or 1
    data |= {"repeats": repeats, "order": file.settings.get("order") or "default"}
    data["objectives"] = {"cost_usd": "min", "samples_per_s": "max"} if is_ported else {"cost_usd": "min", "duration_s": "min"}
    longest = _largest(file, "max_run", notes)
    data["budget"] = {"max_num_trials": len(listed) * repeats, **({"max_run": longest} if longest else {})}
    data["local"] = _local(listed, fixed)
    data["sagemaker"] = _sagemaker(file, program, is_ported, notes)
    notes += [f"{key} has no counterpart: {_WITHOUT.get(key, 'it is not known')}" for key in file.settings if key not in _KNOWN_SETTINGS]
    return Converted(data, [*trials], [*dict.fromkeys(notes)])


_KNOWN_SETTINGS = ("name", "description", "role", "region", "bucket", "parallelism", "repeat", "order", "disable_profiler")


def _name(file: BencherFile) -> str:
    kept = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "_.-") else "-" for sign in str(file.settings["name"]))
    return kept.strip("-._")[:63] or "bencher"


def _program(file: BencherFile) -> dict[str, Any]:
    """Return what all trials run; raises `UserError` where they run several scripts, which is several definitions."""
    found: dict[str, Any] = {}
    for key in _OF_TRIALS:
        values: dict[str, list[str]] = {}
        for name, trial in file.trials.items():
            values.setdefault(repr(trial.get(key)), []).append(name)
        both = key == "script" and all(trial.get(key) in PORTED for trial in file.trials.values())
        ported = all(trial.get("script") in PORTED for trial in file.trials.values())
        if len(values) > 1 and not both and not ported:
            each = "; ".join(f"{value}: {', '.join(names)}" for value, names in values.items())
            raise UserError(f"{file.path}: trials differ in {key}", each, "a definition has one: split the file, and import each part")
        found[key] = next(iter(file.trials.values())).get(key)
    if not isinstance(found["script"], str):
        raise UserError(f"{file.path}: no script", "base_trial or each trial names one", "add it")
    return found


def _settings(name: str, trial: Mapping[str, Any], is_ported: bool, notes: list[str]) -> dict[str, Any]:
    """Return a trial as a configuration, arguments that all have included."""
    channels = dict(trial.get("inputs") or {})
    channel = "train" if "train" in channels else next(iter(channels))
    notes += [
        f"trial {name}: channel {other} has no counterpart: the script reads {channel} alone" for other in channels if other != channel
    ]
    mode = channels[channel].get("input_mode")
    if mode not in INGESTIONS:
        raise UserError(f"trial {name}: input mode {mode!r}", f"SageMaker Bencher knows {', '.join(INGESTIONS)}")
    notes += [f"{key} of trials has no counterpart" for key in trial if key not in _KNOWN_TRIAL]
    given = trial.get("hyperparameters") or {}
    arguments = arguments_of(given, notes) if is_ported else dict(given)
    instance = {key: trial[key] for key in ("instance_type", "instance_count") if trial.get(key) not in (None, 1)}
    return {**instance, "dataset": channels[channel]["dataset"], "ingestion": INGESTIONS[mode], **arguments}


def _apart(trials: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the arguments that all trials have alike, and each trial without them."""
    keep = ("dataset", "ingestion")
    alike = {key: value for key, value in trials[0].items() if key not in keep and all(key in one and one[key] == value for one in trials)}
    return alike, _distinct({key: value for key, value in one.items() if key not in alike} for one in trials)


def _distinct(trials: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for one in trials:
        if one not in found:
            found.append(one)
    return found


def _script(program: Mapping[str, Any], scripts: Path, path: Path, is_ported: bool, notes: list[str]) -> dict[str, Any]:
    if is_ported:
        notes.append(f"script: {program['script']} is ported: image_ingestion.py measures the same in PyTorch, on its own readers")
        return {"script": "image_ingestion.py", "source_dir": str(scripts)}
    notes.append(
        "script: it is told of its channels by OUTRIDER_CHANNEL_TRAIN, OUTRIDER_FORMAT_TRAIN, ..., not by INPUT_MODE_CHANNEL_TRAIN, ..."
    )
    folder = path.parent / str(program.get("source_dir") or ".")
    return {"script": program["script"], "source_dir": str(folder.resolve())}


def _largest(file: BencherFile, key: str, notes: list[str]) -> int | None:
    values = {trial[key] for trial in file.trials.values() if isinstance(trial.get(key), int)}
    if len(values) > 1:
        notes.append(f"{key} of trials differs: the largest, {max(values)}, holds for all")
    return max(values, default=None)


def _local(listed: Sequence[Mapping[str, Any]], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the block of this machine: no instances of a cloud, and its disk stands for a file system."""
    mounted_ = any(one["ingestion"] == "fsx" for one in listed)
    trials = []
    for one in listed:
        kept = {key: value for key, value in one.items() if key not in ("instance_type", "instance_count")}
        if kept["ingestion"] == "fsx":
            kept |= {"ingestion": "local", "dataset": kept["dataset"].removesuffix("-fsx")}
        trials.append(kept)
    block: dict[str, Any] = {"arguments": {"instance_type": _LOCAL_TYPE, **({"instance_count": 1} if "instance_count" in fixed else {})}}
    if [dict(one) for one in listed] != trials:
        block["trials"] = _distinct(trials)
    return block | ({"stands_for": {"ingestion": {"local": "FSx for Lustre"}}} if mounted_ else {})


def _sagemaker(file: BencherFile, program: Mapping[str, Any], is_ported: bool, notes: list[str]) -> dict[str, Any]:
    settings = file.settings
    found: dict[str, Any] = {key: settings[key] for key in ("role", "region", "bucket") if settings.get(key)}
    if "role" in found and not str(found["role"]).startswith("arn:"):
        notes.append(f"role: {found.pop('role')} is a name: give its ARN as sagemaker.role, or in OUTRIDER_ROLE")
    found["n_workers"] = settings.get("parallelism") or 1
    found["profiler"] = not settings.get("disable_profiler", False)
    volume = _largest(file, "volume_size", notes)
    found |= {"volume_gb": volume} if volume else {}
    groups, subnets = file.fsx.get("security_group_ids"), file.fsx.get("subnets")
    used = any(
        (channel or {}).get("input_mode") == "fsx" for trial in file.trials.values() for channel in (trial.get("inputs") or {}).values()
    )
    if used:
        found |= {"subnets": list(subnets or ()), "security_groups": list(groups or ())}
        found = {key: value for key, value in found.items() if value != []}
        for key, values in (("subnets", subnets), ("security_group_ids", groups)):
            if any("X" in str(value) for value in values or ()):
                notes.append(f"fsx.{key}: {', '.join(map(str, values or ()))} is a placeholder: put yours in its place")
    if is_ported:
        if program.get("framework") not in (None, "pt"):
            notes.append(
                f"framework {program['framework']} {program.get('framework_version') or ''}: PyTorch in its place".replace(" :", ":")
            )
        return found | {"framework": "pytorch", "framework_version": "2.9"}
    if program.get("image_uri"):
        return found | {"image": program["image_uri"]}
    framework = program.get("framework")
    if framework not in _FRAMEWORKS:
        raise UserError(f"{file.path}: framework {framework!r}", f"there are images of {', '.join(_FRAMEWORKS)}", "name an image_uri")
    versions = {key: str(program[key]) for key in ("framework_version", "py_version") if program.get(key)}
    return found | {"framework": _FRAMEWORKS[framework], **versions}
