"""From what a script can be told to what a definition tells it: the command, the space, and how arguments are written. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
        style, booleans: how arguments are written.
        rename: what the script calls a key.
        environment: variables, with placeholders.
        space: by key.
        level: the argument that says how long it trains; None where there is none.
        seed: the argument that gets a seed; None where there is none.
        left: arguments that the script keeps at its own values; `fixed`: those that it has to be told, and always the same.
    """

    command: tuple[str, ...] | None = None
    style: str = "flags"
    booleans: str = "value"
    rename: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    space: Mapping[str, Dimension] = field(default_factory=dict)
    level: ScriptArgument | None = None
    seed: ScriptArgument | None = None
    left: tuple[ScriptArgument, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)


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
    interface = replace(interface, arguments=tuple(_with_variable(one, call.environment) for one in interface.arguments))
    given, rest = read_given(call.given, interface.arguments, stops_at=interface.commands)
    command = rest[0] if rest else _command(interface.commands, call)
    proposals: dict[str, tuple[ScriptArgument, Proposal]] = {}
    main = _parser_words(interface.arguments, given, proposals, call.words, guess=guess)
    words = [*call.words, *main.positionals, *main.fixed]
    outer: list[ScriptArgument] = []
    if command:
        # What is said before the sub-command cannot be among ${arguments}, which follow it; a switch has no words to say so.
        outer = [argument for argument in main.flags if argument.kind != "switch"]
        words += [f"{argument.flag}=${{{argument.name}}}" for argument in outer]
        inner_given, _ = read_given(rest[1:], interface.commands[command])
        inner = _parser_words(interface.commands[command], inner_given, proposals, (*call.words, command), guess=guess)
        words += [command, *inner.positionals, *inner.fixed]
        passed = inner.flags
    else:
        passed = main.flags
    kept = {argument.name for argument in (*outer, *passed)}
    placed = {name for name in proposals if any(f"${{{name}}}" in word for word in words)}
    used = {name: pair for name, pair in proposals.items() if name in kept or name in placed}
    level = next((argument for argument, made in used.values() if made.role is Role.LEVEL), None)
    seed = next((argument for argument, made in used.values() if made.role is Role.SEED), None)
    # One argument says how long, and one is the seed; what else is called so stays as it is.
    used = {
        name: (argument, made)
        for name, (argument, made) in used.items()
        if made.role is Role.SEARCHED or argument in (level, seed) or name in placed
    }
    used = {name: (argument, made) for name, (argument, made) in used.items() if _exists(argument, used)}
    names, booleans, passed = _booleans(passed, used)
    space: dict[str, Dimension] = {}
    for name, (argument, made) in used.items():
        if made.role is Role.SEARCHED:
            # Beside switches a truth that the script is told as a value is text.
            as_text = booleans != "value" and argument.kind == "boolean"
            found = dimension_of(argument, replace(made, domain={"choice": ["true", "false"]}) if as_text else made)
            space[names.get(name, name)] = _conditional(found, argument, used)
    listed = [argument for argument in passed if argument.name in used or argument.name in names.values()]
    flagged = [argument for argument in listed if not _is_variable(argument)]
    style, rename = _spelling(flagged, interface.style)
    if flagged:
        words.append("${arguments}")
    is_alone = call.is_plain and words[len(call.words) :] in ([], ["${arguments}"])
    variables = {argument.flag[1:]: f"${{{argument.name}}}" for argument in listed if _is_variable(argument)}
    return CallPlan(
        None if is_alone else tuple(words),
        style,
        booleans,
        rename,
        {**call.environment, **variables},
        space,
        level,
        seed,
        tuple(
            argument
            for argument in (*interface.arguments, *interface.commands.get(command, ()))
            if argument.name not in used and argument.name not in given.values and not argument.is_positional
        ),
    )


def _with_variable(argument: ScriptArgument, environment: Mapping[str, str]) -> ScriptArgument:
    """Return an argument that a variable tells with the value that the call gives it."""
    text = environment.get(argument.flag[1:]) if _is_variable(argument) else None
    return argument if text is None else replace(_given(text, argument), is_required=False)


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
        elif proposal.role is not Role.LEFT and (proposal.role is not Role.SEARCHED or proposal.domain):
            proposals[own.name] = own, proposal
            made.flags.append(own)
        elif text is not None:
            made.fixed += given.kept[argument.name]
        elif argument.is_required:
            missing.append(argument)
    if missing:
        names = ", ".join(argument.flag or argument.name for argument in missing)
        example = " ".join(f"{argument.flag} {argument.name.upper()}".strip() for argument in missing)
        raise UserError(f"the script needs {names}", "only you know what to say there", f"say it: --run '{' '.join(words)} {example} ...'")
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


def _booleans(
    passed: Sequence[ScriptArgument], used: dict[str, tuple[ScriptArgument, Proposal]]
) -> tuple[dict[str, str], str, list[ScriptArgument]]:
    """Return keys that stand for others, how truth is told, and the arguments by these keys.

    One way holds for all: where only some switches have a `--no-` form, these are told by the form that changes something.
    """
    switches = [argument for argument in passed if argument.kind == "switch" and argument.name in used]
    if not switches:
        return {}, "value", [*passed]
    if all(argument.negative.startswith("--no-") for argument in switches):
        return {}, "no_switch", [*passed]
    names: dict[str, str] = {}
    changed: list[ScriptArgument] = []
    for argument in passed:
        if argument in switches and argument.negative and argument.default is True:
            names[argument.name] = argument.negative.lstrip("-").replace("-", "_")
            changed.append(replace(argument, name=names[argument.name], flags=(argument.negative,), negative="", default=False))
        else:
            changed.append(argument)
    return names, "switch", changed


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
