"""`outrider list`, `--list`: the known benchmarks, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from definitions.program import command
from launch.parser import VerbParser


def main(arguments: Sequence[str]) -> int:
    """Print the benchmarks and return the exit code."""
    make_parser().parse_args(arguments)
    from benchmarking.report.text import table
    from definitions.registry import Registry

    print(table(["benchmark", "what it is", "from"], [[entry.name, entry.summary, entry.origin] for entry in Registry().names()]))
    return 0


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    return VerbParser(prog=command("list"), description="List the known benchmarks.")
