"""Keys that a script is told as words and cannot hear, as it takes no words at all: said before trials are spent on them."""

from __future__ import annotations

from pathlib import Path

from backends.common.hints import interface_at, script_at
from definitions.command import ARGUMENTS, OWN_PREFIX
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.template import names_in, parse_template

_MOST_NAMED = 5


def unheard_keys(definition: BenchmarkDefinition) -> UserError | None:
    """Return what is wrong where a script takes no words by its source, and is told keys as such; None where it can hear them.

    Args:
        definition: resolved, its source there.
    """
    told = _told(definition)
    root = Path(definition.source_dir)
    script = script_at(root, definition.script or "", definition.command or ()) if told else None
    if script is None:
        return None
    from backends.scripts.deaf import takes_no_words
    from backends.scripts.interface import nearest_spelling

    if not takes_no_words(script, root):
        return None
    interface = interface_at(root, definition.script or "", definition.command or ())
    variables = () if interface is None else interface.spellings()
    names = ", ".join(told[:_MOST_NAMED]) + (", ..." if len(told) > _MOST_NAMED else "")
    near = {key: found[1:] for key in told if (found := nearest_spelling(key, variables)).startswith("$")}
    if near:
        mend = ", ".join(f"{name}: '${{{key}}}'" for key, name in near.items())
        return UserError(
            f"{script.name} takes no words, and {names} would change nothing",
            f"its source reads the variables {', '.join(variable[1:] for variable in variables)}",
            f"`environment: {{{mend}}}` sets what it reads",
        )
    return UserError(
        f"{script.name} takes no words, and {names} would change nothing",
        "its source reads neither arguments nor variables",
        "let it read them, e.g. by argparse; where a package that it imports does, all is well",
    )


def _told(definition: BenchmarkDefinition) -> list[str]:
    """Return the keys that reach the script as words, or as the path of a file; those of a configuration first, which somebody varies."""
    calling = definition.calling
    in_variables = {name for text in calling.environment.values() for name in names_in(parse_template(text))}
    names = {name.removeprefix(OWN_PREFIX) for word in calling.command or () for name in names_in(parse_template(word))}
    passes = calling.style != "none" and (calling.command is None or bool(names & {ARGUMENTS, "arguments_file"}))
    found = [key for key in calling.keys if key not in in_variables and (key in names or passes)]
    return sorted(found, key=lambda key: key not in definition.configuration_keys)
