"""What an activated environment sets for the interpreter that a definition names."""

from pathlib import Path

import pytest

from backends.common.activation import Activation, activation_of


def test_none_is_named_or_found_on_the_path():
    assert activation_of(None) is None
    assert activation_of("python3.12") is None


@pytest.mark.parametrize(
    ("mark", "own"),
    [("env/pyvenv.cfg", {"VIRTUAL_ENV": "env"}), ("env/conda-meta/x", {"CONDA_PREFIX": "env", "CONDA_DEFAULT_ENV": "env"}), ("other", {})],
)
def test_the_kind_of_an_environment(tmp_path, mark, own):
    for path in (Path("env/bin/python"), Path(mark)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    found = activation_of(str(tmp_path / "env/bin/python"))
    paths = {name: value if name == "CONDA_DEFAULT_ENV" else str(tmp_path / value) for name, value in own.items()}
    assert found == Activation(str(tmp_path / "env/bin"), paths)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "pyvenv.cfg").touch()
    (tmp_path / "bin" / "python").symlink_to("/usr/bin/env")
    found = activation_of(str(tmp_path / "bin" / "python"))
    assert found is not None
    assert found.own == {"VIRTUAL_ENV": str(tmp_path)}


def test_its_folder_comes_first_and_what_another_environment_set_is_gone():
    outer = {"PATH": "/outer/bin:/v/bin:/bin", "VIRTUAL_ENV": "/outer", "PYTHONHOME": "/p", "CONDA_PREFIX": "/c", "HOME": "/h"}
    assert Activation("/v/bin", {"VIRTUAL_ENV": "/v"}).over(outer) == {"PATH": "/v/bin:/outer/bin:/bin", "VIRTUAL_ENV": "/v", "HOME": "/h"}
    assert Activation("/usr/bin", {}).over({})["PATH"] == "/usr/bin:/usr/local/bin:/bin"
