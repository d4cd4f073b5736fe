"""The wheel holds everything that a run needs, and nothing else; installed, `outrider` works from any folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from definitions import __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("definitions", "backends", "benchmarking", "launch")
NOT_OURS = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "results", "tests", "docs")
pytestmark = pytest.mark.slow

SCRIPT = """\
import argparse
from outrider_report import report
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
report(loss=(parser.parse_args().x - 0.3) ** 2)
"""
DEFINITION = """\
name: toy
script: toy.py
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
budget: {max_num_trials: 2, max_run: 60}
sagemaker: {arguments: {instance_type: ml.m5.large}, framework: pytorch, framework_version: "2.9"}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, so that no earlier build's leftovers come into it, and none stay."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_OURS, symlinks=True)
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder / "made"), str(folder / "source"))
    (made,) = (folder / "made").iterdir()
    return made


@pytest.fixture(scope="module")
def outrider(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own that sees this one's other packages, and return the command."""
    home = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip("--python", str(home / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    return home / "bin" / "outrider"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    (tmp_path / "toy.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    return tmp_path


def pip(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words], check=True)


def run(command: list[Path | str], folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ |= {"OUTRIDER_LEASES": str(folder / "leases"), "OUTRIDER_CACHE": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=100, check=False)


def test_the_wheel_has_every_file_of_the_packages_and_nothing_else(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(f"outrider-{__version__}.dist-info/")}
    ours = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert {f"{package}/py.typed" for package in PACKAGES} <= ours
    assert packed == ours | {"hpo_main.py"}


def test_the_command_tells_its_version_and_its_benchmarks(outrider, elsewhere):
    assert run([outrider, "--version"], elsewhere).stdout == f"outrider {__version__}\n"
    listed = run([outrider, "list"], elsewhere).stdout
    assert {"demo", "digits", "gbm"} <= {line.split()[0] for line in listed.splitlines()}


def test_what_runs_is_what_was_installed(outrider, elsewhere):
    code = "import definitions, backends, benchmarking, launch; print([p.__file__ for p in (definitions, backends, benchmarking, launch)])"
    found = run([outrider.parent / "python", "-c", code], elsewhere).stdout
    assert found.count(str(outrider.parents[1])) == 4


@pytest.mark.parametrize("backend", [["local"], ["sagemaker", "--emulate"]], ids=["local", "emulated"])
def test_a_run_from_anywhere(outrider, elsewhere, backend):
    done = run([outrider, "run", "--benchmark", "toy.yaml", "--experiment_tag", "away", "--backend", *backend], elsewhere)
    assert done.returncode == 0, done.stderr
    rows = (elsewhere / f"results/away/toy/RS-{backend[0]}-0/trials.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 2
    assert all(",completed," in row for row in rows[1:])
