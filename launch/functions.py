"""A Python function as a benchmark: a small script is written that calls it in a process of its own."""

from __future__ import annotations

import hashlib
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

IN_FUNCTION = "OUTRIDER_FUNCTION_JOB"
"""Variable that is set in the job of a function."""

_BY_FILE = """\
import importlib.util
sys.path.insert(0, {folder!r})
_spec = importlib.util.spec_from_file_location("tuned_function", {file!r})
_module = importlib.util.module_from_spec(_spec)
sys.modules["tuned_function"] = _module
_spec.loader.exec_module(_module)
_function = _module.{name}
"""
_SCRIPT = """\
import json, numbers, os, sys
os.environ[{mark!r}] = "1"
sys.path.append({home!r})
{source}
with open(sys.argv[1], encoding="utf-8") as _file:
    _arguments = json.load(_file)
_metrics = _function(**_arguments)
if _metrics is not None:
    import outrider_report
    _named = _metrics if isinstance(_metrics, dict) else {{{objective!r}: float(_metrics)}}
    outrider_report.report(**_named)
"""


def definition_of(function: Callable[..., Any], keys: Mapping[str, Any], cache: Path) -> BenchmarkDefinition:
    """Return the definition that runs a function.

    Args:
        function: called with values by name; what it returns (a mapping, or a number for the first objective) is reported.
        keys: of the definition, e.g. `space`; `objectives` is `loss: min` where it is left out.
        cache: folder below which the script is written.

    Raises:
        UserError: a function that another process cannot be given.
    """
    name = getattr(function, "__name__", "")
    if not inspect.isfunction(function) or not name.isidentifier() or "<locals>" in function.__qualname__ or "." in function.__qualname__:
        raise UserError(f"outrider.run({function!r})", "a trial's process needs a function with a name, at the top level of a file or cell")
    objectives = keys.get("objectives", {"loss": "min"})
    text = _SCRIPT.format(
        mark=IN_FUNCTION, home=str(Path(__file__).resolve().parent.parent), source=_source(function), objective=next(iter(objectives))
    )
    folder = cache.resolve() / "functions" / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / f"run_{name}.py"
    script.write_text(text, encoding="utf-8")
    fixed = {"name": name, "script": script.name, "source_dir": str(folder), "arguments_style": "json"}
    call = ["${python}", "${script}", "${arguments_file}"]
    return validated({**fixed, "command": call, "objectives": objectives, **keys})


def validated(data: Mapping[str, Any]) -> BenchmarkDefinition:
    """Return the definition that a mapping says; raises `UserError` for one that cannot be."""
    from pydantic import ValidationError

    try:
        return BenchmarkDefinition.model_validate(data)
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False))
        raise UserError("this is no definition", "; ".join(told), "docs/reference.md has all keys") from error


def _source(function: Callable[..., Any]) -> str:
    """Return statements after which `_function` is the function: by its file, or where it has none by its own source."""
    file = inspect.getsourcefile(function)
    if file is not None and Path(file).is_file() and not hasattr(inspect.getmodule(function) or function, "get_ipython"):
        path = Path(file).resolve()
        return _BY_FILE.format(folder=str(path.parent), file=str(path), name=function.__name__)
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        advice = "put the function into a file and import it"
        raise UserError(f"outrider.run({function.__name__})", "its source is not to be had here", advice) from error
    return "\n".join([*_needs(function), text, f"_function = {function.__name__}"])


def _needs(function: Any) -> list[str]:
    """Return statements that make the global names which a function uses; modules, what can be imported, and plain values."""
    lines = []
    for name in function.__code__.co_names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        module = getattr(value, "__module__", None)
        if isinstance(value, ModuleType):
            lines.append(f"import importlib; {name} = importlib.import_module({value.__name__!r})")
        elif module not in (None, "__main__", "builtins") and getattr(value, "__name__", None):
            lines.append(f"from {module} import {value.__name__} as {name}")
        else:
            try:
                json.dumps(value)
            except (TypeError, ValueError) as error:
                advice = "define it inside of the function, or put both into a file and import them"
                raise UserError(
                    f"{function.__name__} uses {name!r} of the notebook", "a trial's process cannot be given it", advice
                ) from error
            lines.append(f"{name} = {value!r}")
    return lines
