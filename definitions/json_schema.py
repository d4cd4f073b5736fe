"""The JSON Schemas of definitions and studies, for editors. `python -m definitions.json_schema` rewrites the files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import create_model

from definitions.backend_registry import backend_description
from definitions.builtin_backends import BUILT_IN
from definitions.key_descriptions import describe
from definitions.schema import BenchmarkDefinition
from definitions.study import StudyFile

FILE = Path(__file__).with_name("schema.json")
STUDY_FILE = Path(__file__).with_name("study_schema.json")
_DRAFT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
_NUMBERS = {"type": "number"}
_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_INTERVALS = {
    "uniform": "numbers, evenly",
    "loguniform": "numbers above 0, evenly on a log scale",
    "reverseloguniform": "numbers in [0, 1), evenly on the scale of log(1 - x)",
    "randint": "whole numbers, evenly",
    "lograndint": "whole numbers above 0, evenly on a log scale",
}
_RANGES = {"finrange": "linear", "logfinrange": "log"}


def json_schema(backends: Iterable[str] = BUILT_IN) -> dict[str, Any]:
    """Return the schema (draft 2020-12): the models' own, with domains, counts and shorthands as people write them.

    Args:
        backends: whose blocks are in it.
    """
    schema = _with_blocks(backends).model_json_schema()
    schema["additionalProperties"] = False
    for name in ("study", "remote"):
        schema["properties"][name] = schema["properties"].pop(name)
    definitions: dict[str, Any] = schema["$defs"]
    definitions["Domain"] = _domain()
    for model in (schema, *definitions.values()):
        properties = model.get("properties", {})
        if "space" in properties:
            what = "what is searched: a domain or a constant per key"
            properties["space"] = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Domain"}, "description": what}
        if "read" in properties:
            one: list[dict[str, Any]] = [{"type": "string", "minLength": 1}, {"$ref": "#/$defs/MetricFile"}]
            listed = {"anyOf": [*one, {"type": "array", "items": {"anyOf": one}}]}
            properties["read"] = {**listed, **{key: text for key, text in properties["read"].items() if key == "description"}}
        for name in ("samples", "samples_per_shard", "rows", "shard_size", "size", "log_cap"):
            if name in properties:
                properties[name] = _with_unit(properties[name], name)
    # A variant's arguments may stand beside its base.
    definitions["MethodVariant"]["additionalProperties"] = True
    datasets = schema["properties"]["datasets"]
    file = {"type": "string", "description": "path of a YAML file of data sets, relative to this one"}
    schema["properties"]["datasets"] = {"anyOf": [datasets, file]}
    for name, model in (("", schema), *definitions.items()):
        if "properties" in model:
            model["properties"] = describe(name, model["properties"], is_block=name.endswith("Block"))
    untitled: dict[str, Any] = _without_titles(schema)
    return {**_DRAFT, "title": "Outrider benchmark definition", **untitled}


def study_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a study's file."""
    untitled: dict[str, Any] = _without_titles(StudyFile.model_json_schema())
    properties = untitled["properties"]
    untitled["properties"] = {"benchmarks": properties.pop("benchmarks"), **properties}
    return {**_DRAFT, "title": "Outrider study", **untitled}


def _with_blocks(backends: Iterable[str]) -> type[BenchmarkDefinition]:
    """Return the definition's model with each back-end's block as a field."""
    models = {name: backend_description(name).block for name in backends}
    fields: dict[str, Any] = {name: (model, model()) for name, model in models.items()}
    return create_model("BenchmarkDefinition", __base__=BenchmarkDefinition, __doc__=BenchmarkDefinition.__doc__, **fields)


def text(schema: Mapping[str, Any]) -> str:
    """Return the content of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _without_titles(node: Any) -> Any:
    """Drop the titles that repeat a key; a title is text, while a key called `title` would be a mapping."""
    if isinstance(node, dict):
        return {key: _without_titles(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    return [_without_titles(item) for item in node] if isinstance(node, list) else node


def _domain() -> dict[str, Any]:
    forms: list[dict[str, Any]] = [{**_SCALAR, "description": "a constant"}]
    for kind, what in (("choice", "one of these"), ("ordinal", "one of these, in a meaningful order")):
        forms.append(_form(kind, what, {"type": "array", "items": _SCALAR, "minItems": 1, "uniqueItems": True}))
    for kind, what in (("nnordinal", "linear"), ("logordinal", "log")):
        listed = {"type": "array", "items": _NUMBERS, "minItems": 1, "uniqueItems": True}
        forms.append(_form(kind, f"one of these ascending numbers, by distance on a {what} scale", listed))
    for kind, what in _INTERVALS.items():
        forms.append(_form(kind, f"[lower, upper]: {what}", _tuple(2, 2)))
        forms.append(_form(f"q{kind}", f"[lower, upper, quantum]: {what}, rounded to multiples", _tuple(3, 3)))
    for kind, what in _RANGES.items():
        items = {"type": "array", "prefixItems": [*[_NUMBERS] * 2, {"type": "integer", "minimum": 1}, {"type": "boolean"}]}
        sized = {**items, "minItems": 3, "maxItems": 4}
        forms.append(_form(kind, f"[lower, upper, points, whole numbers?]: evenly spaced on a {what} scale", sized))
    return {"oneOf": forms}


def _form(kind: str, what: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "description": what, "properties": {kind: value}, "required": [kind], "additionalProperties": False}


def _tuple(least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "items": _NUMBERS, "minItems": least, "maxItems": most}


def _with_unit(number: dict[str, Any], name: str) -> dict[str, Any]:
    units = r"([kKmMgG][iI]?)?" if name.startswith(("samples", "rows")) else r"([bB]|[kKmMgGtT]([iI])?[bB])?"
    written = {"type": "string", "pattern": rf"^\s*[0-9]+(\.[0-9]+)?\s*{units}\s*$"}
    plain = {key: value for key, value in number.items() if key not in ("default", "description")}
    rest = {key: value for key, value in number.items() if key in ("default", "description")}
    return {"anyOf": [plain, written], **rest}


if __name__ == "__main__":
    FILE.write_text(text(json_schema()), encoding="utf-8")
    STUDY_FILE.write_text(text(study_schema()), encoding="utf-8")
