"""A Python function as a benchmark: a small script is written that calls it in a process of its own."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from definitions.configuration import OWN_KEYS, OWN_WITH_DATA
from definitions.errors import UserError, did_you_mean
from definitions.files import making_folder
from launch import function_job
from launch.function_script import FunctionScript, is_installed

HOME = Path(__file__).resolve().parent.parent
"""Folder of our packages and of the module `outrider`."""

_SCRIPT = """\
# Calls a function of Python for one trial; made by outrider.run.
{sources}import outrider_function as job

job.begin({folders!r})
{text}
job.call({expression}, {objective!r})
"""


def definition_of(
    function: Callable[..., Any],
    keys: Mapping[str, Any],
    cache: Path,
    modules: Mapping[str, ModuleType] = sys.modules,
    *,
    elsewhere: bool = False,
    more: bool = False,
) -> dict[str, Any]:
    """Return the keys of the definition that runs a function.

    Args:
        function: called with values by name; what it returns (a mapping, or a number for the first objective) is reported.
        keys: of the definition, e.g. `space`; `objectives` is `loss: min` where it is left out.
        cache: folder below which the script is written.
        modules: what the imports of who defined it have led to.
        elsewhere: whether trials run on other machines, which have none of this one's files.
        more: whether settings may give it more keys than these.

    Raises:
        UserError: a function that another process cannot be given, or that does not take the keys.
    """
    name = getattr(function, "__name__", "") or type(getattr(function, "func", function)).__name__
    name = name if name.isidentifier() else "function"
    _check_parameters(function, name, keys, more=more)
    main = modules["__main__"]
    script = FunctionScript(main, modules)
    expression = script.expression(function)
    if elsewhere and script.sources:
        named = ", ".join(path.name for path in script.sources)
        raise UserError(
            f"outrider.run({name})",
            f"it needs {named}, which only jobs on this machine find",
            "write a script, or define all in a notebook",
        )
    objectives = keys.get("objectives", {"loss": "min"})
    # A comment, so that a change of what is imported is a change of the script.
    sources = "".join(f"# {path.name}: {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for path in sorted(script.sources))
    folders = [] if elsewhere else _folders(main)
    text = _SCRIPT.format(
        sources=sources, folders=folders, text=script.text, expression=expression, objective=next(iter(objectives), "loss")
    )
    made = {
        f"run_{name}.py": text.encode(),
        "outrider_function.py": Path(function_job.__file__).read_bytes(),
        "outrider.py": (HOME / "outrider.py").read_bytes(),
        **script.files,
    }
    folder = cache.absolute() / "functions" / _digest(made)
    try:
        if not folder.is_dir():
            with making_folder(folder) as making:
                for file, content in made.items():
                    (making / file).write_bytes(content)
    except OSError as error:
        raise UserError(f"outrider.run({name}): its script cannot be written to {folder}", str(error), "give another cache_dir") from error
    call = ["${python}", "${script}", "${arguments_file}"]
    fixed = {"name": name.strip("_") or "function", "script": f"run_{name}.py", "source_dir": str(folder), "arguments_style": "json"}
    return {**fixed, "command": call, "objectives": objectives, **keys}


def _digest(made: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for content in made.values():
        digest.update(len(content).to_bytes(8) + content)
    return digest.hexdigest()[:16]


def _folders(main: Any) -> list[str]:
    """Return where a module of the user's own is looked for in this process; what is installed is found by every process."""
    beside = Path(main.__file__).parent if getattr(main, "__file__", None) else Path.cwd()
    found = [
        str(beside.absolute()),
        *(str(Path(path).absolute()) for path in sys.path if Path(path).is_dir() and not is_installed(Path(path))),
    ]
    return list(dict.fromkeys(path for path in found if Path(path) != HOME))


def _check_parameters(function: Callable[..., Any], name: str, keys: Mapping[str, Any], *, more: bool) -> None:
    """Raise `UserError` where a key that will be given is no parameter of the function, or one that it needs will not be given.

    Args:
        function: of keyword arguments.
        name: what it is called in messages.
        keys: of the definition.
        more: whether settings may give it more keys than these.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    given = _given(keys)
    named = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    for one in parameters:
        if one.kind is one.POSITIONAL_ONLY:
            raise UserError(f"outrider.run({name}): {one.name!r} can only be given by its place", "values are given by name")
    if not any(one.kind is one.VAR_KEYWORD for one in parameters):
        for key in sorted(given - set(named)):
            raise UserError(f"outrider.run({name}): it has no parameter {key!r}", did_you_mean(key, named))
    for one in parameters:
        if one.name in named and one.default is one.empty and one.name not in given and not more:
            raise UserError(f"outrider.run({name}): nothing gives it {one.name!r}", "", "search it in `space`, or fix it in `arguments`")


def _given(keys: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters that a definition gives values to."""

    def part(name: str) -> Mapping[str, Any]:
        found = keys.get(name)
        return found if isinstance(found, Mapping) else {}

    trials = keys.get("trials")
    points = [one for one in trials if isinstance(one, Mapping)] if isinstance(trials, (list, tuple)) else []
    own = {*OWN_KEYS, *(OWN_WITH_DATA if keys.get("datasets") or keys.get("inputs") else ())}
    found = {*part("space"), *part("arguments"), *part("base_trial"), *(key for point in points for key in point)} - own
    found |= {key for key in (part("fidelity").get("argument"), keys.get("seed_argument")) if key}
    return {str(part("rename").get(key, key)) for key in found}
