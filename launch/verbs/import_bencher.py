"""`outrider import_bencher FILE.yml`: turns a file of SageMaker Bencher into a definition, with a note for what has no counterpart."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.bencher import Converted

_EPILOG = """\
The definition goes to stdout, or to the file of -o; notes go to stderr, and stand above the definition as comments. Bencher's own two
scripts are ported: trials run image_ingestion.py in PyTorch. On this machine input modes are emulated, and `local` stands for FSx."""


def main(arguments: Sequence[str]) -> int:
    """Convert a file, and return the exit code; raises `UserError` where it is none of Bencher's, or no definition can say what it does."""
    given = make_parser().parse_args(arguments)
    from benchmarking import workloads
    from benchmarking.bencher import converted, read_bencher
    from definitions.backend_registry import backend_names
    from definitions.errors import EXIT_DONE, UserError
    from definitions.files import write_atomically
    from definitions.resolve import resolve
    from definitions.yaml_source import parse_yaml

    assert workloads.__file__ is not None
    found = converted(read_bencher(given.file), Path(workloads.__file__).resolve().parent)
    text = as_yaml(found, given.file)
    for backend in (name for name in found.data if name in backend_names()):
        # What is written can be run: it is read again before anybody gets it.
        resolve(parse_yaml(text, given.output or Path("imported.yaml")), backend, check_files=False)
    for note in found.notes:
        print(f"note: {note}", file=sys.stderr)
    if given.output is None:
        print(text, end="")
        return EXIT_DONE
    if given.output.exists() and not given.force:
        raise UserError(f"{given.output} is there already", "", "name another file, or give --force")
    write_atomically(given.output, text)
    print(f"{given.output}: {len(found.data['trials'])} trials; {command('run', '--benchmark', str(given.output), '--dry_run')}")
    return EXIT_DONE


def as_yaml(found: Converted, path: Path) -> str:
    """Return a definition as YAML, with the notes and the names of its trials as comments."""
    import yaml

    lines = [f"# Imported from {path.name}, a file of SageMaker Bencher.", *(f"# {note}" for note in found.notes)]
    if found.trials:
        lines.append(f"# trials there: {', '.join(found.trials)}")
    return "\n".join([*lines, yaml.safe_dump(dict(found.data), sort_keys=False, allow_unicode=True, width=130)])


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("import_bencher"), description="Turn a file of SageMaker Bencher into a definition.", epilog=_EPILOG)
    parser.add_argument("file", type=Path, metavar="FILE.yml")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.yaml", help="the definition's file (default: stdout)")
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")
    return parser
