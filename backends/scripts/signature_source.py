"""Reads functions and classes whose signature is a command line: typer, fire, tyro, jsonargparse and LightningCLI."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from backends.scripts.argparse_source import read_argparse
from backends.scripts.interface import Interface, Kind, ListForm, ScriptArgument, merged
from backends.scripts.literals import UNKNOWN, ScriptSource, annotation, dotted_name, keywords, kind_of_value

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_TRAINER: tuple[ScriptArgument, ...] = (
    ScriptArgument("trainer.max_epochs", ("--trainer.max_epochs",), "whole"),
    ScriptArgument("trainer.gradient_clip_val", ("--trainer.gradient_clip_val",), "number"),
    ScriptArgument("trainer.accumulate_grad_batches", ("--trainer.accumulate_grad_batches",), "whole", 1),
    ScriptArgument("trainer.precision", ("--trainer.precision",), "text"),
    ScriptArgument("seed_everything", ("--seed_everything",), "whole"),
)
"""What every LightningCLI can be told that changes what is learnt; the rest of its trainer is about machines and logs."""


def read_typer(source: ScriptSource) -> Interface | None:
    """Return the commands of a typer application; None where the script is none."""
    if not source.imports("typer"):
        return None
    commands: dict[str, tuple[ScriptArgument, ...]] = {}
    callback: tuple[ScriptArgument, ...] | None = None
    for function in source.functions.values():
        for decorator in function.decorator_list:
            owner, _, what = dotted_name(decorator).rpartition(".")
            if owner and what == "command":
                named = source.value(decorator.args[0]) if isinstance(decorator, ast.Call) and decorator.args else None
                commands[named if isinstance(named, str) else function.name.replace("_", "-")] = _of_typer(function, source)
            elif owner and what == "callback":
                callback = _of_typer(function, source)
    run = _called_with(source, "typer.run")
    if run is not None and run in source.functions:
        return Interface("typer", _of_typer(source.functions[run], source))
    if not commands:
        return None
    if len(commands) == 1 and callback is None:
        return Interface("typer", next(iter(commands.values())))
    return Interface("typer", callback or (), commands)


def _of_typer(function: _Function, source: ScriptSource) -> tuple[ScriptArgument, ...]:
    return tuple(_typer_argument(name, node, default, source) for name, node, default in parameters(function))


def _typer_argument(name: str, node: ast.expr | None, default: ast.expr | None, source: ScriptSource) -> ScriptArgument:
    declared = _declared_in(node, default)
    given = keywords(declared) if declared is not None else {}
    words = [*declared.args] if declared is not None else []
    own = default
    if declared is not None and declared is default:
        # `lr: float = typer.Option(0.1, "--lr")`: the default is the first word, and `...` says that there is none.
        own = words.pop(0) if words else given.get("default")
        own = None if isinstance(own, ast.Constant) and own.value is Ellipsis else own
    value = None if own is None else _plain(source.value(own))
    said = annotation(node, source)
    kind: Kind = said.kind or kind_of_value(value)
    if (dotted_name(declared).split(".")[-1] == "Argument") if declared is not None else own is None:
        return ScriptArgument(name, (), kind, value, said.choices, own is None, "words" if said.is_list else "")
    texts = [text for text in map(source.value, words) if isinstance(text, str) and text.startswith("-")]
    hyphened = "--" + name.replace("_", "-")
    flags = tuple(sorted((text.split("/")[0] for text in texts), key=lambda flag: not flag.startswith("--"))) or (hyphened,)
    if kind == "boolean":
        no = next((text.split("/")[1] for text in texts if "/" in text), "" if texts else "--no-" + hyphened[2:])
        return ScriptArgument(name, flags, "switch", bool(value), negative=no)
    return ScriptArgument(name, flags, kind, value, said.choices, own is None, "repeated" if said.is_list else "")


def _plain(value: Any) -> Any:
    return None if value is UNKNOWN else value


def _declared_in(node: ast.expr | None, default: ast.expr | None) -> ast.Call | None:
    """Return the call that declares a parameter, `Option(...)` or `Argument(...)`, in its annotation or as its default."""
    candidates: list[ast.expr] = [default] if default is not None else []
    if isinstance(node, ast.Subscript) and dotted_name(node).split(".")[-1] == "Annotated" and isinstance(node.slice, ast.Tuple):
        candidates += node.slice.elts[1:]
    calls = (one for one in candidates if isinstance(one, ast.Call))
    return next((one for one in calls if dotted_name(one.func).split(".")[-1] in ("Option", "Argument")), None)


def read_signatures(source: ScriptSource) -> Interface | None:
    """Return what fire, tyro or jsonargparse make of a function or class; None where the script uses none of them."""
    for form, modules, callers in (
        ("jsonargparse", ("jsonargparse",), ("CLI", "auto_cli")),
        ("fire", ("fire",), ("Fire",)),
        ("tyro", ("tyro",), ("cli",)),
        ("defopt", ("defopt",), ("run",)),
    ):
        if not source.imports(*modules):
            continue
        for caller in callers:
            target = _called_with(source, caller)
            if target is not None and (found := _of_target(target, form, source)) is not None:
                return found
    return None


def _of_target(target: str, form: str, source: ScriptSource) -> Interface | None:
    hyphens = form == "tyro"
    if target in source.functions:
        return Interface(form, _optioned(source.functions[target], source, hyphens=hyphens))
    if target in source.classes:
        found = source.classes[target]
        methods = [one for one in found.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
        own = class_arguments(found, source, hyphens=hyphens)
        if form in ("jsonargparse", "fire") and methods:
            return Interface(form, own, {one.name: _optioned(one, source) for one in methods})
        return Interface(form, own)
    return None


def _called_with(source: ScriptSource, caller: str) -> str | None:
    """Return the name that a function is called with first, `typer.run(main)`; None where it is not called so."""
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (dotted_name(node.func) == caller or dotted_name(node.func).split(".")[-1] == caller):
                names = [one for one in node.args if isinstance(one, ast.Name)]
                if names:
                    return names[0].id
    return None


def _optioned(function: _Function, source: ScriptSource, prefix: str = "", *, hyphens: bool = False) -> tuple[ScriptArgument, ...]:
    """Return the parameters of a function, each told by its name; `--model.lr` with a prefix."""
    return tuple(_by_name(name, node, source, default, prefix, hyphens=hyphens) for name, node, default in parameters(function))


def _by_name(
    name: str, node: ast.expr | None, source: ScriptSource, default: ast.expr | None, prefix: str = "", *, hyphens: bool = False
) -> ScriptArgument:
    said = annotation(node, source)
    value = None if default is None else _plain(source.value(default))
    whole = f"{prefix}{name}"
    flag = "--" + (whole.replace("_", "-") if hyphens else whole)
    lists: ListForm = "words" if said.is_list else ""
    return ScriptArgument(whole, (flag,), said.kind or kind_of_value(value), value, said.choices, default is None, lists)


def parameters(function: _Function) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield name, annotation and default of the parameters of a function, without `self` and what gathers the rest."""
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(function.args.defaults))
    pairs = [*zip(positional, [*defaults, *function.args.defaults], strict=True)]
    pairs += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    for one, default in pairs:
        if one.arg not in ("self", "cls", "ctx"):
            yield one.arg, one.annotation, default


def class_arguments(found: ast.ClassDef, source: ScriptSource, prefix: str = "", *, hyphens: bool = False) -> tuple[ScriptArgument, ...]:
    """Return what a class is made with: the parameters of `__init__`, or the fields of a dataclass."""
    made = next((one for one in found.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    if made is not None:
        return _optioned(made, source, prefix, hyphens=hyphens)
    return tuple(_by_name(name, node, source, default, prefix, hyphens=hyphens) for name, node, default in class_fields(found))


def class_fields(found: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield name, annotation and default of the fields of a dataclass."""
    for line in found.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            yield line.target.id, line.annotation, _field_default(line.value)


def _field_default(value: ast.expr | None) -> ast.expr | None:
    if isinstance(value, ast.Call) and dotted_name(value.func).split(".")[-1] in ("field", "Field"):
        given = keywords(value)
        factory = given.get("default_factory")
        return given.get("default") or (factory.body if isinstance(factory, ast.Lambda) else factory)
    return value


def read_lightning(source: ScriptSource) -> Interface | None:
    """Return what a LightningCLI can be told of its model, its data and its trainer; None where the script makes none."""
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1] == "LightningCLI":
                return _of_lightning(node, source)
    return None


def _of_lightning(call: ast.Call, source: ScriptSource) -> Interface:
    given = keywords(call)
    found: list[ScriptArgument] = []
    complete = True
    for place, (name, prefix) in enumerate((("model_class", "model."), ("datamodule_class", "data."))):
        node = call.args[place] if len(call.args) > place else given.get(name)
        target = source.classes.get(dotted_name(node).split(".")[-1])
        if target is not None:
            found += class_arguments(target, source, prefix)
        elif node is not None and not (isinstance(node, ast.Constant) and node.value is None):
            complete = False
    runs = source.value(given.get("run")) is not False
    everything = (*found, *_TRAINER)
    # With `run=False` there are no sub-commands.
    return Interface("LightningCLI", () if runs else everything, {"fit": everything} if runs else {}, is_complete=complete)


def read_jsonargparse(source: ScriptSource) -> Interface | None:
    """Return what a parser of jsonargparse can be told, classes and functions that were added to it included."""
    if not source.imports("jsonargparse"):
        return None
    found = read_argparse(source, "jsonargparse") or Interface("jsonargparse")
    added: list[ScriptArgument] = []
    for tree in source.trees:
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            if node.func.attr in ("add_class_arguments", "add_function_arguments", "add_dataclass_arguments"):
                nested = source.value(node.args[1] if len(node.args) > 1 else keywords(node).get("nested_key"))
                prefix = f"{nested}." if isinstance(nested, str) else ""
                target = dotted_name(node.args[0]).split(".")[-1]
                if target in source.classes:
                    added += class_arguments(source.classes[target], source, prefix)
                elif target in source.functions:
                    added += _optioned(source.functions[target], source, prefix)
    both = merged(found, Interface("jsonargparse", tuple(added)))
    return both if both.arguments or both.commands else None
