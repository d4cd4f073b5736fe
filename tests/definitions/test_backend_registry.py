"""Back-ends by name: built-in ones, plug-ins, and plug-ins that cannot be used."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from definitions.backend_description import BackendDescription
from definitions.backend_registry import BUILT_IN, backend_description, backend_names
from definitions.definition_hash import definition_hash
from definitions.errors import UserError
from definitions.parts import Overrides
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import parse_yaml

GROUP = "outrider.backends"
TEXT = "name: d\nscript: t.py\nspace: {a: 1}\nobjectives: {x: min}\n"


class OtherBlock(Overrides):
    path: str | None = None
    names: tuple[str, ...] | None = None
    pace: int | None = None


class Other(BackendDescription[OtherBlock]):
    name = "other"
    implementation = "nowhere:Backend"
    block = OtherBlock
    unhashed = frozenset({"pace"})
    paths = ("path",)


class Above(Other):
    name = "above"
    builds_on = ("other",)


OTHER, ABOVE, NOTHING = Other(), Above(), 5
NAMELESS, BLOCKLESS = BackendDescription(), type("B", (Other,), {"name": "other", "block": int})()


def plugin(name, attribute, module=__name__):
    return EntryPoint(name, f"{module}:{attribute}", GROUP)


@pytest.fixture
def install(monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])

    def put(*points):
        monkeypatch.setattr("definitions.backend_registry.installed", lambda group: points if group == GROUP else ())

    return put


def resolved(text, backend, settings=(), **given):
    return resolve(parse_yaml(TEXT + text, Path("/f/d.yaml")), backend, settings, check_files=False, **given).definition


def refused(text, backend="local", settings=()):
    with pytest.raises(UserError) as caught:
        resolved(text, backend, settings)
    return str(caught.value)


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_built_in_one_describes_itself_under_its_name(name):
    found = backend_description(name)
    assert found.name == name
    assert found.layers[-1] == name
    assert set(found.unhashed) | set(found.paths) <= set(found.block.model_fields) - set(Overrides.model_fields)


def test_two_of_one_name_and_an_unknown_one(install):
    install(plugin("other", "OTHER"), plugin("local", "OTHER"))
    with pytest.raises(UserError, match="two back-ends are called 'local'"):
        backend_names()
    install(plugin("other", "OTHER"))
    assert backend_names() == ("local", "simulated", "sagemaker", "warm_pool", "ray", "other")
    with pytest.raises(UserError, match=r"there is no back-end 'othre'\n  installed: .*\n  did you mean 'other'"):
        backend_description("othre")


def test_a_block_of_a_plug_in_is_merged_set_and_hashed_by_its_description(install):
    install(plugin("other", "OTHER"), plugin("above", "ABOVE"))
    text = "other: {arguments: {b: 2}, path: runs, names: [n]}\nabove: {pace: 3}\n"
    found = resolved(text, "above", ["other.names=m,n"])
    assert (found.arguments, found.block("above", OtherBlock)) == ({"b": 2}, OtherBlock(path="/f/runs", names=("m", "n"), pace=3))
    assert definition_hash(found) == definition_hash(resolved(text, "above", ["names=m,n", "above.pace=4"]))
    assert definition_hash(found) != definition_hash(resolved(text, "above", ["names=m"]))
    assert resolved(text, "local").blocks == {}
    assert refused(text, "local", ["other.pace=1"]).startswith("--set other.pace=1: this is about the back-end other")
    assert refused(text, "other", ["other.pece=1"]) == "--set other.pece=1: there is no key 'other.pece'\n  did you mean other.pace?"
    assert refused(text, "other", ["other=1"]).startswith("--set other=1: 'other' has parts")
    made = BenchmarkDefinition(name="d", script="t", objectives={"x": "min"}, other=OtherBlock(pace=2))
    assert made.model_dump(exclude_unset=True)["other"] == {"pace": 2}


def test_problems_in_a_plug_ins_block_say_where_they_are(install):
    install(plugin("other", "OTHER"))
    assert refused("other:\n  pece: 1\n  names: n\n").splitlines()[1:] == [
        "  /f/d.yaml:6: other.pece: unknown key; did you mean 'pace'?",
        "  /f/d.yaml:7: other.names: needs a list; 'n' was given",
    ]
    assert refused("other: 5") == "/f/d.yaml:5: other: needs a mapping (key: value); 5 was given"


def test_a_block_of_a_plug_in_that_is_not_installed(install):
    install(plugin("other", "OTHER"))
    assert refused("othre: {pace: 1}\n") == (
        "/f/d.yaml:5: othre: there is no such key, and no back-end of this name is installed; did you mean 'other'? "
        "installed: local, simulated, sagemaker, warm_pool, ray, other"
    )
    assert refused("bugdet: {max_run: 1}\n") == "/f/d.yaml:5: bugdet: unknown key; did you mean 'budget'?"
    install()
    assert "no back-end of this name is installed" in refused("other: {pace: 1}\n")
    kept = resolved("other: {pace: 1, arguments: {b: 2}}\n", "other", keep_foreign=True)
    assert kept.arguments == {"b": 2}
    assert kept.blocks["other"].model_dump(exclude_none=True) == {"pace": 1}
    assert len(definition_hash(kept)) == 16


@pytest.mark.parametrize(
    ("point", "why"),
    [
        (plugin("other", "OTHER", "there_is_no_such_module"), "cannot be loaded; ModuleNotFoundError: No module named"),
        (plugin("other", "MISSING"), "cannot be loaded; AttributeError"),
        (plugin("other", "NOTHING"), "cannot be used; its entry point leads to 5; it must be a BackendDescription"),
        (plugin("other", "NAMELESS"), "cannot be used; its description has no name"),
        (plugin("other", "ABOVE"), "cannot be used; its description says that it is called 'above'"),
        (plugin("other", "BLOCKLESS"), "cannot be used; the model of its block, <class 'int'>, is no subclass of"),
    ],
)  # fmt: skip
def test_a_plug_in_that_cannot_be_used_is_a_problem_of_its_own_block_alone(install, point, why):
    install(point)
    assert resolved("", "local").name == "d"
    text = refused("other: {pace: 1}\nbudget: {max_cost: -1}\n")
    assert f"/f/d.yaml:5: other: back-end other: its plug-in {point.value} {why}" in text
    assert "/f/d.yaml:6: budget.max_cost: must be above 0" in text
    assert refused("", "other").startswith(f"back-end other: its plug-in {point.value} cannot be")
    assert resolved("other: {pace: 1}\n", "local", keep_foreign=True).blocks == {}


def test_a_model_that_fails_is_a_problem_of_its_block(install, monkeypatch):
    install(plugin("other", "OTHER"))
    monkeypatch.setattr(OtherBlock, "model_validate", lambda *given, **options: {}["x"])
    assert refused("other: {pace: 1}\n") == "/f/d.yaml:5: other: the model of its block fails: KeyError: 'x'"


@pytest.mark.slow
def test_a_description_is_cheap_to_import():
    code = (
        "import sys\nfrom definitions.backend_registry import BUILT_IN, backend_description\n"
        "for name in BUILT_IN: backend_description(name)\n"
        "print(sorted(name for name in sys.modules if name in ('boto3', 'botocore', 'numpy', 'subprocess')"
        " or name.endswith(('.backend', '.runner'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
