"""Reads dataclasses that transformers' HfArgumentParser makes a command line of."""

from __future__ import annotations

import ast
from dataclasses import replace

from backends.scripts.interface import Interface, ListForm, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, annotation, dotted_name, keywords, kind_of_value

_PARSERS = ("HfArgumentParser", "TrlParser", "H4ArgumentParser")
_TRAINING: tuple[ScriptArgument, ...] = (
    ScriptArgument("learning_rate", ("--learning_rate",), "number", 5e-5),
    ScriptArgument("per_device_train_batch_size", ("--per_device_train_batch_size",), "whole", 8),
    ScriptArgument("weight_decay", ("--weight_decay",), "number", 0.0),
    ScriptArgument("num_train_epochs", ("--num_train_epochs",), "number", 3.0),
    ScriptArgument("max_steps", ("--max_steps",), "whole", -1),
    ScriptArgument("seed", ("--seed",), "whole", 42),
    ScriptArgument("gradient_accumulation_steps", ("--gradient_accumulation_steps",), "whole", 1),
    ScriptArgument("output_dir", ("--output_dir",), "path", "trainer_output"),
)
"""What is usually varied of the library's own `TrainingArguments`, with its defaults; the other hundred stay as they are."""


def read_dataclasses(source: ScriptSource) -> Interface | None:
    """Return what an HfArgumentParser makes of the dataclasses that it is given; None where a script has none."""
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1] in _PARSERS and (node.args or keywords(node)):
                given = node.args[0] if node.args else next(iter(keywords(node).values()))
                classes = given.elts if isinstance(given, (ast.Tuple, ast.List)) else [given]
                return _of_classes([dotted_name(one) for one in classes], source)
    return None


def _of_classes(names: list[str], source: ScriptSource) -> Interface:
    found: list[ScriptArgument] = []
    complete = True
    for name in names:
        own = source.classes.get(name)
        if own is not None:
            found += _fields(own, source)
            bases = [dotted_name(base).split(".")[-1] for base in own.bases]
            complete = complete and all(base in source.classes or base.endswith("TrainingArguments") for base in bases)
            if any(base.endswith("TrainingArguments") for base in bases):
                known = {argument.name for argument in found}
                found += [argument for argument in _TRAINING if argument.name not in known]
        elif name.split(".")[-1].endswith("TrainingArguments"):
            found += _TRAINING
        else:
            complete = False
    # The library takes each name with hyphens too.
    both = (replace(one, flags=tuple(dict.fromkeys((one.flag, one.flag.replace("_", "-"))))) for one in found)
    return Interface("HfArgumentParser", tuple({one.name: one for one in both}.values()), is_complete=complete)


def _fields(found: ast.ClassDef, source: ScriptSource) -> list[ScriptArgument]:
    inherited = [source.classes[name] for base in found.bases if (name := dotted_name(base)) in source.classes]
    fields = [argument for base in inherited for argument in _fields(base, source)]
    for line in found.body:
        if not (isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)):
            continue
        name, given, value = line.target.id, {}, line.value
        is_required = value is None
        if isinstance(value, ast.Call) and dotted_name(value.func).split(".")[-1] in ("field", "HfArg"):
            given = keywords(value)
            factory = given.get("default_factory")
            value = given.get("default") or (factory.body if isinstance(factory, ast.Lambda) else None)
            is_required = value is None and factory is None
        default = None if value is None or (read := source.value(value)) is UNKNOWN else read
        said = annotation(line.annotation, source)
        metadata = source.value(given.get("metadata"))
        about = metadata if isinstance(metadata, dict) else {}
        choices = said.choices or tuple(about.get("choices") or ())
        help_text = about.get("help") or ""
        kind = said.kind or kind_of_value(default)
        lists: ListForm = "words" if said.is_list else ""
        fields.append(ScriptArgument(name, (f"--{name}",), kind, default, choices, is_required, lists, help=str(help_text)))
    return fields
