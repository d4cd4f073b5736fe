"""From a request to the experiments it means: benchmarks x methods x seeds, new ones or those of a tag that goes on."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.naming import TAG_FORM
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import experiments_of, load_to_run, not_installed
from benchmarking.methods.registry import default_method, experiment_spec, known_methods
from benchmarking.planning.absent_keys import check_absent_keys
from benchmarking.planning.machine_default import with_machine_default
from benchmarking.planning.option_words import check_option_words
from benchmarking.studies.agreement import agreed, check_flags, contradiction, limit_given
from benchmarking.studies.files import read_study
from benchmarking.studies.record import Pair, StudyFlags, StudyRecord
from definitions.errors import UserError, did_you_mean
from definitions.program import command
from definitions.registry import Registry, listing
from definitions.resolve import Resolved
from definitions.schema import BenchmarkDefinition
from launch.at_once import changed_text, check_parallel
from launch.comparison_options import check_options
from launch.request import RunRequest
from launch.study_planning import adopted, definition_of, extended, specs_of, stored_definition
from launch.study_request import check_choices, resolve_benchmark, unused_block
from launch.unfit import no_endpoint, why_unfit, with_script, workers_here


@dataclass(frozen=True)
class Planned:
    """What a request amounts to.

    Args:
        specs: the experiments, in the order in which they run.
        study: the study that they belong to; None where it is a single experiment.
        before: that study as its tag's folder holds it now; None where it holds none.
        notes: what is to be said, a line each.
    """

    specs: tuple[ExperimentSpec, ...]
    study: StudyRecord | None = None
    before: StudyRecord | None = None
    notes: tuple[str, ...] = ()

    @property
    def tag_folder(self) -> Path:
        """The folder of their tag."""
        return self.specs[0].results_dir / self.specs[0].tag


def experiment_seed(random_seed: int, seed: int) -> int:
    """Return the seed of an experiment: a hash of the master seed and the seed's number, the same for every method."""
    return int.from_bytes(hashlib.sha256(f"{random_seed}-{seed}".encode()).digest()[:4]) >> 1


def make_tag(request: RunRequest, now: datetime.datetime) -> str:
    """Return a tag of date and hash, valid as part of an S3 key and of a job name."""
    content = f"{now.isoformat()}-{request!r}"
    return f"{now:%Y%m%d-%H%M%S}-{hashlib.sha256(content.encode()).hexdigest()[:4]}"


def plan(request: RunRequest, registry: Registry | None = None, now: datetime.datetime | None = None) -> Planned:
    """Return the experiments of a request, in the order in which they run; nothing is written.

    Raises:
        UserError: nothing selected, unknown names, wrong values, an unknown tag to resume, or what contradicts the study of the tag.
    """
    registry = registry or Registry()
    if not request.benchmark and not request.resume:
        raise UserError("no --benchmark is given", listing(registry.names()), f"e.g. {command('run', '--benchmark', 'demo')}")
    if request.num_seeds is not None and request.num_seeds < 1:
        raise UserError(f"--num_seeds {request.num_seeds}: nothing would run", "it is the number of seeds", "give 1 or more")
    if request.start_seed is not None and request.start_seed < 0:
        raise UserError(f"--start_seed {request.start_seed}: seeds are numbered from 0")
    check_parallel(request.parallel)
    check_choices(request)
    tag = request.resume or request.experiment_tag or make_tag(request, now or datetime.datetime.now(datetime.UTC))
    _check_tag(tag, "--resume" if request.resume else "--experiment_tag")
    return _Planning(request, registry, tag).planned()


class _Planning:
    """One plan in the making.

    Args:
        request: what is asked for.
        registry: knows benchmarks by name.
        tag: of the experiments.
    """

    def __init__(self, request: RunRequest, registry: Registry, tag: str) -> None:
        self.request, self.registry, self.tag = request, registry, tag
        self.folder = request.results_dir / tag
        self.before = read_study(self.folder)
        self.known = self.before or adopted(tag, request.results_dir)
        self.about = f"tag {tag!r}"
        self.methods = known_methods()
        self._read: dict[str, Resolved] = {}
        self._named: set[str] = set()
        self._unused: list[str] = []
        self._without_script: dict[str, UserError] = {}

    def planned(self) -> Planned:
        """Return the plan."""
        request = self.request
        if request.resume and self.known is None:
            folders_of(self.tag, request.results_dir)
            if request.benchmark or request.method or request.num_seeds is not None:
                raise UserError(
                    f"--resume {self.tag}: its experiments have several definitions or back-ends",
                    "so they are no study that more could be added to",
                    f"`{command('run', '--resume', self.tag)}` alone goes on with each as it was defined",
                )
            return Planned(tuple(_resumed(request, self.methods)))
        single = self._single()
        if single is not None:
            return Planned((single,), notes=tuple(self._unused))
        flags = self._flags()
        definitions = self._definitions(flags)
        flags = self._with_limit(flags, definitions)
        asked, left_out = self._asked(flags, definitions)
        self._check_installed(flags)
        study = extended(self.known, flags, definitions, asked, left_out, self.folder)
        if request.compare:
            methods = dict.fromkeys(one.key[1] for one in study.experiments)
            check_options(flags.compare, {name: one.definition for name, one in definitions.items()}, [*methods])
        wanted = {(spec.definition.name, spec.method, spec.number) for spec in asked}
        chosen = [one for one in study.experiments if request.resume or one.key in wanted]
        specs = specs_of(study, chosen, definitions, self.folder)
        self._check_variants(specs)
        return Planned(tuple(specs), study, self.before, self._notes(left_out, flags))

    def _single(self) -> ExperimentSpec | None:
        """Return the experiment of a tag that has none but it, which is no study; None where there is or will be more."""
        request, there = self.request, () if self.known is None else self.known.experiments
        if self.before is not None or len(there) > 1 or max(len(request.benchmark), len(request.method), request.num_seeds or 1) > 1:
            return None
        if request.resume and there and not request.benchmark and not request.method and request.num_seeds is None:
            return _resumed(request, self.methods)[0]
        if not request.benchmark or (there and self.known is not None and request.backend_name != self.known.flags.backend):
            return None
        resolved = self._resolve(request.benchmark[0], request.backend_name)
        method, number = (*request.method, default_method(resolved.definition))[0], request.start_seed or 0
        if there and there[0].key != (resolved.definition.name, method, number):
            return None
        seed, here = experiment_seed(request.random_seed or 0, number), with_machine_default(resolved, os.environ)
        made = [
            experiment_spec(one, method, seed, self.tag, request.results_dir, request.method_args, number, self.methods)
            for one in (here, *([] if here is resolved else [resolved]))
        ]
        # What began on the type that all machines had by default goes on with it.
        return next((spec for spec in made if there and spec.hash == there[0].hash), made[0])

    def _flags(self) -> StudyFlags:
        request = self.request
        said: dict[str, Any] = {
            **({"order": request.study_order} if request.study_order else {}),
            **({"shares": request.shares} if request.shares else {}),
        }
        # What decides about experiments to come, how many run at once, or what is but shown, may change.
        free: dict[str, Any] = {
            **({"skip_unfit": request.skip_unfit} if request.skip_unfit is not None else {}),
            **({"compare": request.compare} if request.compare else {}),
            **({"parallel": request.parallel} if request.parallel is not None else {}),
        }
        if self.known is None:
            return StudyFlags(request.backend_name, request.random_seed or 0, dict(request.method_args), **said, **free)
        given: dict[str, Any] = {
            **said,
            **({"backend": request.backend} if request.backend else {}),
            **({"random_seed": request.random_seed} if request.random_seed is not None else {}),
            **({"method_args": dict(request.method_args)} if request.method_args else {}),
        }
        check_flags(self.about, self.known.flags, given)
        if request.resume:
            first, count = min(self.known.numbers), len(self.known.numbers)
            lines = [f"start_seed {request.start_seed}: its first is {first}"] if request.start_seed not in (None, first) else []
            if request.num_seeds is not None and request.num_seeds < count:
                lines.append(f"num_seeds {request.num_seeds}: it has {count}")
            if lines:
                raise contradiction(self.about, lines)
        return dataclasses.replace(self.known.flags, **free)

    def _definitions(self, flags: StudyFlags) -> dict[str, Resolved]:
        """Return the definitions by benchmark: those that were asked for, and with `--resume` all that the study has."""
        found: dict[str, Resolved] = {}
        for benchmark in self.request.benchmark:
            resolved = self._resolve(benchmark, flags.backend)
            here, name = with_machine_default(resolved, os.environ), resolved.definition.name
            if name in found:
                raise UserError(f"benchmark {name} is selected twice", "each benchmark, method and seed may be named once", "name it once")
            self._named.add(name)
            forms = [here, *([] if here is resolved else [resolved])]
            found[name] = here if self.known is None or name not in self.known.definitions else self._agreed(name, forms)
        if self.request.resume and self.known is not None:
            for name in (name for name in self.known.methods if name not in found):
                now = definition_of(self.known, name, self.request.laid_over, tuple(self.methods), os.environ, self.folder)
                found[name] = self._agreed(name, [now])
        return found

    def _agreed(self, name: str, forms: Sequence[Resolved]) -> Resolved:
        stored = self._stored(name)
        return agreed(self.about, stored, forms, lambda: workers_here(stored, os.environ))

    def _stored(self, name: str) -> Resolved:
        """Return a benchmark's definition as the study has it."""
        assert self.known is not None
        if name not in self._read:
            self._read[name] = stored_definition(self.known, name, self.folder)
        return self._read[name]

    def _resolve(self, benchmark: Any, backend: str) -> Resolved:
        resolved, wrong = with_script(
            lambda check: resolve_benchmark(
                benchmark, self.registry, backend, self.request.laid_over, tuple(self.methods), check_files=check
            ),
            tolerant=len(self.request.benchmark) > 1,
        )
        unserved = no_endpoint(resolved, os.environ)
        if unserved is not None and len(self.request.benchmark) == 1:
            raise unserved
        wrong = wrong or unserved
        if wrong is not None:
            self._without_script[resolved.definition.name] = wrong
        check_absent_keys(resolved.definition)
        check_option_words(resolved.definition)
        unused = "" if self.request.study is True else unused_block(resolved)
        self._unused += [unused] if unused and unused not in self._unused else []
        return resolved

    def _with_limit(self, flags: StudyFlags, definitions: Mapping[str, Resolved]) -> StudyFlags:
        limit = limit_given([*definitions.values()])
        if limit is None:
            return flags
        if self.known is not None and flags.max_cost is not None and limit < flags.max_cost and len(self.known.experiments) > 1:
            raise contradiction(self.about, [f"max_cost {limit:g}: it has {flags.max_cost:g}, and budgets may only be raised"])
        return dataclasses.replace(flags, max_cost=limit)

    def _asked(self, flags: StudyFlags, definitions: Mapping[str, Resolved]) -> tuple[list[ExperimentSpec], dict[Pair, str]]:
        """Return the experiments that were asked for, and the pairs that cannot be, with the reason."""
        request, made, unfit = self.request, [], {}
        errors: list[UserError] = []
        numbers = self._numbers()
        for name, resolved in definitions.items():
            # What began here once is refused by itself, so that the others of a study go on.
            is_new = self.known is None or name not in self.known.methods
            wrong = self._without_script.get(name) or (why_unfit(resolved, os.environ) if is_new else None)
            for method in self._methods_of(name, resolved.definition):
                try:
                    if wrong is not None:
                        raise wrong
                    first = experiment_spec(resolved, method, 0, self.tag, request.results_dir, flags.method_args, numbers[0], self.methods)
                except UserError as error:
                    unfit[name, method] = str(error)
                    errors.append(error)
                    continue
                made += [dataclasses.replace(first, number=number, seed=experiment_seed(flags.random_seed, number)) for number in numbers]
        _check_distinct(made)
        if unfit and (not made or not flags.skip_unfit):
            if len({*unfit.values()}) == 1 and not made:
                raise errors[0]
            raise _cannot_be(unfit, len(unfit) + len({(spec.definition.name, spec.method) for spec in made}))
        return made, unfit

    def _numbers(self) -> list[int]:
        request = self.request
        known = self.known.numbers if self.known is not None and request.resume else ()
        first = request.start_seed if request.start_seed is not None else min(known, default=0)
        count = request.num_seeds if request.num_seeds is not None else 0 if known else 1
        return sorted({*known, *range(first, first + count)})

    def _methods_of(self, name: str, definition: BenchmarkDefinition) -> Iterable[str]:
        request = self.request
        if self.known is None or not request.resume:
            return request.method or (default_method(definition),)
        known = self.known.methods
        added = request.method if not request.benchmark or name in self._named else ()
        if name not in known and not added:
            return tuple(dict.fromkeys(method for methods in known.values() for method in methods))
        return tuple(dict.fromkeys((*known.get(name, ()), *added)))

    def _check_installed(self, flags: StudyFlags) -> None:
        if self.known is None or not self.request.resume:
            return
        for one in self.known.experiments:
            variant = self._stored(one.benchmark).definition.methods.get(one.method)
            base = one.method if variant is None else variant.base
            if base not in self.methods:
                raise not_installed(
                    self.folder / one.benchmark / f"{one.method}-{flags.backend}-{one.number}", "method", base, [*self.methods]
                )

    def _check_variants(self, specs: Sequence[ExperimentSpec]) -> None:
        """Refuse a method that has other arguments than it had when its experiments were planned."""
        known = {} if self.known is None else {one.key: one for one in self.known.experiments}
        for spec in specs:
            one = known.get((spec.definition.name, spec.method, spec.number))
            if one is not None and one.hash != spec.hash:
                assert self.known is not None
                then = self._stored(one.benchmark).definition.methods.get(spec.method)
                now = spec.definition.methods.get(spec.method)
                raise contradiction(
                    self.about, [f"methods.{spec.method}: {then}, now {now}" if then != now else f"{spec.title}: another seed"]
                )

    def _notes(self, left_out: Mapping[Pair, str], flags: StudyFlags) -> tuple[str, ...]:
        lines = [f"left out, as it cannot be: {name} x {method}: {_in_a_line(why)}" for (name, method), why in left_out.items()]
        if self.known is not None and self.before is None and len(self.known.experiments) > 1:
            lines.append(f"{self.tag} has no study.json: it goes on with the {len(self.known.experiments)} experiments that have a folder")
        changed = changed_text(None if self.before is None else self.before.flags, flags)
        return (*lines, *([changed] if changed else []), *self._unused)


def _cannot_be(unfit: Mapping[Pair, str], count: int) -> UserError:
    lines = [f"{name} x {method}: {_in_a_line(why)}" for (name, method), why in unfit.items()]
    return UserError(
        f"{len(unfit)} of {count} pairs of benchmark and method cannot be",
        "\n  ".join(lines),
        "name others, leave out those that cannot be with --skip_unfit, or give these benchmarks a command of their own",
    )


def _in_a_line(message: str) -> str:
    return message.replace("\n  ", "; ")


def _resumed(request: RunRequest, methods: Mapping[str, Any]) -> list[ExperimentSpec]:
    """Return the experiments of a tag that are no study, as they were defined; settings given now are laid over (a larger budget, say)."""
    specs = []
    for folder in folders_of(request.resume, request.results_dir):
        spec = load_to_run(folder, request.laid_over, os.environ).spec
        variant = spec.definition.methods.get(spec.method)
        base = spec.method if variant is None else variant.base
        if base not in methods:
            raise not_installed(folder, "method", base, list(methods))
        specs.append(spec)
    return specs


def folders_of(tag: str, results_dir: Path, asked: str = "--resume") -> list[Path]:
    """Return the folders of a tag's experiments.

    Args:
        tag: what they have in common.
        results_dir: folder of all results.
        asked: what wants them, for the message.

    Raises:
        UserError: there are none.
    """
    _check_tag(tag, asked)
    found = experiments_of(results_dir / tag)
    if not found:
        raise _unknown_tag(tag, results_dir, asked)
    return found


def _check_tag(tag: str, asked: str = "--experiment_tag") -> None:
    if not TAG_FORM.fullmatch(tag):
        raise UserError(f"{asked} {tag!r}", "a tag has letters and digits, hyphens between them, and at most 41 of all")


def _check_distinct(specs: Iterable[ExperimentSpec]) -> None:
    folders: dict[Path, ExperimentSpec] = {}
    for spec in specs:
        if spec.folder in folders:
            raise UserError(f"{spec.title} is selected twice", "each benchmark, method and seed may be named once", "name it once")
        folders[spec.folder] = spec


def _unknown_tag(tag: str, folder: Path, asked: str) -> UserError:
    tags = (
        sorted((path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")), reverse=True)
        if folder.is_dir()
        else []
    )
    advice = did_you_mean(tag, tags[:20]) if tags else "give --results_dir, if results are elsewhere"
    brings = f"`{command('collect', tag)}` brings those of a launched run"
    return UserError(f"{asked} {tag}: there is nothing of this tag in {folder}", advice=f"{advice}; {brings}")
