"""The plan of a study: what was asked for laid over what its tag holds already, in an order and with shares that stay."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.kept_source import check_there
from benchmarking.archive.stored import experiments_of, load
from benchmarking.studies.money import groups, with_shares
from benchmarking.studies.order import in_order
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord
from benchmarking.studies.standing import spent_usd
from definitions.definition_hash import definition_hash
from definitions.resolve import Resolved, resolve
from definitions.show import render
from definitions.yaml_source import parse_yaml

_LIMIT = "budget.max_cost"
_SHARE = "its share of "


def adopted(tag: str, results_dir: Path) -> StudyRecord | None:
    """Return a tag that has no study.json as a study of the experiments that have a folder; None where they are not of one kind.

    Raises:
        UserError: an experiment whose files are damaged.
    """
    stored = [load(folder) for folder in experiments_of(results_dir / tag)]
    specs = [one.spec for one in stored]
    if not specs:
        return None
    kinds = {(one.definition.name, definition_hash(one.definition)) for one in specs}
    backends, arguments = {one.backend for one in specs}, [one.method_arguments for one in specs]
    if len(kinds) > len({name for name, _ in kinds}) or len(backends) > 1 or any(one != arguments[0] for one in arguments):
        return None
    limits = {one.definition.budget.max_cost for one in specs}
    flags = StudyFlags(backend=specs[0].backend, method_args=arguments[0], max_cost=limits.pop() if len(limits) == 1 else None)
    texts = {one.spec.definition.name: (one.folder / "definition.yaml").read_text(encoding="utf-8") for one in stored}
    return StudyRecord(flags, texts, tuple(in_order([planned(one) for one in specs], flags.order)))


def planned(spec: ExperimentSpec) -> PlannedExperiment:
    """Return an experiment as a study notes it, without a share."""
    name = spec.definition.name
    return PlannedExperiment(name, spec.method, spec.number, spec.seed, spec.hash, spec.hears_levels, spec.repeats)


def definition_of(study: StudyRecord, benchmark: str, settings: Sequence[str], methods: Sequence[str], environ: Mapping[str, str],
                  folder: Path) -> Resolved:  # fmt: skip
    """Return a benchmark's definition as the study holds it, with settings laid over.

    Args:
        study: that has it.
        benchmark: its name.
        settings: `key=value` texts, as after `--set`.
        methods: names of all known methods, to check those that the definition names.
        environ: of the controller.
        folder: of the tag, for messages.

    Raises:
        UserError: its source is gone, or a setting is wrong.
    """
    source = parse_yaml(study.definitions[benchmark], folder / "study.json")
    check_there(folder, source.data, settings, (folder / benchmark).glob("*/source/*/"))
    return resolve(source, study.flags.backend, settings, methods=methods, environ=environ)


def stored_definition(study: StudyRecord, benchmark: str, folder: Path) -> Resolved:
    """Return a benchmark's definition as the study holds it, for reading: its script and its method need not be there any more."""
    source = parse_yaml(study.definitions[benchmark], folder / "study.json")
    return resolve(source, study.flags.backend, check_files=False, keep_foreign=True)


def extended(
    known: StudyRecord | None,
    flags: StudyFlags,
    definitions: Mapping[str, Resolved],
    asked: Sequence[ExperimentSpec],
    left_out: Mapping[tuple[str, str], str],
    tag_folder: Path,
) -> StudyRecord:
    """Return a study with what was asked for added at its end, and the money shared.

    Args:
        known: what the tag holds; None where that is nothing.
        flags: what holds for all from now on.
        definitions: of the benchmarks that were asked for.
        asked: the experiments that were asked for.
        left_out: pairs that cannot be, and why.
        tag_folder: of the tag.

    Raises:
        UserError: the money is less than what is shared already.
    """
    there = () if known is None else known.experiments
    keys = {one.key for one in there}
    new = in_order([one for one in map(planned, asked) if one.key not in keys], flags.order)
    texts = {**({} if known is None else known.definitions), **_changed(known, definitions, tag_folder)}
    study = StudyRecord(
        flags,
        texts,
        (*there, *new),
        {**({} if known is None else known.left_out), **left_out},
        () if known is None else known.looks,
    )
    return _with_money(study, {name: one.definition.budget.max_cost for name, one in definitions.items()}, tag_folder)


def _changed(known: StudyRecord | None, definitions: Mapping[str, Resolved], tag_folder: Path) -> dict[str, str]:
    """Return the text of each definition that the study has not yet, or has otherwise: what stands there says where each value is from."""
    return {
        name: render(one)
        for name, one in definitions.items()
        if known is None or name not in known.definitions or stored_definition(known, name, tag_folder).definition != one.definition
    }


def with_limit(study: StudyRecord, limit_usd: float, before: StudyRecord | None, tag_folder: Path, aside_usd: float) -> StudyRecord:
    """Return a study with another limit of money for all of it, shared anew.

    Args:
        study: with shares of another limit.
        limit_usd: dollars that its experiments share.
        before: the study as it was, whose shares are fixed; None where it is new.
        tag_folder: of the tag.
        aside_usd: dollars of what was asked for that are for something else, for messages.

    Raises:
        UserError: it is less than what is fixed.
    """
    fixed = {} if before is None else {one.key: one.share_usd for one in before.experiments}
    bare = tuple(dataclasses.replace(one, share_usd=fixed.get(one.key)) for one in study.experiments)
    limited = dataclasses.replace(study, flags=dataclasses.replace(study.flags, max_cost=limit_usd), experiments=bare)
    has_shares = any(one.share_usd is not None for one in study.experiments)
    return _with_money(limited, {}, tag_folder, aside_usd) if has_shares else limited


def _with_money(study: StudyRecord, limits: Mapping[str, float | None], tag_folder: Path, aside_usd: float = 0.0) -> StudyRecord:
    """Return the study with the share of each experiment; `limits` are those of the benchmarks whose definitions are known."""
    if study.flags.shares == "first_come":
        return study
    shares: dict[tuple[str, str, int], float | None] = {one.key: one.share_usd for one in study.experiments}
    for group in groups(study.flags, study.experiments):
        if study.flags.max_cost is None and group[0].benchmark not in limits:
            continue
        limit = study.flags.max_cost if study.flags.max_cost is not None else limits[group[0].benchmark]
        is_new = limit is not None and all(one.share_usd is None for one in group)
        spent = [spent_usd(folder_of(tag_folder, one, study.flags.backend)) if is_new else 0.0 for one in group]
        found = with_shares(group, limit, spent, "max_cost", aside_usd)
        shares |= {one.key: share for one, share in zip(group, found, strict=True)}
    made = tuple(dataclasses.replace(one, share_usd=shares[one.key]) for one in study.experiments)
    return dataclasses.replace(study, experiments=made)


def folder_of(tag_folder: Path, one: PlannedExperiment, backend: str) -> Path:
    """Return the folder of an experiment."""
    return tag_folder / one.benchmark / f"{one.method}-{backend}-{one.number}"


def specs_of(study: StudyRecord, chosen: Sequence[PlannedExperiment], definitions: Mapping[str, Resolved], tag_folder: Path,
             ) -> list[ExperimentSpec]:  # fmt: skip
    """Return what identifies the chosen experiments, each with its share as its limit of money.

    Args:
        study: that they belong to.
        chosen: some of its experiments.
        definitions: of their benchmarks.
        tag_folder: of the tag.
    """
    made: dict[tuple[str, float | None], Resolved] = {}
    specs = []
    for one in chosen:
        limit = one.share_usd if one.share_usd is not None else study.flags.max_cost
        key = (one.benchmark, limit)
        if key not in made:
            made[key] = _limited(definitions[one.benchmark], limit, "" if one.share_usd is None else _share_text(study, one))
        specs.append(
            ExperimentSpec(
                made[key],
                one.method,
                one.seed,
                tag_folder.name,
                tag_folder.parent,
                dict(study.flags.method_args),
                one.number,
                hears_levels=one.hears_levels,
                repeats=one.repeats,
            )
        )
    return specs


def _limited(resolved: Resolved, limit_usd: float | None, share: str) -> Resolved:
    """Return a definition with a limit of money; `share` says of what it is a part, empty where it is the whole."""
    if limit_usd is None:
        return resolved
    limited = with_budget(resolved, resolved.definition.budget.model_copy(update={"max_cost": limit_usd}))
    return dataclasses.replace(limited, origins={**limited.origins, _LIMIT: share}) if share else limited


def _share_text(study: StudyRecord, one: PlannedExperiment) -> str:
    group = next(group for group in groups(study.flags, study.experiments) if one in group)
    whole_usd = math.fsum(other.share_usd or 0.0 for other in group)
    return f"{_SHARE}${whole_usd:.4g} for {len(group)} experiments"


def share_of(resolved: Resolved) -> str:
    """Return of what an experiment's limit of money is a share, in words; empty where it is none."""
    origin = resolved.origins.get(_LIMIT, "")
    return origin if origin.startswith(_SHARE) else ""


def with_budget(resolved: Resolved, budget: Any) -> Resolved:
    """Return a definition with another budget; where its values came from stays as it was."""
    return dataclasses.replace(resolved, definition=resolved.definition.model_copy(update={"budget": budget}))
