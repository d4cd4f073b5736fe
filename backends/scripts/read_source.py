"""Reads what a script can be told in its source, whichever library it has its parser from."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from backends.scripts.absl_source import read_absl
from backends.scripts.argparse_source import read_argparse
from backends.scripts.argv_source import read_argv
from backends.scripts.click_source import read_click
from backends.scripts.dataclass_source import read_dataclasses
from backends.scripts.environ_source import read_environ
from backends.scripts.hydra_source import read_hydra
from backends.scripts.interface import Interface
from backends.scripts.literals import ScriptSource, make_source, names_in
from backends.scripts.optparse_source import read_optparse
from backends.scripts.shell_source import passed_on, read_shell
from backends.scripts.signature_source import read_jsonargparse, read_lightning, read_signatures, read_typer

_TAKES_WORDS = re.compile(r"(?i)argv|pars|click|typer|fire|tyro|docopt|flags|hydra|(^|[._])cli($|[._])|getopt|plac|invoke|config")
_ARGPARSE = (
    "argparse",
    "jsonargparse",
    "configargparse",
    "simple_parsing",
    "tap",
    "tyro",
    "transformers",
    "lightning",
    "pytorch_lightning",
)
_MOST_FILES = 30
_MOST_BYTES = 1_000_000


def read_script(script: Path, root: Path) -> Interface | None:
    """Return what a script of Python or of a shell can be told, as far as its source says it; None where that is nothing.

    Args:
        script: the file.
        root: folder below which modules that it imports count as its own.
    """
    if script.suffix == ".py":
        source = load_source(script, root)
        return read_hydra(source, script) or interface_of(source)
    try:
        text = script.read_bytes()[:_MOST_BYTES].decode("utf-8", "replace")
    except OSError:
        return None
    if script.suffix not in (".sh", ".bash") and not re.match(r"#!.*\bsh\b|#!.*\bbash\b", text):
        return None
    inner = passed_on(text)
    file = next((one for one in (script.parent / inner, root / inner) if inner and one.is_file()), None)
    # What it hands all its words to says what these can be.
    return (read_script(file, root) if file is not None else None) or read_shell(text)


def has_parser(script: Path, root: Path) -> bool:
    """Return whether a script may take words at all: it imports something of the kind, or reads `sys.argv`; of a shell's, always."""
    if script.suffix != ".py":
        return True
    return _takes_words(load_source(script, root))


def _takes_words(source: ScriptSource) -> bool:
    return any(_TAKES_WORDS.search(name) is not None for tree in source.trees for name in names_in(tree))


def uses_argparse(script: Path, root: Path) -> bool:
    """Return whether a Python script, or a module beside it, imports argparse or a library that is made of it."""
    return script.suffix == ".py" and load_source(script, root).imports(*_ARGPARSE)


def interface_of(source: ScriptSource) -> Interface | None:
    """Return what a script can be told; None where its source does not say it."""
    # Those of libraries that build on argparse come before it.
    readers: tuple[Callable[[ScriptSource], Interface | None], ...] = (
        read_lightning,
        read_dataclasses,
        read_signatures,
        read_jsonargparse,
        read_typer,
        read_click,
        read_absl,
        read_argparse,
        read_optparse,
        read_argv,
    )
    for reader in readers:
        found = reader(source)
        if found is not None:
            return found
    return read_environ(source, is_complete=not _takes_words(source))


def load_source(script: Path, root: Path) -> ScriptSource:
    """Return the source of a script and of the modules below a folder that it imports; what cannot be parsed is left out."""
    seen: dict[Path, ast.Module] = {}
    waiting = [script]
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.pop(0)
        if path in seen or (tree := _parsed(path)) is None:
            continue
        # What another file does only when it is run itself is not the script's.
        seen[path] = tree if path == script else _without_main(tree)
        waiting += _local_imports(tree, path, script, root)
    return make_source([*seen.values()])


def _parsed(path: Path) -> ast.Module | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _without_main(tree: ast.Module) -> ast.Module:
    kept = [line for line in tree.body if not (isinstance(line, ast.If) and "__name__" in ast.dump(line.test))]
    return ast.Module(kept, [])


def _local_imports(tree: ast.Module, path: Path, script: Path, root: Path) -> list[Path]:
    found: list[Path] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            head = node.module or ""
            names = [(head, node.level)] if head else []
            names += [(f"{head}.{alias.name}".lstrip("."), node.level) for alias in node.names]
        else:
            continue
        for name, level in names:
            folders = [path.parents[level - 1]] if 0 < level <= len(path.parents) else [script.parent, root]
            for folder in dict.fromkeys(folders):
                target = folder.joinpath(*name.split("."))
                found += [file for file in (target.with_suffix(".py"), target / "__init__.py") if file.is_file()]
    return found
