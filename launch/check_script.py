"""`--check_script`: one dry start that finds what a script does not know of its arguments, before trials are spent.

The script is told what a trial would be told, and behind it one argument that nobody can know. A parser that refuses it has read the others
before, and ends at once; where it refuses one of ours, that is named. Who takes the unknown one without a word would take a wrong one of
ours so too: then what its source says is compared with what it is told.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common.hints import no_value_text, script_interface, switch_hint, unknown_text, without_hint
from backends.scripts.complaints import Complaint, find_complaint
from backends.scripts.interface import nearest_spelling
from benchmarking.methods.registry import build_method
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.unheard_keys import unheard_keys
from definitions.backend_registry import backend_description
from definitions.builtin_backends import DEFAULT
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION
from definitions.instances import default_instance_type
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec
from launch.one_start import OneStart, start_once

if TYPE_CHECKING:
    from benchmarking.archive.identity import ExperimentSpec

PROBE = "outrider_check"
"""The argument that no script knows."""

_PROBE_TOLD = re.compile(rf"[ ,]*['\"]?(?:--)?{PROBE.replace('_', '[_-]')}(?:[= ]1)?['\"]?")
_LIMIT_S = 60.0
_STYLES = ("flags", "two_words", "hyphens", "key=value")
_ADVICE = "mend it in the definition (docs/calling.md); nothing was started but this"


def check_scripts(
    specs: Sequence[ExperimentSpec], cache: Path, say: Callable[[str], None], environ: Mapping[str, str] = os.environ
) -> None:
    """Start the script of each benchmark once, with the configuration of its first trial.

    Args:
        specs: the experiments; of those of one benchmark the first counts.
        cache: folder of data sets.
        say: told what came of each.
        environ: of the controller.

    Raises:
        UserError: an argument that a script does not know, or a start that failed otherwise.
    """
    seen: set[str] = set()
    for spec in specs:
        if spec.definition.name in seen:
            continue
        seen.add(spec.definition.name)
        if not backend_description(spec.backend).shares_this_machine:
            raise UserError(
                f"--check_script with --backend {spec.backend}",
                "it starts the script on this machine",
                f"check it with --backend {DEFAULT}: what a script knows of its arguments is the same there",
            )
        say(check_script(spec.definition, first_configuration(spec), cache=cache, environ=environ, say=say))


def first_configuration(spec: ExperimentSpec) -> Mapping[str, Any]:
    """Return the configuration of an experiment's first trial."""
    usual = default_instance_type(spec.backend)
    method = build_method(spec.method, spec.definition, spec.seed, spec.method_arguments, region=LISTED_REGION, instance_type=usual)
    try:
        suggestion = method.suggest()
    finally:
        method.close()
    return {} if suggestion is None else suggestion.trial.configuration


def check_script(
    definition: BenchmarkDefinition,
    configuration: Mapping[str, Any],
    *,
    cache: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda line: None,
    limit_s: float = _LIMIT_S,
) -> str:
    """Return a sentence on a script that knows all that it is told, as far as one can know.

    Args:
        definition: resolved for this machine.
        configuration: of a trial.
        cache: folder of data sets; None where there are none.
        environ: of the controller.
        say: told what is waited for.
        limit_s: seconds after which a start is ended; what came so far counts.

    Raises:
        UserError: an argument that the script does not know, one that takes none at all, or a start that failed otherwise.
    """

    def start(one: BenchmarkDefinition, values: Mapping[str, Any]) -> OneStart:
        return start_once(one, values, limit_s, until_report=True, cache=cache, environ=environ, say=say)

    name = definition.name
    unheard = unheard_keys(definition)
    if unheard is not None:
        raise UserError(f"{name}: {unheard.asked}", unheard.fact, unheard.advice)
    values, probed = _probed(definition, configuration)
    found = start(probed, values)
    # Told as two words, the value of a switch is what the parser does not know, beside the probe.
    switches = switch_hint([_PROBE_TOLD.sub("", line) for line in _lines(found)], found.job)
    if switches:
        raise UserError(f"{name}: {switches}", _said(found), _ADVICE)
    complaint = _complaint(found, probed)
    if complaint is not None:
        ours = tuple(word for word in complaint.unknown if PROBE not in word.replace("-", "_"))
        if ours:
            raise _refused(name, found, Complaint(ours, complaint.suggested, complaint.known))
        _compare_switches(name, found, probed, values)
        return f"{name}: the script knows all of its arguments"
    if probed is not definition:
        _compare(name, found, probed)
        _compare_switches(name, found, probed, values)
        if found.is_failed or (not found.reports and not found.is_cut_off and not definition.is_silent):
            # What a script makes of a word too many may be a failure of another kind: without it this is the trial's own.
            found = start(definition, configuration)
    if found.is_failed:
        raise UserError(f"{name}: the script fails with what a trial tells it", _said(found), _ADVICE)
    if probed is not definition:
        return f"{name}: the script starts, and takes without a word what it does not know; its source names nothing that is wrong"
    return f"{name}: the script starts with what a trial tells it"


def _probed(definition: BenchmarkDefinition, configuration: Mapping[str, Any]) -> tuple[Mapping[str, Any], BenchmarkDefinition]:
    """Return a configuration with all that a trial is told and the probe behind it, and the definition that knows no more.

    Where the probe cannot be told, it is the configuration and definition as given.
    """
    reaches = definition.command is None or any("${arguments}" in word for word in definition.command)
    if definition.arguments_style not in _STYLES or not reaches:
        return configuration, definition
    told = JobBuilder(definition, DEFAULT, "check", region=LISTED_REGION).parameters(TrialSpec(configuration))
    own = {key: value for key, value in {**definition.arguments, **configuration}.items() if key in definition.own_keys}
    values = {**own, **told, PROBE: 1}
    changes: dict[str, Any] = {
        "arguments": {},
        "space": {},
        "base_trial": {},
        "trials": (values,),
        "valid": (),
        "fidelity": None,
        "seed_argument": None,
    }
    return values, definition.model_copy(update=changes)


def _flags(definition: BenchmarkDefinition) -> dict[str, str]:
    """Return what each key is called on the command line that is among `${arguments}`."""
    calling = definition.calling
    return {key: calling.flag(key) for key in calling.keys if key not in calling.named}


def _lines(start: OneStart) -> list[str]:
    return start.output.decode("utf-8", "replace").splitlines()


def _said(start: OneStart) -> str:
    """Return why a start failed in the script's own words, without the argument that only this check tells."""
    return _PROBE_TOLD.sub("", without_hint(start.message))


def _complaint(start: OneStart, definition: BenchmarkDefinition) -> Complaint | None:
    return find_complaint(_lines(start), _flags(definition).values())


def _refused(name: str, start: OneStart, complaint: Complaint) -> UserError:
    interface = script_interface(start.job)
    further = () if interface is None else interface.spellings()
    texts = [unknown_text(word, complaint.nearest(word, further), start.job.parameters) for word in complaint.unknown]
    exits = " (it ends with success all the same, so trials would count)" if not start.is_failed and not start.is_cut_off else ""
    return UserError(f"{name}: {'; '.join(texts)}{exits}", _said(start), _ADVICE)


def _compare(name: str, start: OneStart, definition: BenchmarkDefinition) -> None:
    """Raise `UserError` where a script that takes anything is told what its source does not name."""
    interface = script_interface(start.job)
    if interface is None or not interface.is_complete or not interface.spellings():
        return
    known = interface.spellings()
    unknown = [flag for key, flag in _flags(definition).items() if key != PROBE and flag not in known]
    if unknown:
        texts = [unknown_text(word, nearest_spelling(word, known), start.job.parameters) for word in unknown]
        # argparse takes a flag by its first letters; whether that one is meant only a person knows.
        begun = {word: [one for one in known if one.startswith(word)] for word in unknown}
        taken = [f"it takes {word} for {found[0]}, by its first letters" for word, found in begun.items() if len(found) == 1]
        others = [] if len(taken) == len(unknown) else ["it says nothing when it is told so, and goes on without it"]
        raise UserError(f"{name}: {'; '.join(texts)}", "; ".join([*taken, *others]), _ADVICE)


def _compare_switches(name: str, start: OneStart, definition: BenchmarkDefinition, values: Mapping[str, Any]) -> None:
    """Raise `UserError` where a flag that takes no value, as the source says, is told one: parsers may pass over it, or come to it last."""
    interface = script_interface(start.job)
    if interface is None or definition.arguments_style == "key=value":
        return
    calling = definition.calling
    told = {flag: key for key, flag in _flags(definition).items() if isinstance(values.get(key), bool) and calling.boolean(key) == "value"}
    switches = {flag: one for one in interface.everything() if one.kind == "switch" for flag in one.flags}
    found = sorted(told.keys() & switches.keys())
    if found:
        # Where there are others that take a value, not all truth can be told alike.
        keys = [told[flag] for flag in found] if len(found) < len(told) or isinstance(definition.booleans, dict) else ()
        text = no_value_text(found, has_negatives=all(switches[flag].negative for flag in found), keys=keys)
        raise UserError(f"{name}: {text}", "its source says so", _ADVICE)
