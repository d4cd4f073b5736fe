"""Resolves a benchmark definition for one back-end: defaults < file < the back-end's block < `--set`; knows each value's origin."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from definitions.backend_description import BackendDescription
from definitions.backend_registry import backend_description, backend_names
from definitions.command import FILE_STYLES
from definitions.definition_hash import definition_hash
from definitions.draft import PYTHON, Draft, units
from definitions.errors import UserError, did_you_mean, nearest
from definitions.problems import Problem, complaint, dotted, problems_of
from definitions.schema import KEEP_FOREIGN, BenchmarkDefinition, ContradictionError, ForeignBlock, Overrides
from definitions.settings import apply_settings, is_given_now
from definitions.started import check_programs, script_of
from definitions.template import names_in, parse_template
from definitions.yaml_source import KeyPath, Source, SourceLocation, with_datasets

_MANY = 10_000


@dataclass(frozen=True)
class Resolved:
    """A definition made for one back-end, and where each of its values came from.

    Args:
        definition: block of `backend` merged into it, other blocks empty, paths absolute.
        origins: by dotted key: `default`, `demo.yaml:12`, `demo.yaml:40 (local)`, `--set`, `study.yaml:6 (study)`, `python`. A domain of
            `space`, a list and one trial (`trials.0`) are one value each.
        backend: the back-end's name.
    """

    definition: BenchmarkDefinition
    origins: Mapping[str, str]
    backend: str
    _hashes: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def hash_for(self, method: str) -> str:
        """Return `definition_hash` with a method, computed once for all experiments that share what was resolved."""
        return self._hashes.get(method) or self._hashes.setdefault(method, definition_hash(self.definition, method))


def resolve(
    source: Source,
    backend: str,
    settings: Sequence[str] = (),
    *,
    methods: Sequence[str] = (),
    check_files: bool = True,
    working_dir: Path | None = None,
    keep_foreign: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Resolve what a file says.

    Args:
        source: the file.
        backend: its block is merged.
        settings: `key=value` texts, as after `--set`.
        methods: names of all known methods, to check those that the definition names; empty for no check.
        check_files: whether the script must exist.
        working_dir: what relative paths in settings are relative to; the current folder where None.
        keep_foreign: whether back-ends may be named that are not installed, to read what was measured on them; their options are kept
            unchecked.
        environ: of the controller, by which a back-end knows whether its jobs run on this machine; nothing where None.

    Raises:
        UserError: anything wrong in the file (all problems in one message, with their lines), in a setting, a missing script, or a
            back-end that is not installed.
    """
    source = with_datasets(source)
    described = _described(backend, keep_foreign)
    context = KEEP_FOREIGN if keep_foreign else None
    _check_structure(source, context)
    return _Resolution(source.data, source.place, source.about, described, backend, working_dir or Path.cwd(), context, environ or {}).run(
        lambda path: source.file_of(path).parent, settings, methods, check_files
    )


def resolve_python(
    definition: BenchmarkDefinition,
    backend: str,
    settings: Sequence[str] = (),
    *,
    methods: Sequence[str] = (),
    check_files: bool = True,
    working_dir: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Resolve a definition built in Python, as `resolve` does; its relative paths are relative to `working_dir`."""
    folder = working_dir or Path.cwd()
    data = definition.model_dump(exclude_unset=True)
    about = f"benchmark {definition.name!r}"
    return _Resolution(data, lambda _: PYTHON, about, _described(backend, False), backend, folder, None, environ or {}).run(
        lambda _: folder, settings, methods, check_files
    )


def _described(backend: str, keep_foreign: bool) -> BackendDescription[Any] | None:
    """Return the description of the back-end that is resolved for; None where it need not be installed, and is not."""
    try:
        return backend_description(backend)
    except UserError:
        if keep_foreign:
            return None
        raise


class _Resolution:
    """One run through the layers; `described` is None where the back-end is not installed."""

    def __init__(
        self,
        data: Mapping[str, Any],
        place: Callable[[KeyPath], SourceLocation],
        about: str,
        described: BackendDescription[Any] | None,
        backend: str,
        working_dir: Path,
        context: dict[str, bool] | None,
        environ: Mapping[str, str],
    ) -> None:
        self.finds_python = described is not None and described.finds_interpreters_here(environ)
        given = {key: value for key, value in data.items() if key in BenchmarkDefinition.model_fields}
        if described is not None and not self.finds_python:
            # An interpreter of this machine; one of theirs is named in their block.
            given.pop("python", None)
        self.draft = Draft(given, place)
        self.about, self.described, self.backend, self.working_dir, self.context = about, described, backend, working_dir, context
        for name in (backend,) if described is None else described.layers:
            if name in data:
                self._lay_block(name, data[name], place)

    def _lay_block(self, name: str, block: Mapping[str, Any], place: Callable[[KeyPath], SourceLocation]) -> None:
        given = {key: value for key, value in block.items() if value is not None}

        def within(path: KeyPath) -> SourceLocation:
            return place((name, *path)).within(name)

        self.draft.merge((), {key: value for key, value in given.items() if key in Overrides.model_fields}, within)
        options = {key: value for key, value in given.items() if key not in Overrides.model_fields}
        self.draft.merge((), {self.backend: options} if options else {}, lambda path: within(path[1:]))

    def run(self, folder: Callable[[KeyPath], Path], settings: Sequence[str], methods: Sequence[str], check_files: bool) -> Resolved:
        apply_settings(self.draft, settings, self.backend, self.described)
        definition = self._validated()
        problems = [*_program_problems(definition, self.described), *_cross_checks(definition, methods)]
        if problems:
            raise complaint(problems, self.draft.place, self.about)
        self._make_absolute(folder)
        self._place_python(folder)
        definition = self._validated()
        if check_files:
            self._check_script(definition)
        parts = units(shown_data(definition, self.backend))
        moved: dict[KeyPath, KeyPath] = {(self.backend, "python"): ("python",)}
        return Resolved(definition, {dotted(path): self.draft.origin(moved.get(path, path)) for path, _ in parts}, self.backend)

    def _make_absolute(self, folder: Callable[[KeyPath], Path]) -> None:
        paths: list[KeyPath] = [("source_dir",), *((self.backend, name) for name in (self.described.paths if self.described else ()))]
        paths += [(part, name, "path") for part in ("datasets", "models") for name in self.draft.get((part,)) or {}]
        for path in paths:
            value = self.draft.get(path)
            place = self.draft.place(path)
            if value is None and path == ("source_dir",):
                # Not given, so it keeps `default` as its origin.
                self.draft.data["source_dir"] = str(folder(path).resolve())
            elif isinstance(value, str):
                base = self.working_dir if is_given_now(place.origin) else folder(path)
                self.draft.put(path, str((base / Path(value).expanduser()).resolve()), lambda _, place=place: place)  # type: ignore[misc]

    def _place_python(self, folder: Callable[[KeyPath], Path]) -> None:
        value = self.draft.get(("python",))
        if isinstance(value, str) and "/" in value and self.finds_python:
            place = self.draft.place(("python",))
            base = self.working_dir if is_given_now(place.origin) else folder(("python",))
            # Not resolved: the interpreter of a virtual environment is a link to another one's.
            self.draft.put(("python",), os.path.abspath(base / Path(value).expanduser()), lambda _: place)  # noqa: PTH100

    def _check_script(self, definition: BenchmarkDefinition) -> None:
        if definition.program is None:
            return
        key = "script" if definition.command is None else "command"
        script = script_of(definition)
        where = self.draft.place((key,)).text
        if self.finds_python:
            check_programs(definition, lambda key: self.draft.place((key,)).text)
        is_usual = self.draft.origin(("source_dir",)) == "default"
        if not Path(definition.source_dir).is_dir():
            where = self.draft.place(("source_dir",)).text
            raise UserError(f"{where}: source_dir: there is no folder {definition.source_dir}")
        if script is not None and not (Path(definition.source_dir) / script).is_file():
            what = f"`{key}` is relative to `source_dir`" if key == "script" else "files of a command are looked for in `source_dir`"
            module = script.removeprefix("-m ").replace(".", "/")
            if (Path(definition.source_dir) / f"{module}.py").is_file():
                module = module.replace("/", ".")
                what = f'a module is started by `command: [python, -m, {module}, "${{arguments}}"]`; ' + what
            raise UserError(
                f"{where}: {key}: there is no file {script!r}",
                f"looked for {Path(definition.source_dir) / script}",
                what
                + "; "
                + ("that is the folder of the definition, as none is given" if is_usual else f"that is {definition.source_dir}"),
            )

    def _validated(self) -> BenchmarkDefinition:
        try:
            return BenchmarkDefinition.model_validate(self.draft.data, context=self.context)
        except ValidationError as error:
            raise complaint(problems_of(error, self.draft.data), self.draft.place, self.about) from None


def shown_data(definition: BenchmarkDefinition, backend: str) -> dict[str, Any]:
    """Return a resolved definition as nested data without what cannot apply: other back-ends' blocks, merged parts of its own."""
    data = definition.model_dump(exclude=set(definition.blocks))
    block = definition.blocks.get(backend)
    # Of a back-end that is not installed, or broken, nobody knows the defaults.
    described = _described(backend, keep_foreign=True)
    if block is None:
        block = ForeignBlock() if described is None else described.block()
    data[backend] = {key: value for key, value in block.model_dump().items() if key not in Overrides.model_fields}
    data["study"] = definition.study.model_dump(exclude_none=True)
    data["remote"] = definition.remote.model_dump(exclude_none=True)
    if definition.python is not None and described is not None and not described.shares_this_machine:
        # Beside the blocks it would name an interpreter of this machine, and not be theirs when this is read again.
        data[backend]["python"], data["python"] = definition.python, None
    return data


def _check_structure(source: Source, context: dict[str, bool] | None) -> None:
    """Refuse unknown keys and wrong values anywhere in a file; what does not fit together depends on the back-end."""
    try:
        BenchmarkDefinition.model_validate(source.data, context=context)
    except ValidationError as error:
        if not any(isinstance(detail.get("ctx", {}).get("error"), ContradictionError) for detail in error.errors()):
            raise complaint(problems_of(error, source.data), source.place, source.about) from None


def _cross_checks(definition: BenchmarkDefinition, methods: Sequence[str]) -> Iterator[Problem]:
    if not definition.space and not definition.trials:
        yield Problem((), "there is nothing to run: give `space` (what is searched) or `trials` (configurations one by one)")
    if definition.valid and not _any_valid(definition):
        yield Problem(("valid",), "no configuration is valid; relax a rule, or search other values")
    if definition.datasets:
        known = list(definition.datasets)
        for path, name in _named_datasets(definition):
            if name not in known:
                near = nearest(str(name), known)
                hint = f"did you mean {near!r}?" if near else "known: " + ", ".join(known)
                yield Problem(path, f"there is no data set {name!r}; {hint}")
    variants = definition.methods
    for name, variant in variants.items():
        if variant.base in variants:
            text = "it needs a name of its own" if variant.base == name else "a variant's base is a method, not another variant"
            yield Problem(("methods", name, "base"), f"{variant.base!r} is itself a variant of this definition; {text}")
        elif methods and variant.base not in methods:
            yield Problem(("methods", name, "base"), _unknown_method(variant.base, methods))
    if methods:
        known = [*methods, *variants]
        if definition.method is not None and definition.method not in known:
            yield Problem(("method",), _unknown_method(definition.method, known))
        found = definition.study.problems(known, [*definition.objectives], backend_names())
        yield from (Problem(("study", *path), text) for path, text in found)


def _shared_files(definition: BenchmarkDefinition) -> Iterator[Problem]:
    """Yield which files of `read` several trials would write at the same time, and so read each other's metrics."""
    if definition.working_dir != "source" or definition.is_exclusive or definition.n_workers == 1:
        return
    for number, file in enumerate(definition.read):
        if not names_in(parse_template(file.path)):
            text = f"with `working_dir: source` all trials write to the same {file.path}; "
            yield Problem(("read", number, "path"), text + "have the script write to ${output} and read that, or say `n_workers: 1`")


def _program_problems(definition: BenchmarkDefinition, described: BackendDescription[Any] | None) -> Iterator[Problem]:
    """Yield what is wrong with the program that is to run, as its back-end says."""
    if described is not None:
        if not described.runs_commands:
            for key in ("command", "prepare", "cleanup", "warmup_runs"):
                if getattr(definition, key):
                    yield Problem((key,), f"back-end {described.name} runs scripts alone; leave it out, or use another back-end")
            if definition.working_dir == "source":
                text = f"back-end {described.name} runs scripts alone, in folders of its own; leave it out, or use another back-end"
                yield Problem(("working_dir",), text)
            if definition.arguments_style in FILE_STYLES:
                yield Problem(("arguments_style",), f"back-end {described.name} gives scripts no files; use another style")
        if definition.read and not described.reads_files:
            yield Problem(("read",), f"back-end {described.name} reads no files; print the metrics, and say `metrics`")
        if described.shares_this_machine:
            yield from _shared_files(definition)
        block = definition.block(described.name, described.block)
        found = definition.metric_sources
        objectives = [name for name in definition.objectives if not found.presets and name not in dict(found.expressions)]
        problems = described.option_problems(block, definition.program, objectives, definition.budget.max_run)
        yield from (Problem(path, text) for path, text in problems)


def _unknown_method(name: str, known: Sequence[str]) -> str:
    return f"there is no method {name!r}; {did_you_mean(name, list(known))}"


def _named_datasets(definition: BenchmarkDefinition) -> Iterator[tuple[KeyPath, Any]]:
    if "dataset" in definition.space:
        domain = definition.search_space.domains["dataset"]
        yield from ((("space", "dataset"), name) for name in (domain.grid(1) if domain.size else ()))
    if "dataset" in definition.base_trial and any("dataset" not in trial for trial in definition.trials):
        yield ("base_trial", "dataset"), definition.base_trial["dataset"]
    for number, trial in enumerate(definition.trials):
        if "dataset" in trial:
            yield ("trials", number, "dataset"), trial["dataset"]


def _any_valid(definition: BenchmarkDefinition) -> bool:
    space, rules = definition.search_space, definition.rules
    if not definition.trials and (space.size is None or space.size > _MANY):
        return True
    configurations = definition.explicit_configurations if definition.trials else space.grid(1)
    return any(all(rule.holds(configuration) for rule in rules) for configuration in configurations)
