"""`outrider show`, `--show`: a benchmark's resolved definition, with where each value came from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from launch.request import RunRequest


def main(arguments: Sequence[str]) -> int:
    """Print the definition and return the exit code; raises `UserError` for an unknown one."""
    from launch.cli import parse_run

    given, rest = make_parser().parse_known_args(arguments)
    print(show(given.benchmark, parse_run(rest, os.environ)[1]))
    return 0


def show(benchmark: str, request: RunRequest) -> str:
    """Return the definition as YAML; back-end and settings are those of the request."""
    from benchmarking.planning.machine_default import with_machine_default
    from definitions.registry import Registry
    from definitions.resolve import resolve, resolve_python
    from definitions.schema import BenchmarkDefinition
    from definitions.show import render

    found = Registry().find(benchmark)
    if isinstance(found, BenchmarkDefinition):
        resolved = resolve_python(found, request.backend_name, request.settings, environ=os.environ)
    else:
        resolved = resolve(found, request.backend_name, request.settings, environ=os.environ)
    return render(with_machine_default(resolved, os.environ)).rstrip("\n")


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("show"), description="Show a benchmark's resolved definition.")
    parser.add_argument("benchmark", metavar="NAME|FILE")
    return parser
