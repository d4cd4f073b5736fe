"""What a job installs is its own: it sees the interpreter's packages, and what it changes is gone with it."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from backends.emulator.container.interpreter import Interpreter, provide_programs

pytestmark = pytest.mark.slow


def wheel(folder, name, version="1.0", scripts=""):
    """Make a wheel with one module and return its path."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"version = {version!r}\ndef main(): print('ran', __file__)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}\n" if scripts else "",
    }
    rows = []
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for place, text in files.items():
            archive.writestr(place, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{place},sha256={digest},{len(text.encode())}")
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,"]) + "\n")
    return path


def installed():
    return sorted((one.metadata["Name"], one.version) for one in metadata.distributions())


def said(*command, **rest):
    return subprocess.run(command, capture_output=True, text=True, check=True, **rest).stdout.strip()


@pytest.fixture
def view(tmp_path):
    found = Interpreter.of(sys.executable)
    assert found is not None
    return found.make_view(tmp_path / "view")


def test_a_view_sees_what_the_interpreter_sees_and_is_an_environment_of_its_own(tmp_path, view):
    asked = "import sys, yaml; print(sys.prefix, yaml.__file__, sys.version_info[:2])"
    prefix, place, *version = said(view / "python", "-c", asked).split(" ", 2)
    import yaml

    assert (prefix, place, version) == (str(tmp_path / "view"), yaml.__file__, [str(sys.version_info[:2])])


def test_what_is_installed_in_a_view_is_in_no_other_place(tmp_path, view):
    before = installed()
    path = wheel(tmp_path, "tiny_for_views", scripts="tiny = tiny_for_views:main")
    said(view / "pip", "install", "-q", "--no-index", "--no-deps", path)
    assert said(view / "python", "-c", "import tiny_for_views as t; print(t.__file__)").startswith(str(tmp_path / "view"))
    assert said(view / "tiny").startswith(f"ran {tmp_path / 'view'}")
    assert installed() == before
    assert subprocess.run([sys.executable, "-c", "import tiny_for_views"], capture_output=True, check=False).returncode == 1


def test_a_package_that_is_there_can_be_replaced_in_the_view_alone_and_is_not_removed(tmp_path, view):
    version = metadata.version("pyyaml")
    path = wheel(tmp_path, "pyyaml", "99.0")
    said(view / "python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", "-U", path)
    asked = "from importlib.metadata import version; print(version('pyyaml'))"
    assert said(view / "python", "-c", asked) == "99.0"
    said(view / "python", "-m", "pip", "uninstall", "-q", "-y", "pyyaml")
    assert said(view / "python", "-c", asked) == said(sys.executable, "-c", asked) == version
    subprocess.run([view / "python", "-m", "pip", "uninstall", "-q", "-y", "pyyaml"], capture_output=True, check=False)
    assert said(sys.executable, "-c", asked) == version


def test_what_is_no_python_has_no_view(tmp_path):
    assert Interpreter.of("/bin/true") is None
    assert Interpreter.of(str(tmp_path / "none")) is None


def test_programs_that_python_runs_are_run_by_the_view_s(tmp_path, view):
    own = tmp_path / "own" / "bin"
    own.mkdir(parents=True)
    (own / "python").symlink_to(sys.executable)
    (own / "tool").write_text(f"#!{own}/python\nimport sys; print(sys.prefix)\n")
    (own / "other").write_text("#!/bin/sh\necho no\n")
    for path in own.iterdir():
        if not path.is_symlink():
            path.chmod(0o755)
    programs = tmp_path / "programs"
    programs.mkdir()
    provide_programs(programs, str(own / "python"))
    assert sorted(path.name for path in programs.iterdir()) == ["python", "python3", "tool"]
    assert said(programs / "tool", env={"PATH": f"{view}:/usr/bin:/bin"}) == str(tmp_path / "view")


@pytest.mark.parametrize("namespaces", ["auto", "user", "never"])
def test_a_job_s_packages_are_gone_with_it(started, tmp_path, namespaces):
    before = installed()
    path = wheel(tmp_path, "tiny_for_jobs")
    bench = started(settings={"namespaces": namespaces})
    name = bench.shell(f"pip install -q --no-index --no-deps {path} && python -c 'import tiny_for_jobs; print(tiny_for_jobs.version)'")
    bench.completed(name)
    assert "1.0" in bench.lines(name)
    later = bench.shell("python -c 'import tiny_for_jobs'")
    assert bench.ended(later)["TrainingJobStatus"] == "Failed"
    assert installed() == before


def test_the_installation_itself_cannot_be_written_to_by_a_job_with_mounts_of_its_own(started):
    bench = started()
    if bench.emulator.isolation == "none":
        pytest.skip("needs mounts of its own")
    place = Path(sys.prefix) / "written-by-a-job"
    name = bench.shell(f"touch {place} || echo refused")
    bench.completed(name)
    assert bench.lines(name)[-1:] == ["refused"]
    assert not place.exists()
