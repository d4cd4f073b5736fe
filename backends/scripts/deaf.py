"""Scripts that take no words at all, as far as their source says it: whatever they are told changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

from backends.scripts.read_source import has_parser, load_source
from backends.scripts.shell_source import passed_on

_HEARS = {
    "shell": r"\$[@*#1-9]|\$\{[@*#1-9]|\bshift\b|\bgetopts\b|BASH_ARGV",
    "r": r"commandArgs|optparse|argparse|docopt|littler|\bargv\b|getopt|R\.utils",
    "perl": r"ARGV|Getopt|\bshift\b",
    "julia": r"\bARGS\b|ArgParse|Comonicon|DocOpt",
    "node": r"process\.argv|yargs|commander|minimist|parseArgs",
    "lua": r"\barg\b|argparse",
}
"""What a script of a language that takes words has somewhere in it."""

_LANGUAGES = {
    ".sh": "shell", ".bash": "shell", ".r": "r", ".pl": "perl", ".jl": "julia", ".js": "node", ".mjs": "node", ".lua": "lua",
}  # fmt: skip
_SAGEMAKER = re.compile(rb"SM_HPS?\b|SM_HP_|hyperparameters\.json|SM_TRAINING_ENV|sagemaker_training")
"""Where scripts of SageMaker find what they are told, without taking words."""

_MOST_BYTES = 1_000_000


def takes_no_words(script: Path, root: Path) -> bool:
    """Return whether a script takes no words, by its own source; False where that cannot be told.

    Args:
        script: the file.
        root: folder below which modules that it imports count as its own.
    """
    try:
        content = script.read_bytes()[:_MOST_BYTES]
    except OSError:
        return False
    if script.suffix == ".py":
        # What cannot be parsed fails by itself, and says nothing of what it would take.
        return _SAGEMAKER.search(content) is None and bool(load_source(script, root).trees) and not has_parser(script, root)
    text = content.decode("utf-8", "replace")
    language = _LANGUAGES.get(script.suffix.lower())
    if language == "shell" and (inner := passed_on(text)):
        file = next((one for one in (script.parent / inner, root / inner) if one.is_file()), None)
        return file is not None and takes_no_words(file, root)
    return language is not None and re.search(_HEARS[language], text) is None
