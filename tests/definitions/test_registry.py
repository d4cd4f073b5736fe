"""Benchmarks by name, by plugin and by path."""

import logging
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from definitions.errors import UserError
from definitions.registry import ListedBenchmark, Registry
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import Source


class Plugin:
    """An entry point that need not be installed."""

    def __init__(self, name, thing, distribution="some-plugin"):
        self.name, self.value, self._thing = name, f"module:{name}", thing
        self.dist = None if distribution is None else type("Distribution", (), {"name": distribution})()

    def load(self):
        if isinstance(self._thing, Exception):
            raise self._thing
        return self._thing


def definition(name="from_python", description="Made in Python."):
    return BenchmarkDefinition(name=name, description=description, script="t.py", space={"a": 1}, objectives={"x": "min"})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.yaml").write_text("name: alpha\ndescription: |\n  First line.\n  Second line.\n")
    (tmp_path / "two.yml").write_text("name: beta\n")
    (tmp_path / "readme.txt").write_text("no benchmark")
    return tmp_path


def test_the_name_inside_the_file_counts(folder):
    found = Registry(folder, []).find("alpha")
    assert isinstance(found, Source)
    assert found.path == folder / "one.yaml"
    with pytest.raises(UserError, match="there is no benchmark 'one'"):
        Registry(folder, []).find("one")


def test_the_list_has_summaries_of_one_line(folder):
    plugins = [Plugin("x", definition("aaa")), Plugin("y", lambda: definition("zzz", ""), None)]
    assert Registry(folder, plugins).names() == [
        ListedBenchmark("alpha", "First line.", "built-in"),
        ListedBenchmark("beta", "", "built-in"),
        ListedBenchmark("zzz", "", "module:y"),
        ListedBenchmark("aaa", "Made in Python.", "some-plugin"),
    ]


@pytest.mark.parametrize("wrap", [lambda path: path, lambda path: str(path), lambda path: lambda: path])
def test_a_plugin_may_give_the_path_of_a_file(folder, tmp_path_factory, wrap):
    file = tmp_path_factory.mktemp("plugin") / "mine.yaml"
    file.write_text("name: gamma\n")
    found = Registry(folder, [Plugin("g", wrap(file))]).find("gamma")
    assert isinstance(found, Source)
    assert found.path == file


def test_a_plugin_may_give_a_definition(folder):
    made = definition()
    assert Registry(folder, [Plugin("x", made)]).find("from_python") is made
    assert Registry(folder, [Plugin("x", lambda: made)]).find("from_python") is made


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (ImportError("no module named gone"), "ImportError: no module named gone"),
        (42, "TypeError: expected the path of a YAML file or a BenchmarkDefinition, got int"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        ("/nowhere/x.yaml", "UserError: /nowhere/x.yaml: there is no such file"),
    ],
)
def test_a_broken_plugin_is_left_out_with_a_warning(folder, caplog, thing, reason):
    registry = Registry(folder, [Plugin("bad", thing, "broken-dist"), Plugin("good", definition())])
    with caplog.at_level(logging.WARNING):
        assert [listed.name for listed in registry.names()] == ["alpha", "beta", "from_python"]
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"benchmark 'bad' of broken-dist is left out: {reason}")


def test_plugins_are_loaded_once(folder, caplog):
    registry = Registry(folder, [Plugin("bad", ImportError("x"))])
    registry.names()
    registry.find("alpha")
    assert len(caplog.messages) == 1


def test_a_plugin_without_a_name_is_left_out(folder, caplog, tmp_path_factory):
    file = tmp_path_factory.mktemp("plugin") / "x.yaml"
    file.write_text("script: t.py\n")
    assert len(Registry(folder, [Plugin("x", file)]).names()) == 2
    assert f"{file}:1: name: is missing" in caplog.text


def test_two_of_one_name_are_an_error_that_names_both(folder):
    with pytest.raises(UserError) as caught:
        Registry(folder, [Plugin("x", definition("beta"))]).find("alpha")
    assert str(caught.value) == (
        f"there are two benchmarks named 'beta'\n  built-in: {folder}/two.yml; and some-plugin\n  rename one, or uninstall the plugin"
    )


def test_an_unknown_name_lists_all(folder):
    with pytest.raises(UserError) as caught:
        Registry(folder, [Plugin("x", definition())]).find("alhpa")
    assert str(caught.value) == (
        "there is no benchmark 'alhpa'\n  there are:\n    alpha        First line.\n    beta\n"
        "    from_python  Made in Python.\n  did you mean 'alpha'?"
    )


def test_an_unknown_name_near_nothing(tmp_path):
    with pytest.raises(UserError) as caught:
        Registry(tmp_path, []).find("x")
    assert str(caught.value) == "there is no benchmark 'x'\n  there are none\n  give one of these, or the path of a YAML file (FILE.yaml)"


@pytest.mark.parametrize("name", ["demo.yaml", "./demo.yml", "sub/demo", "/x/y"])
def test_paths_are_read_as_files(folder, tmp_path_factory, monkeypatch, name):
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    with pytest.raises(UserError, match="there is no such file"):
        Registry(folder, []).find(name)
    if not Path(name).is_absolute():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("name: anything\n")
        assert Registry(folder, []).find(name).data == {"name": "anything"}


def test_a_path_does_not_load_plugins(folder, caplog):
    assert Registry(folder, [Plugin("bad", ImportError("x"))]).find(str(folder / "one.yaml")).data["name"] == "alpha"
    assert caplog.messages == []


def test_real_entry_points_are_loaded():
    point = EntryPoint("x", "definitions.schema:BenchmarkDefinition", "outrider.benchmarks")
    assert Registry(Path("/nowhere"), [point]).names() == []


def test_every_built_in_benchmark_resolves():
    registry = Registry(entry_points=[])
    for name, summary, origin in registry.names():
        found = registry.find(name)
        assert isinstance(found, Source)
        resolve(found, "local")
        assert summary, f"{name} has no description"
        assert origin == "built-in"


def test_a_file_of_a_like_name_is_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    for asked in ("mine.yml", "mine"):
        with pytest.raises(UserError, match=r"did you mean (the file )?mine\.yaml\?"):
            Registry(folder=tmp_path / "none", entry_points=()).find(asked)
