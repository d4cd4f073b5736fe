"""Functions as scripts: whatever defines one, a process of its own computes the same, or a sentence says why it cannot."""

from __future__ import annotations

import json
import linecache
import os
import re
import subprocess
import sys
from types import ModuleType

import pytest

from backends.reports import REPORT_MARK
from definitions.errors import UserError
from launch.functions import definition_of
from tests.launch.conftest import ROOT


class Notebook:
    """A main module without a file, whose cells are defined as IPython does."""

    def __init__(self, folder):
        self.folder = folder
        self.main = ModuleType("__main__")
        self.main.get_ipython = lambda: None
        self.count = 0

    def run(self, source):
        self.count += 1
        name = f"<cell {id(self)} {self.count}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), vars(self.main))

    def value(self, expression):
        return eval(expression, vars(self.main))

    def definition(self, function, values, **keys):
        return definition_of(function, {"arguments": values, **keys}, self.folder / "cache")

    def reported(self, function, **values):
        """Return what a function reports in a process of its own."""
        return reported(self.definition(function, values), self.folder, values)


def reported(keys, folder, values):
    path = folder / "arguments.json"
    path.write_text(json.dumps(values))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "backends" / "reporter")}
    words = [sys.executable, f"{keys['source_dir']}/{keys['script']}", str(path)]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (line,) = re.findall(re.escape(REPORT_MARK) + r"(.*)", done.stdout)
    return {name: value for name, value in json.loads(line).items() if not name.startswith(("st_", "outrider_"))}


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    made = Notebook(tmp_path)
    monkeypatch.setitem(sys.modules, "__main__", made.main)
    monkeypatch.chdir(tmp_path)
    return made


IN_CELLS = {
    "a number": ("def f(x):\n    return 2 * x", "f", 6.0),
    "numpy's number": ("import numpy as np\ndef f(x):\n    return np.float32(x)", "f", 3.0),
    "a default": ("def f(x, n=4):\n    return x * n", "f", 12.0),
    "a default that was computed": ("n = 4\ndef f(x, *, n=n + 1):\n    return x * n\nn = 99", "f", 15.0),
    "a module": ("import math\ndef f(x):\n    return math.sqrt(x * 3)", "f", 3.0),
    "a module of a module": (
        "import xml.etree.ElementTree\ndef f(x):\n"
        "    return len(xml.etree.ElementTree.XML('<a><b/></a>')) + x", "f", 4.0),
    "a name from a module": ("from math import sqrt as root\ndef f(x):\n    return root(x * 3)", "f", 3.0),
    "a value": ("table = {'a': [1, (2, None)], 'b': float('inf')}\ndef f(x):\n    return x + table['a'][1][0]", "f", 5.0),
    "an array": ("import numpy\nweights = numpy.arange(4.0)\ndef f(x):\n    return x + weights.sum()", "f", 9.0),
    "another function": ("def g(x):\n    return h(x) + 1\ndef h(x):\n    return 2 * x\ndef f(x):\n    return g(x)", "f", 7.0),
    "itself": ("def f(x):\n    return 1 if x <= 1 else x * f(x - 1)", "f", 6.0),
    "two that name each other": (
        "def f(x):\n    return x if x < 1 else g(x - 1)\ndef g(x):\n    return f(x) + 10",
        "f", 30.0),
    "one that was redefined": ("def g(x):\n    return x\nf = g\ndef g(x):\n    return 10 * f(x)", "g", 30.0),
    "a class": (
        "class Model:\n    scale = 5\n    def fit(self, x):\n        return self.scale * x\ndef f(x):\n"
        "    return Model().fit(x)", "f", 15.0),
    "a class without methods": (
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n    n: int = 2\ndef f(x):\n"
        "    return P().n * x", "f", 6.0),
    "an object of a class": ("class M:\n    def __init__(self):\n        self.n = 7\nm = M()\ndef f(x):\n    return m.n + x", "f", 10.0),
    "an attribute like a value that cannot be had": (
        "import threading\nlock = threading.Lock()\nclass M:\n    lock = 4\ndef f(x):\n    return M.lock + x", "f", 7.0),
    "a lambda": ("f = lambda x, n=2: x ** n", "f", 9.0),
    "one of two lambdas on a line": ("f, g = (lambda x: x + 1), (lambda x: x + 2)", "g", 5.0),
    "a lambda in a lambda": ("f = lambda n: lambda x: x * n", "f(5)", 15.0),
    "a lambda over lines": ("f = (\n    lambda x: x\n    + 40\n)", "f", 43.0),
    "a closure": ("def make(n):\n    def f(x):\n        return x * n\n    return f", "make(6)", 18.0),
    "a closure of functions": (
        "def make(inner, n):\n    def f(x):\n        return inner(x) + n\n    return f\ndef g(x):\n"
        "    return -x", "make(g, 1)", -2.0),
    "a nested one that names itself": (
        "def make():\n    def f(x):\n        return 1 if x <= 1 else x * f(x - 1)\n    return f", "make()", 6.0),
    "one with text over lines": (
        "def make(n):\n    def f(x):\n        text = '''a\nb'''\n        return len(text) + x + n\n"
        "    return f", "make(0)", 6.0),
    "decorated": (
        "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(**k):\n        return 2 * f(**k)\n    return g\n"
        "@twice\ndef f(x):\n    return x", "f", 6.0),
    "decorated without a trace": ("def twice(f):\n    return lambda x: 2 * f(x)\n@twice\ndef f(x):\n    return x", "f", 6.0),
    "decorated twice, with arguments": (
        "import functools\ndef plus(n):\n    def d(f):\n        @functools.wraps(f)\n"
        "        def g(x):\n            return f(x) + n\n        return g\n    return d\n"
        "@plus(1)\n@plus(20)\ndef f(x):\n    return x", "f", 24.0),
    "a partial": ("import functools\ndef f(x, n, m):\n    return x + n + m", "functools.partial(f, n=10, m=100)", 113.0),
    "a method": ("class M:\n    def __init__(self, n):\n        self.n = n\n    def f(self, x):\n        return x + self.n", "M(4).f", 7.0),
    "a method of a class": ("class M:\n    @classmethod\n    def f(cls, x):\n        return x + len(cls.__name__)", "M.f", 4.0),
    "annotated by what is not there": ("class T: pass\nbig = {}\ndef f(x: T, n: 'Never' = 2) -> big:\n    return x * n\ndel T", "f", 6.0),
    "a global that is set": ("calls = 1\ndef f(x):\n    global calls\n    calls += x\n    return calls", "f", 4.0),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_CELLS)
def test_what_a_notebook_defines_is_defined_again(notebook, case):
    source, expression, expected = IN_CELLS[case]
    notebook.run(source)
    function = notebook.value(expression)
    assert notebook.reported(function, x=3) == {"loss": expected}
    assert float(function(x=3)) == expected


@pytest.mark.slow
def test_cells_use_one_another_and_modules_beside_the_notebook(notebook, monkeypatch):
    (notebook.folder / "mine").mkdir()
    (notebook.folder / "mine" / "data.py").write_text("N = 5\ndef load(x):\n    return x + N\n")
    (notebook.folder / "launch.py").write_text("MINE = 70\n")
    monkeypatch.syspath_prepend(notebook.folder)
    notebook.run("from mine import data\nfrom mine.data import load")
    notebook.run("offset = 100")
    notebook.run("import outrider\ndef train(x):\n    import launch\n    outrider.report(a=load(x) + offset, b=data.N, c=launch.MINE)")
    assert notebook.reported(notebook.value("train"), x=1) == {"a": 106, "b": 5, "c": 70}


@pytest.mark.slow
def test_a_mapping_is_reported_by_its_names_and_values_of_any_kind_arrive(notebook):
    notebook.run(
        "def f(hidden, name, on, nothing):\n    return {'n': sum(hidden), name: 2.5, 'is_on': on is True, 'is_none': nothing is None}"
    )
    found = notebook.reported(notebook.value("f"), hidden=[1, 2], name="score", on=True, nothing=None)
    assert found == {"n": 3, "score": 2.5, "is_on": True, "is_none": True}


@pytest.mark.parametrize(
    ("source", "expression", "said"),
    [
        ("import threading\nlock = threading.Lock()\ndef f(x):\n    return lock", "f", r"'lock', which f uses, is a _thread.lock"),
        ("def make(file):\n    return lambda x: file", "make(open('/dev/null'))", r"'file', which the lambda uses, is a _io.TextIOWrapper"),
        ("def f(x, g=(i for i in [])):\n    return x", "f", r"the default of 'g' in f is a generator"),
        (
            "exec(compile('def f(x): return x', '<stdin>', 'exec'))",
            "f",
            r"f was typed at a prompt of Python, which keeps no source\n  put it into a file and import it, or type it in IPython",
        ),
        ("exec('def f(x): return x')", "f", r"the source of f is not to be had here\n  put it .*; in a notebook, "),
        ("import types\nm = types.ModuleType('made')\ndef f(x):\n    return m", "f", r"'m', which f uses, is a module that was made here"),
        ("exec('class C: pass')\ndef f(x):\n    return C", "f", r"'C', which f uses, is a class whose source is not to be had here"),
        ("def make():\n    def f(x):\n        return g(x)\n    def g(x):\n        return f(x)\n    return f", "make()", r"name each other"),
        ("def f(x):\n    get_ipython().system('ls')\n    return x", "f", r"f has commands of the notebook"),
        ("def f(y):\n    return y", "f", r"it has no parameter 'x'\n  known: y"),
        ("def f(x, /):\n    return x", "f", r"'x' can only be given by its place"),
        ("def f(x, rate):\n    return x", "f", r"nothing gives it 'rate'"),
    ],
)  # fmt: skip
def test_what_no_process_can_be_given_is_told_with_what_to_do(notebook, source, expression, said):
    notebook.run(source)
    with pytest.raises(UserError, match=said) as caught:
        notebook.definition(notebook.value(expression), {"x": 1})
    assert caught.value.asked.startswith("outrider.run(")


@pytest.mark.slow
def test_what_is_returned_and_is_no_metric_is_named_by_the_job(notebook):
    notebook.run("def f(x):\n    return [x]")
    keys = notebook.definition(notebook.value("f"), {"x": 1})
    with pytest.raises(
        AssertionError, match="TypeError: the function returned a list; a number, a mapping of metrics, or nothing is expected"
    ):
        reported(keys, notebook.folder, {"x": 1})


def test_the_script_can_be_read(notebook):
    notebook.run("import math\nscale = 3\n\n\ndef train(x, power=2):\n    # A comment of mine.\n    return scale * math.pow(x, power)\n")
    keys = notebook.definition(notebook.value("train"), {"x": 1})
    assert keys["name"] == "train"
    text = (notebook.folder / keys["source_dir"] / "run_train.py").read_text()
    assert text.splitlines()[4:] == [
        "scale = 3",
        "math = job.imported('math')",
        "def train(x, power=2):",
        "    # A comment of mine.",
        "    return scale * math.pow(x, power)",
        "_value_0 = train",
        "job.call(_value_0, 'loss')",
    ]


def test_what_it_uses_is_part_of_what_it_is(notebook):
    notebook.run("scale = 3\ndef f(x):\n    return scale * x")
    first = notebook.definition(notebook.value("f"), {"x": 1})["source_dir"]
    assert notebook.definition(notebook.value("f"), {"x": 2})["source_dir"] == first
    notebook.run("scale = 4")
    assert notebook.definition(notebook.value("f"), {"x": 1})["source_dir"] != first


SCRIPT = """\
import functools, json, sys
import outrider
from launch.functions import definition_of
from pathlib import Path

scale = 2
loads = open("loads", "a").write(__name__ + "\\n")

def plain(x):
    return scale * x

named = lambda x: scale + x

def twice(f):
    return lambda x: 2 * f(x)

@twice
def decorated(x):
    return x

class Model:
    n = 7
    @staticmethod
    def fit(x):
        return Model.n + x

def make(n):
    def inner(x):
        return plain(x) + n
    return inner

if __name__ == "__main__":
    def guarded(x):
        return scale * x + 1
    functions = [plain, named, decorated, Model.fit, make(5), guarded, functools.partial(make(1)), lambda x: plain(x)]
    print(json.dumps([definition_of(f, {"arguments": {"x": 3}}, Path("cache")) for f in functions]))
"""


@pytest.mark.slow
def test_what_a_script_defines_is_taken_from_its_file_or_its_source(tmp_path):
    (tmp_path / "tune.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "tune.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [reported(keys, tmp_path, {"x": 3})["loss"] for keys in json.loads(done.stdout)]
    assert found == [6.0, 5.0, 6.0, 10.0, 11.0, 7.0, 7.0, 6.0]
    # Whatever needs nothing of the file but values does not run it again.
    assert (tmp_path / "loads").read_text().split() == ["__main__"] + 7 * ["tuned_function"]


@pytest.mark.slow
def test_a_function_of_an_imported_module_is_imported_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "values.py").write_text("n = 3\n")
    (tmp_path / "package" / "code.py").write_text("from .values import n\n\ndef train(x):\n    return x * n + len(__name__)\n")
    monkeypatch.syspath_prepend(tmp_path)
    from package.code import train  # type: ignore[import-not-found]

    first = definition_of(train, {"arguments": {"x": 3}}, tmp_path / "cache")
    assert reported(first, tmp_path, {"x": 3}) == {"loss": 21.0}
    with pytest.raises(UserError, match=r"it needs code.py, which only jobs on this machine find"):
        definition_of(train, {"arguments": {"x": 3}}, tmp_path / "cache", elsewhere=True)
    (tmp_path / "package" / "code.py").write_text("def train(x):\n    return 0\n")
    assert definition_of(train, {"arguments": {"x": 3}}, tmp_path / "cache")["source_dir"] != first["source_dir"]
