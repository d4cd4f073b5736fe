"""Writes the script that has a function of this process in another one: by its file where it has one, else by its source."""

from __future__ import annotations

import ast
import functools
import inspect
import io
import linecache
import pickle
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from definitions.errors import UserError
from launch.function_source import DefinedAt, attribute_chains, global_names, source_of, source_of_class, top_level_names

_PLAIN = (bool, int, str, bytes, complex, type(None), type(Ellipsis))
_IN_A_FILE = "put it into a file and import it"
_LONGEST_TEXT = 10_000
_INSTALLED = tuple({Path(path).resolve() for path in (sys.prefix, sys.base_prefix)})


class FunctionScript:
    """What a script has to say before it can call a function.

    Args:
        main: the module whose functions and classes cannot be imported elsewhere: that of a notebook, or the script that runs.
        modules: all that were imported, by name.
    """

    def __init__(self, main: ModuleType, modules: Mapping[str, ModuleType]) -> None:
        self._main = main
        self._modules = modules
        self._lines: list[str] = []
        self._names: dict[str, str] = {}
        self._handles: dict[int, str] = {}
        self._kept: list[Any] = []
        self._open: set[str] = set()
        self._asked = ""
        self._file = _file_of(main)
        self._in_file = frozenset[str]() if self._file is None else top_level_names(self._file.read_text(encoding="utf-8"))
        self.files: dict[str, bytes] = {}
        """Values that are no text, by the name of the file beside the script that has them."""
        self.sources: dict[Path, None] = {}
        """Files of the user's own that the script imports."""

    def expression(self, function: Callable[..., Any]) -> str:
        """Return the expression that stands for a function, after `text`.

        Raises:
            UserError: another process cannot have it; says what of it, and what to do.
        """
        self._asked = f"outrider.run({getattr(function, '__qualname__', repr(function))})"
        return self._value(function, "it")

    @property
    def text(self) -> str:
        """Statements that come before the expression."""
        # A definition may have hidden what another cell called by its name, or name what came after it.
        last = [f"{name} = {handle}" for name, handle in self._names.items() if handle in self._handles.values()]
        return "\n".join([*self._lines, *last])

    def _value(self, value: Any, what: str) -> str:
        """Return an expression for a value, and write down what it needs."""
        if type(value) in _PLAIN and not (isinstance(value, (str, bytes)) and len(value) > _LONGEST_TEXT):
            return repr(value)
        if isinstance(value, float):
            return f"float({str(value)!r})" if value != value or value in (float("inf"), float("-inf")) else repr(float(value))
        if id(value) in self._handles:
            return self._handles[id(value)]
        if isinstance(value, ModuleType):
            return self._module(value, what)
        if isinstance(value, (type, FunctionType, BuiltinFunctionType, functools.partial)) and (found := self._importable(value)):
            return found
        if isinstance(value, FunctionType):
            return self._remember(value, lambda handle: self._function(value, handle, what))
        if isinstance(value, type):
            return self._remember(value, lambda handle: self._class(value, handle, what))
        if isinstance(value, functools.partial):
            given = [*value.args, *value.keywords.values()]
            names = ["", *("" for _ in value.args), *(f"{name}=" for name in value.keywords)]
            parts = [name + self._value(one, what) for name, one in zip(names, [value.func, *given], strict=True)]
            return f"job.imported('functools', 'partial')({', '.join(parts)})"
        if isinstance(value, MethodType):
            return f"{self._value(value.__self__, what)}.{value.__name__}"
        if type(value) in (list, tuple, dict, set, frozenset) and (text := _written(value)):
            return text
        return self._remember(value, lambda handle: self._pickled(value, handle, what))

    def _remember(self, value: Any, write: Callable[[str], None]) -> str:
        """Write a value down once, under a name of its own."""
        handle = f"_value_{len(self._handles)}"
        self._handles[id(value)] = handle
        self._kept.append(value)  # so that no other value gets its id
        self._open.add(handle)
        write(handle)
        self._open.discard(handle)
        return handle

    def _global(self, name: str, value: Any, what: str) -> None:
        """Write down that a global name means a value."""
        if name not in self._names:
            self._names[name] = name  # known from now on, as a function may name itself
            self._names[name] = self._value(value, what)
            if self._names[name] not in self._open:
                self._lines.append(f"{name} = {self._names[name]}")

    def _module(self, module: ModuleType, what: str) -> str:
        if self._modules.get(module.__name__) is not module:
            raise self._refusal(f"{what} is a module that was made here", _IN_A_FILE)
        self._note_source(module)
        return f"job.imported({module.__name__!r})"

    def _importable(self, value: Any) -> str:
        """Return an expression that imports a class or function; empty where it cannot be imported by a name."""
        module = self._modules.get(getattr(value, "__module__", None) or "")
        names = [getattr(value, "__qualname__", "")]
        if module is self._main and module is not None:
            # What a decorator made is called otherwise than what it is found by.
            names += [name for name, one in vars(module).items() if one is value]
            names = [name for name in names if name.partition(".")[0] in self._in_file]
        for name in names if module is not None else ():
            found: Any = module
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is value:
                return self._from(module, name)
        return ""

    def _from(self, module: ModuleType | None, name: str) -> str:
        assert module is not None
        if module is not self._main:
            self._note_source(module)
            return f"job.imported({module.__name__!r}, {name!r})"
        assert self._file is not None
        self.sources[self._file] = None
        if "_main" not in self._names:
            self._names["_main"] = "_main"
            self._lines.append(f"_main = {_load(module, self._file)}")
        return f"_main.{name}"

    def _note_source(self, module: ModuleType) -> None:
        file = getattr(module, "__file__", None)
        if file is not None and module.__name__ != "outrider" and not is_installed(Path(file)):
            self.sources[Path(file).resolve()] = None

    def _function(self, function: FunctionType, handle: str, what: str) -> None:
        whole = inspect.unwrap(function)
        found = source_of(whole.__code__) if isinstance(whole, FunctionType) else None
        if whole is function or found is None or found.is_indented or not found.decorators or whole.__globals__ is not vars(self._main):
            whole, decorated = function, False
            found = source_of(function.__code__)
        else:
            decorated = True
        name = function.__name__ if found is None or isinstance(found.node, ast.Lambda) else found.node.name
        if found is None or isinstance(found.node, ast.ClassDef):
            advice = (
                _IN_A_FILE if self._file is not None else f"{_IN_A_FILE}; in a notebook, define it in a cell that does not begin with %%"
            )
            if function.__code__.co_filename == "<stdin>":
                fact = f"{name if what == 'it' else what} was typed at a prompt of Python, which keeps no source"
                raise self._refusal(fact, f"{_IN_A_FILE}, or type it in IPython or a notebook, which keep it")
            raise self._refusal(f"the source of {name if what == 'it' else what} is not to be had here", advice)
        body = [found.node.body] if isinstance(found.node, ast.Lambda) else found.node.body
        needed = {key: whole.__globals__[key] for key in global_names(whole.__code__) if key in whole.__globals__}
        if decorated:
            used = {inner.id for one in found.decorators for inner in ast.walk(one) if isinstance(inner, ast.Name)}
            needed |= {key: whole.__globals__[key] for key in sorted(used) if key in whole.__globals__}
        if "get_ipython" in needed:
            raise self._refusal(f"{name if what == 'it' else what} has commands of the notebook (`!...` or `%...`)", "leave them out")
        for key, value in needed.items():
            if isinstance(value, ModuleType):
                self._submodules(value, (part for one in body for part in attribute_chains(one, key)))
        cells = {
            key: cell.cell_contents for key, cell in zip(whole.__code__.co_freevars, whole.__closure__ or (), strict=True) if _full(cell)
        }
        text = found.text(self._signature(whole, found.node, name), decorated=decorated)
        is_here = whole.__globals__ is vars(self._main)
        if is_here:
            for key, value in needed.items():
                self._global(key, value, f"{key!r}, which {_called(name)} uses,")
        inner = {**({} if is_here else needed), **cells}
        self._lines += self._defined(text, found, name, handle, inner)

    def _defined(self, text: str, found: DefinedAt, name: str, handle: str, inner: Mapping[str, Any]) -> Iterator[str]:
        """Yield the statements that define a function under a handle, some names around it meaning what they meant there."""
        is_expression = isinstance(found.node, ast.Lambda)
        itself = [key for key, value in inner.items() if self._handles.get(id(value)) == handle]
        given = {key: self._value(value, f"{key!r}, which {_called(name)} uses,") for key, value in inner.items() if key not in itself}
        if not self._open.isdisjoint(given.values()):
            raise self._refusal(f"{_called(name)} is one of several functions inside of a function that name each other", _IN_A_FILE)
        if not inner:
            yield from (
                [f"{handle} = ({text})"]
                if is_expression
                else [text if not found.is_indented else f"if True:\n{text}", f"{handle} = {name}"]
            )
            return
        yield f"def _make{handle}({', '.join(given)}):"
        if is_expression:
            yield f"    {itself[0] if itself else '_made'} = ({text})\n    return {itself[0] if itself else '_made'}"
        else:
            text = text if found.is_indented else textwrap.indent(text, "    ")
            margin = text[: len(text) - len(text.lstrip())]
            yield from [text, *(f"{margin}{key} = {name}" for key in itself if key != name), f"{margin}return {name}"]
        yield f"{handle} = _make{handle}({', '.join(given.values())})"

    def _signature(self, function: FunctionType, node: Any, name: str) -> dict[ast.expr, str]:
        """Return what stands in place of the defaults, which were computed where it was defined, and of annotations, which nobody reads."""
        arguments: ast.arguments = node.args
        replaced: dict[ast.expr, str] = {}
        places = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
        for place, default, value in zip(places, arguments.defaults, function.__defaults__ or (), strict=False):
            replaced[default] = self._value(value, f"the default of {place.arg!r} in {_called(name)}")
        named = function.__kwdefaults__ or {}
        for place, written in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if written is not None and place.arg in named:
                replaced[written] = self._value(named[place.arg], f"the default of {place.arg!r} in {_called(name)}")
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        annotations = [one.annotation for one in every if one is not None] + [getattr(node, "returns", None)]
        return {**replaced, **{one: repr(ast.unparse(one)) for one in annotations if one is not None}}

    def _class(self, kind: type, handle: str, what: str) -> None:
        codes = [one.__code__ for one in vars(kind).values() if isinstance(one, FunctionType)]
        cells = [name for name in linecache.cache if not Path(name).is_file()]
        own = getattr(self._main, "__file__", None)
        found = source_of_class(kind.__name__, [*cells, *([own] if own else []), *(code.co_filename for code in codes)])
        if found is None or "." in kind.__qualname__:
            raise self._refusal(f"{what} is a class whose source is not to be had here", _IN_A_FILE)
        text = found.text({}, decorated=True)
        names = global_names(compile(text, "<class>", "exec"))
        for key, value in ((key, vars(self._main)[key]) for key in names if key in vars(self._main) and key != kind.__name__):
            self._global(key, value, f"{key!r}, which {kind.__name__} uses,")
        self._lines += [text, f"{handle} = {kind.__name__}"]

    def _submodules(self, module: ModuleType, chains: Iterator[str]) -> None:
        """Import those parts of a package that are modules of their own: `import xml.etree.ElementTree` gives the name `xml`."""
        for chain in dict.fromkeys(chains):
            full = f"{module.__name__}.{chain}"
            if isinstance(self._modules.get(full), ModuleType):
                self._lines.append(f"job.imported({full!r})")

    def _pickled(self, value: Any, handle: str, what: str) -> None:
        kinds: list[Any] = []
        buffer = io.BytesIO()
        try:
            _Pickler(buffer, self._main, kinds).dump(value)
        except Exception as error:  # whatever a class says of why it cannot be copied
            kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("__main__.").removeprefix("builtins.")
            advice = "make it inside of the function, or put both into a file and import the function"
            raise self._refusal(f"{what} is a {kind}, which no other process can be given ({error})", advice) from error
        for kind in kinds:
            self._global(kind.__qualname__, kind, f"the class {kind.__qualname__}")
        name = f"{handle.strip('_')}.pickle"
        self.files[name] = buffer.getvalue()
        self._lines += [
            *(f"{kind.__qualname__} = {self._names[kind.__qualname__]}" for kind in kinds),
            f"{handle} = job.value_of({name!r})",
        ]

    def _refusal(self, fact: str, advice: str) -> UserError:
        return UserError(self._asked, f"a trial has a process of its own, and {fact}", advice)


class _Pickler(pickle.Pickler):
    """Notes the classes and functions of the main module, which another process has only if they are defined there first."""

    def __init__(self, file: io.BytesIO, main: ModuleType, found: list[Any]) -> None:
        super().__init__(file, protocol=5)
        self._main, self._found = main, found

    def reducer_override(self, value: Any) -> Any:
        """Pickle as usual."""
        if isinstance(value, (type, FunctionType)) and value.__module__ == self._main.__name__ and value not in self._found:
            self._found.append(value)
        return NotImplemented


def is_installed(path: Path) -> bool:
    """Return whether a file or folder belongs to the interpreter, so that every process of it finds it."""
    return any(path.resolve().is_relative_to(home) for home in _INSTALLED)


def _file_of(main: ModuleType) -> Path | None:
    """Return the script that a process runs; None in a notebook or at a prompt."""
    file = getattr(main, "__file__", None)
    return None if file is None or hasattr(main, "get_ipython") or not Path(file).is_file() else Path(file).resolve()


def _load(main: ModuleType, file: Path) -> str:
    """Return the expression that has the module which is the script of this process; one that `-m` named is imported by its name."""
    named = getattr(getattr(main, "__spec__", None), "name", None)
    return f"job.imported({named!r})" if named else f"job.module_of({str(file)!r})"


def _called(name: str) -> str:
    return "the lambda" if name == "<lambda>" else name


def _full(cell: Any) -> bool:
    """Return whether a variable around a function had a value when it was asked for."""
    try:
        cell.cell_contents  # noqa: B018 (it raises where it is empty)
    except ValueError:
        return False
    return True


def _written(value: Any) -> str:
    """Return a short value as Python writes it; empty where that would not give it back."""
    text = repr(value) if not isinstance(value, (set, frozenset)) else ""
    try:
        return text if 0 < len(text) < _LONGEST_TEXT and _same(ast.literal_eval(text), value) else ""
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""


def _same(read: Any, value: Any) -> bool:
    if type(read) is not type(value):
        return False
    if isinstance(read, dict):
        return list(map(_key, read)) == list(map(_key, value)) and all(map(_same, read.values(), value.values()))
    if isinstance(read, (list, tuple)):
        return len(read) == len(value) and all(map(_same, read, value))
    return bool(read == value)


def _key(key: Any) -> tuple[type, Any]:
    return type(key), key
