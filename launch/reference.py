"""The reference page, from schema, methods and parsers, and the README's table. `python -m launch.reference` rewrites both."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.emulator.imitated import operations_table, readme_rows
from benchmarking.controller.method_arguments import Arguments
from benchmarking.methods.registry import BUILT_IN, method_factory
from launch.__main__ import VERBS
from launch.cli import make_parser

FILE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
README = FILE.parent.parent / "README.md"
FILES = {
    "journal.sqlite": "the append-only record that all else is derived from (`outrider export TAG` does so again)",
    "journal.sqlite-shm": "of SQLite, while the journal is open, and after an end by force",
    "journal.sqlite-wal": "as above; it holds records, so it goes where the journal goes",
    "trials.csv": "one row a trial",
    "reports.csv": "one row a report, with the configuration",
    "usage.csv": "one row a job: what it waited for, its stages, its phases, what it used and cost",
    "pipeline.csv": "of scripts that measure how they are fed: one row a trial and epoch",
    "ceilings.csv": "of these: what each part of the pipeline could give by itself, and what binds",
    "result.json": "how it ended, its best, its trials by status, what it took",
    "folded.json": "what a comparison takes from the journal; used only with the very journal that it was made of",
    "forecasts.csv": "after canaries: what the full jobs will take, with intervals",
    "definition.yaml": "what was run, as resolved",
    "experiment.json": "method, seed and back-end",
    "environment.json": "commit, packages, hardware, date of the prices",
    "lock": "held while the experiment runs, so that no second process does",
    "stop": "a pipe through which `outrider stop TAG` is heard, while the experiment runs",
    "reserve": "room on the disk for the journal's last records, while jobs run",
    "reserve-for-the-end": "the same for what comes after the last job",
    "warm_worker.log": "with `preload`: what the worker said that jobs are forked from",
    "source/VERSION/": "the source folder as it was measured; its files are links into `.source` beside the tags",
    "logs/JOB.log": "a job's output",
    "jobs/JOB/": "a job's working folder, on this machine",
    "jobs/JOB/command": "how it was started, as one line to paste",
    "jobs/JOB/arguments.json": "with `arguments_style: json` (or `.yaml`, `.toml`): what it was given",
    "jobs/JOB/process.json": "its process, so that none is left behind",
    "jobs/JOB/model/": "what it left in SM_MODEL_DIR",
    "jobs/JOB/output/": "what it left in SM_OUTPUT_DATA_DIR",
    "load/summary_results.csv": "of loads on endpoints: a row for each probe, stage or open load, the notebooks' twelve columns first",
    "load/trial-N/": "likewise: Locust's four CSV files, and histograms of latency whose counts add up",
    "checkpoints/trial-N/": "a trial's checkpoint, as long as `keep` says",
}
"""What a folder of results has, by paths in which JOB is a job's name, N a trial's number and VERSION one of the code.

Below a `/` all is the script's own.
"""

FILES_OF_A_TAG = {
    "best.yaml": "after `outrider best TAG`: the benchmark with the winner alone",
    "study.json": "of several experiments: which there are, in which order, and what each may spend",
    "study.lock": "held while study.json is changed",
    "budget.lock": "with `shares: first_come`: held while a process spends the money that the experiments have in common",
    "collated_results.json": "of several experiments: what their result.json say",
    "report.html": "of several experiments: verdicts, tables and figures as a page that asks nothing of any network",
    "figures.json": "what the figures of the report show, as numbers",
}
"""The same of the folder above it."""


def page() -> str:
    """Return the text of the page."""
    from definitions.json_schema import json_schema, study_schema

    schema = json_schema()
    models = {name: model for name, model in schema["$defs"].items() if "properties" in model}
    lines = [
        "# Reference",
        "",
        "Made by `python -m launch.reference` from the schema of definitions, methods, the parsers of the verbs and the emulator's list.",
        "",
    ]
    lines += ["## Keys of a definition", "", *_keys(schema)]
    for name, model in models.items():
        lines += [f"### {name}", "", *([model["description"].split("\n")[0], ""] if "description" in model else []), *_keys(model)]
    lines += [
        "## Keys of a study's file",
        "",
        "For `outrider run --study FILE.yaml`; more in [studies.md](studies.md).",
        "",
        *_keys(study_schema()),
    ]
    lines += ["## Domains of a space", "", "More in [search_space.md](search_space.md).", "", *_domains(schema["$defs"]["Domain"])]
    lines += ["## Fidelities", "", "`fidelity:` is one of these three; their keys are above.", ""]
    lines += [
        f"- `kind: {models[name]['properties']['kind']['const']}`: {models[name]['description']}"
        for name in ("PerJob", "Prefix", "Progressive")
    ]
    lines += [
        "",
        "## Methods and their arguments",
        "",
        "Given as `--method_args NAME=VALUE ...`, or to a variant under `methods:` in a definition.",
        "",
    ]
    lines += _methods()
    lines += ["## Verbs and their flags", ""]
    for verb, summary in VERBS.items():
        lines += [f"### outrider {verb}", "", f"{summary[0].upper()}{summary[1:]}.", "", *_flags(verb)]
    lines += ["## Files of a folder of results", "", "In `results/<tag>/<benchmark>/<method>-<backend>-<seed>/`:", ""]
    lines += [*_table(("file", "content"), [(f"`{name}`", what) for name, what in FILES.items()])]
    lines += ["In `results/<tag>/`:", ""]
    lines += [*_table(("file", "content"), [(f"`{name}`", what) for name, what in FILES_OF_A_TAG.items()])]
    lines += ["## Operations that the emulator answers", "", "All others are refused as ones that the service does not know.", ""]
    lines += [*operations_table(), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def readme(text: str) -> str:
    """Return the text of the README with the rows about the emulator as the code has them now."""
    rows = {row.split("|")[1]: row for row in readme_rows()}
    lines = text.split("\n")
    return "\n".join(rows.get(line.split("|")[1], line) if line.startswith("|") else line for line in lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in row) + " |"
    yield ""


def _keys(model: Mapping[str, Any]) -> Iterator[str]:
    required = model.get("required", ())
    rows = []
    for name, schema in model["properties"].items():
        default = "required" if name in required else _default(schema)
        rows.append((f"`{name}`", _type(schema), default, schema.get("description", "")))
    yield from _table(("key", "type", "default", "meaning"), rows)


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    # A whole block's default is those of its keys.
    return "" if value is None or isinstance(value, dict) or value in ([], "") else f"`{json.dumps(value)}`"


def _type(schema: Mapping[str, Any]) -> str:
    """Return how a value of a schema is called, e.g. `list of text`."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(name for one in schema[key] if (name := _type(one)) != "null"))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    kinds: Any = schema.get("type", "any")
    words: dict[Any, str] = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    if isinstance(kinds, list):
        return ", ".join(words.get(kind, str(kind)) for kind in kinds if kind != "null")
    if kinds == "array":
        return f"list of {_type(schema['items'])}" if "items" in schema else "list"
    if kinds == "object":
        inner = schema.get("additionalProperties")
        return f"mapping to {_type(inner)}" if isinstance(inner, dict) and inner else "mapping"
    return words.get(kinds, str(kinds))


def _domains(schema: Mapping[str, Any]) -> Iterator[str]:
    forms = [one for one in schema.get("oneOf", schema.get("anyOf", ())) if one.get("required")]
    yield from _table(("domain", "values"), [(f"`{form['required'][0]}`", form.get("description", "")) for form in forms])


def _methods() -> Iterator[str]:
    """Yield a section for each built-in method; plug-ins differ from one machine to the next."""
    for name, place in BUILT_IN.items():
        factory = method_factory(place)
        yield f"### {name}"
        yield ""
        yield (factory.__doc__ or "").split("\n")[0].removeprefix(f"{name}: ")
        yield ""
        arguments: Arguments = getattr(factory, "arguments", {})
        rows = [
            (f"`{key}`", one.wanted, "" if one.default in (None, ()) else f"`{json.dumps(one.default)}`", one.help)
            for key, one in arguments.items()
        ]
        if rows:
            yield from _table(("argument", "values", "default", "meaning"), rows)


def _flags(verb: str) -> Iterator[str]:
    parser = make_parser() if verb == "run" else importlib.import_module(f"launch.verbs.{verb}").make_parser()
    rows = []
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or "--help" in action.option_strings:
            continue
        value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
        value = " ".join(value) if isinstance(value, tuple) else value
        names = ", ".join(action.option_strings) if action.option_strings else str(value or action.dest)
        shown = f"`{names} {value}`" if action.option_strings and value and action.nargs != 0 else f"`{names}`"
        rows.append((shown, (action.help or "").replace("%%", "%")))
    if rows:
        yield from _table(("flag", "meaning"), rows)


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
