"""The source of a function or class that a file, a cell or a line of Python defines, so that another process can define it again."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef

_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})


@dataclass(frozen=True)
class DefinedAt:
    """Where a definition stands.

    Args:
        source: of the whole file or cell.
        node: the definition in it.
    """

    source: str
    node: Definition

    @property
    def decorators(self) -> Sequence[ast.expr]:
        """What stands above it after `@`."""
        return () if isinstance(self.node, ast.Lambda) else self.node.decorator_list

    @property
    def is_indented(self) -> bool:
        """Whether it stands inside of something."""
        return self.node.col_offset > 0

    def text(self, replaced: Mapping[ast.expr, str], *, decorated: bool) -> str:
        """Return its text as it stands, indented as it is.

        Args:
            replaced: what stands in place of parts of it.
            decorated: whether with its decorators.
        """
        data = self.source.encode()
        starts = [0]
        for line in self.source.split("\n"):
            starts.append(starts[-1] + len(line.encode()) + 1)

        def place(line: int, column: int) -> int:
            return starts[line - 1] + column

        if isinstance(self.node, ast.Lambda):
            begin = place(self.node.lineno, self.node.col_offset)
        else:
            begin = place(min([self.node.lineno, *(one.lineno for one in self.decorators if decorated)]), 0)
        end = place(self.node.end_lineno or 0, self.node.end_col_offset or 0)
        parts = []
        for part, text in sorted(replaced.items(), key=lambda item: (item[0].lineno, item[0].col_offset)):
            parts += [data[begin : place(part.lineno, part.col_offset)].decode(), text]
            begin = place(part.end_lineno or 0, part.end_col_offset or 0)
        return "".join([*parts, data[begin:end].decode()])


def source_of(code: CodeType) -> DefinedAt | None:
    """Return where a function stands; None where its source is not to be had, or is no longer what was compiled.

    Args:
        code: of the function.
    """
    try:
        lines, _ = inspect.findsource(code)
        source = "".join(lines)
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            is_it = code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and _fits(node, code)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            is_it = node.name == code.co_name and min([node.lineno, *(one.lineno for one in node.decorator_list)]) == code.co_firstlineno
        else:
            continue
        if is_it:
            return DefinedAt(source, node)
    return None


def source_of_class(name: str, files: Sequence[str]) -> DefinedAt | None:
    """Return where a class stands that is defined at the top level of a file or cell; of several the last.

    Args:
        name: of the class.
        files: the names, as in code objects, of files and cells.
    """
    found = None
    for file in files:
        source = "".join(linecache.getlines(file))
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError):
            continue
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                found = DefinedAt(source, node)
    return found


def global_names(code: CodeType) -> Iterator[str]:
    """Yield the global names that a code object and what is defined in it use, each once; those of Python itself are among them."""
    seen: set[str] = set()
    waiting = [code]
    while waiting:
        one = waiting.pop()
        waiting += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
        for instruction in dis.get_instructions(one):
            name = instruction.argval
            if instruction.opname in _GLOBAL and name not in seen:
                seen.add(name)
                yield name


def attribute_chains(node: ast.AST, name: str) -> Iterator[str]:
    """Yield what is read of a name in a text, dotted: `a.b.c` and `a.b` where that is written."""
    for inner in ast.walk(node):
        parts: list[str] = []
        while isinstance(inner, ast.Attribute):
            parts.insert(0, inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id == name:
            yield ".".join(parts)


def _fits(node: ast.Lambda, code: CodeType) -> bool:
    """Return whether a lambda is the one that was compiled: several may stand on a line, or one in another."""
    first, last = (node.body.lineno, node.body.col_offset), (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    # The first instructions stand for the whole; they have no column.
    places = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column]
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return names == list(code.co_varnames[: code.co_argcount]) and bool(places) and all(first <= place <= last for place in places)


def top_level_names(source: str) -> frozenset[str]:
    """Return the names that a file gives to something when it is imported: not those below `if __name__ == "__main__":`."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(one.asname or one.name).partition(".")[0] for one in node.names}
    return frozenset(names)
