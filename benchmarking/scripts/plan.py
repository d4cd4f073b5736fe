"""From what a script can be told to what a definition tells it: the command, the space, and how arguments are written. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from backends.scripts.interface import Interface, ScriptArgument
from backends.scripts.literals import kind_of_value
from benchmarking.scripts.call import Given, ScriptCall, read_given
from benchmarking.scripts.ranges import Proposal, Role, proposal_for
from definitions.errors import UserError
from definitions.space import parse_domain
from definitions.yaml_source import parse_scalar

_USUAL_COMMANDS = ("train", "fit", "main", "run")


@dataclass(frozen=True)
class Dimension:
    """One key of the space: its domain as a definition has it, why, and a value to try first."""

    domain: Any
    why: str
    first: Any


@dataclass(frozen=True)
class CallPlan:
    """How a definition calls a script, and what it varies.

    Args:
        command: with placeholders; None where the script alone is enough.
        style, booleans: how arguments are written; how truth is told is said by key where it differs.
        rename: what the script calls a key.
        environment: variables, with placeholders.
        space: by key.
        level: the argument that says how long it trains; None where there is none.
        seed: the argument that gets a seed; None where there is none.
        left: arguments that the script keeps at its own values; `fixed`: those that it has to be told, and always the same.
        given: the domains of those of `fixed` that could be searched, and that a person gave a value.
    """

    command: tuple[str, ...] | None = None
    style: str = "flags"
    booleans: str | Mapping[str, str] = "value"
    rename: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    space: Mapping[str, Dimension] = field(default_factory=dict)
    level: ScriptArgument | None = None
    seed: ScriptArgument | None = None
    left: tuple[ScriptArgument, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)


_Used = dict[str, tuple[ScriptArgument, Proposal]]


@dataclass
class _ParserWords:
    """What is passed to one parser: the words for its places, and the flags that stay as they were given."""

    fixed: list[str] = field(default_factory=list)
    positionals: list[str] = field(default_factory=list)
    flags: list[ScriptArgument] = field(default_factory=list)


def make_plan(call: ScriptCall, interface: Interface, *, guess: bool = False) -> CallPlan:
    """Return how a definition calls a script.

    Args:
        call: as a person calls it.
        interface: what it can be told.
        guess: whether numbers of which nothing is known get a range, too.

    Raises:
        UserError: something that it cannot do without and nobody said, or which of its sub-commands is meant.
    """
    given, rest = read_given(call.given, interface.arguments, stops_at=interface.commands)
    given = _with_variables(given, interface.arguments, call.environment)
    command = rest[0] if rest else _command(interface.commands, call)
    proposals: dict[str, tuple[ScriptArgument, Proposal]] = {}
    main = _parser_words(interface.arguments, given, proposals, call.words, guess=guess)
    words = [*call.words, *main.positionals, *main.fixed]
    outer: list[ScriptArgument] = []
    said = {*given.values}
    if command:
        # What is said before the sub-command cannot be among ${arguments}, which follow it; a switch has no words to say so.
        outer = [argument for argument in main.flags if argument.kind != "switch"]
        words += [f"{argument.flag}=${{{argument.name}}}" for argument in outer]
        words += [word for argument in main.flags if argument not in outer for word in given.kept.get(argument.name, ())]
        inner_given, _ = read_given(rest[1:], interface.commands[command])
        said |= {*inner_given.values}
        inner = _parser_words(interface.commands[command], inner_given, proposals, (*call.words, command), guess=guess)
        words += [command, *inner.positionals, *inner.fixed]
        passed = inner.flags
    else:
        passed = main.flags
    used = _used(proposals, {argument.name for argument in (*outer, *passed)}, words)
    every = (*interface.arguments, *interface.commands.get(command, ()))
    left = [one for one in every if one.name not in used and one.name not in said and not one.is_positional]
    return _laid_out(call, interface.style, words, passed, used, left)


def _used(proposals: _Used, kept: Collection[str], words: Sequence[str]) -> _Used:
    """Return the arguments that are told: of those kept or with a place among the words, one level, one seed, and what can exist."""
    placed = {name for name in proposals if any(f"${{{name}}}" in word for word in words)}
    used = {name: pair for name, pair in proposals.items() if name in kept or name in placed}
    level, seed = _first_of(Role.LEVEL, used), _first_of(Role.SEED, used)
    # One argument says how long, and one is the seed; what else is called so stays as it is.
    used = {
        name: (argument, made)
        for name, (argument, made) in used.items()
        if made.role in (Role.SEARCHED, Role.GIVEN) or argument in (level, seed) or name in placed
    }
    return _with_something_searched({name: pair for name, pair in used.items() if _exists(pair[0], used)})


def _first_of(role: Role, used: _Used) -> ScriptArgument | None:
    return next((argument for argument, made in used.values() if made.role is role), None)


def _laid_out(
    call: ScriptCall,
    style: Literal["flags", "two_words", "key=value"],
    words: Sequence[str],
    passed: Sequence[ScriptArgument],
    used: _Used,
    left: Sequence[ScriptArgument],
) -> CallPlan:
    """Return the plan of what is used.

    Args:
        call: as a person calls it.
        style: that the script understands.
        words: of the command, so far.
        passed: arguments that may be among `${arguments}`.
        used: those that are told, with what is made of them.
        left: those that are not.
    """
    names, booleans, passed = _booleans(passed, used)
    searched = {name: (argument, made) for name, (argument, made) in used.items() if made.role is Role.SEARCHED}
    said = {names.get(name, name): pair for name, pair in used.items() if pair[1].role is Role.GIVEN}
    listed = [argument for argument in passed if argument.name in used or argument.name in names.values()]
    flagged = [argument for argument in listed if not _is_variable(argument)]
    found_style, rename = _spelling(flagged, style)
    whole = [*words, *(["${arguments}"] if flagged else [])]
    is_alone = call.is_plain and whole[len(call.words) :] in ([], ["${arguments}"])
    variables = {argument.flag[1:]: f"${{{argument.name}}}" for argument in listed if _is_variable(argument)}
    return CallPlan(
        None if is_alone else tuple(whole),
        found_style,
        booleans,
        rename,
        {**call.environment, **variables},
        {names.get(name, name): _conditional(dimension_of(one, made), one, used) for name, (one, made) in searched.items()},
        _first_of(Role.LEVEL, used),
        _first_of(Role.SEED, used),
        tuple(left),
        {name: argument.default for name, (argument, _) in said.items()},
        {name: made.domain for name, (_, made) in said.items()},
    )


def _with_something_searched(used: _Used) -> _Used:
    """Return what is used, in which what a person gave a value is searched around it where nothing else would be."""
    if any(made.role is Role.SEARCHED for _, made in used.values()):
        return used
    roles = {Role.GIVEN: Role.SEARCHED}
    return {name: (argument, replace(made, role=roles.get(made.role, made.role))) for name, (argument, made) in used.items()}


def _with_variables(given: Given, arguments: Iterable[ScriptArgument], environment: Mapping[str, str]) -> Given:
    """Return what a call says, in which the variables before it say what they tell the script."""
    said = {one.name: environment[one.flag[1:]] for one in arguments if _is_variable(one) and one.flag[1:] in environment}
    return replace(given, values={**said, **given.values}, kept={**dict.fromkeys(said, ()), **given.kept})


def usual_command(commands: Mapping[str, Any]) -> str:
    """Return which of several sub-commands trains, by its name or as it is the only one; empty where that is not known."""
    return next((name for name in _USUAL_COMMANDS if name in commands), next(iter(commands)) if len(commands) == 1 else "")


def _command(commands: Mapping[str, Any], call: ScriptCall) -> str:
    found = usual_command(commands)
    if commands and not found:
        raise UserError(
            f"the script has the sub-commands {', '.join(commands)}",
            "which one trains is not known",
            f"say it: --run '{' '.join(call.words)} {next(iter(commands))}'",
        )
    return found


def _parser_words(
    arguments: Iterable[ScriptArgument],
    given: Given,
    proposals: dict[str, tuple[ScriptArgument, Proposal]],
    words: Sequence[str],
    *,
    guess: bool,
) -> _ParserWords:
    """Decide about each argument of one parser, which the words start; what is searched is noted in `proposals`."""
    made = _ParserWords()
    places = list(given.positionals)
    missing: list[ScriptArgument] = []
    for argument in arguments:
        text = places.pop(0) if argument.is_positional and places else given.values.get(argument.name)
        own = argument if text is None else _given(text, argument)
        proposal = proposal_for(own, guess=guess)
        if argument.is_positional:
            _place(made, own, proposal, text, proposals, missing)
        elif proposal.role in (Role.SEARCHED, Role.LEVEL) or (proposal.role is Role.SEED and text is None):
            is_said = text is not None and not argument.is_required and proposal.role is Role.SEARCHED
            if is_said and own.kind == "switch" and own.negative and not _has_usual_negative(own):
                made.fixed += given.kept[argument.name]
                continue
            proposals[own.name] = own, replace(proposal, role=Role.GIVEN) if is_said else proposal
            made.flags.append(own)
        elif text is not None:
            made.fixed += given.kept[argument.name]
        elif argument.is_required:
            missing.append(argument)
    if missing:
        names = ", ".join(argument.flag or argument.name for argument in missing)
        # Variables stand before the command, as one would type them.
        before = [f"{argument.flag[1:]}=..." for argument in missing if _is_variable(argument)]
        behind = [f"{argument.flag} {argument.name.upper()}".strip() for argument in missing if not _is_variable(argument)]
        example = " ".join([*before, *words, *behind, *(["..."] if behind else [])])
        raise UserError(f"the script needs {names}", "only you know what to say there", f"say it: --run '{example}'")
    made.positionals += places
    made.fixed += given.unknown
    return made


def _place(
    made: _ParserWords,
    own: ScriptArgument,
    proposal: Proposal,
    text: str | None,
    proposals: dict[str, tuple[ScriptArgument, Proposal]],
    missing: list[ScriptArgument],
) -> None:
    """Put a positional into its place: a placeholder where it is searched, else what was given, else its default."""
    if proposal.role is Role.SEARCHED or (proposal.role is not Role.LEFT and own.default is not None):
        proposals[own.name] = own, proposal
        made.positionals.append(f"${{{own.name}}}")
    elif text is not None:
        made.positionals.append(text)
    elif own.default is not None and not isinstance(own.default, (list, dict)):
        made.positionals.append(str(own.default))
    elif own.is_required:
        missing.append(own)


def _given(text: str, argument: ScriptArgument) -> ScriptArgument:
    """Return an argument with what it was given as its value, which also tells the kind of one that nothing else tells of."""
    value = text if argument.kind == "path" else parse_scalar(text)
    if argument.kind == "text":
        is_open = argument.default is None and not argument.choices and isinstance(value, (int, float))
        return replace(argument, default=value, kind=kind_of_value(value)) if is_open else replace(argument, default=text)
    return replace(argument, default=value)


def dimension_of(argument: ScriptArgument, proposal: Proposal) -> Dimension:
    """Return a key of the space; a trial run takes the script's own value where the domain has it, else the middle."""
    domain: Any = dict(proposal.domain or {})
    parsed = parse_domain(domain, argument.name)
    first = argument.default if argument.default is not None and parsed.contains(argument.default) else parsed.at(0.5)
    return Dimension(domain, proposal.why, first)


def _exists(argument: ScriptArgument, used: Mapping[str, tuple[ScriptArgument, Proposal]]) -> bool:
    """Return whether an argument can exist: with what is searched, else with what the other argument is."""
    if argument.when is None:
        return True
    other, values = argument.when
    return (other in used and used[other][1].role is Role.SEARCHED) or (other in used and used[other][0].default in values)


def _conditional(found: Dimension, argument: ScriptArgument, used: Mapping[str, tuple[ScriptArgument, Proposal]]) -> Dimension:
    if argument.when is None or argument.when[0] not in used or used[argument.when[0]][1].role is not Role.SEARCHED:
        return found
    other, values = argument.when
    text = f"{other} == {values[0]!r}" if len(values) == 1 else f"{other} in {list(values)!r}"
    return Dimension({"when": text, **found.domain}, found.why, found.first)


def _booleans(passed: Sequence[ScriptArgument], used: _Used) -> tuple[dict[str, str], str | dict[str, str], list[ScriptArgument]]:
    """Return keys that stand for others, how truth is told, and the arguments by these keys.

    A switch whose other form is no `--no-`, as click's `--shuffle/--sorted`, is told by the form that changes something.
    """
    names: dict[str, str] = {}
    forms: dict[str, str] = {}
    changed: list[ScriptArgument] = []
    for argument in passed:
        is_truth = argument.name in used and argument.kind in ("switch", "boolean")
        if is_truth and argument.kind == "switch" and argument.negative and not _has_usual_negative(argument) and argument.default is True:
            key = argument.negative.lstrip("-").replace("-", "_")
            names[argument.name] = key
            argument = replace(argument, name=key, flags=(argument.negative,), negative="", default=False)
        if is_truth:
            is_switch = argument.kind == "switch"
            forms[argument.name] = "value" if not is_switch else "no_switch" if _has_usual_negative(argument) else "switch"
        changed.append(argument)
    if len({*forms.values()}) < 2:
        return names, next(iter(forms.values()), "value"), changed
    return names, {key: form for key, form in forms.items() if form != "value"}, changed


def _has_usual_negative(argument: ScriptArgument) -> bool:
    return bool(argument.negative) and argument.negative == "--no-" + argument.flag.lstrip("-")


def _is_variable(argument: ScriptArgument) -> bool:
    return argument.flag.startswith("$")


def _spelling(passed: Sequence[ScriptArgument], style: str) -> tuple[str, dict[str, str]]:
    """Return the style with the fewest exceptions, and these: what the script calls a key."""
    if not passed:
        return "flags", {}
    if style == "key=value":
        return style, {argument.name: argument.flag for argument in passed if argument.flag != argument.name}
    options = []
    for one in ("two_words",) if style == "two_words" else ("flags", "hyphens"):
        rename = {
            argument.name: argument.flag.removeprefix("--") if argument.flag.startswith("--") else argument.flag
            for argument in passed
            if argument.flag != "--" + (argument.name.replace("_", "-") if one == "hyphens" else argument.name)
        }
        options.append((one, rename))
    return min(options, key=lambda option: len(option[1]))
