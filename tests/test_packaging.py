"""The wheel holds everything that a run needs, and nothing else; installed with what it declares, `outrider` works from any folder."""

from __future__ import annotations

import email
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the command of an environment with what a base installation brings, and no more."""
    return installed(wheel, tmp_path_factory.mktemp("base"), "")


@pytest.fixture(scope="module")
def with_emulator(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the command of an environment with the extra `emulator` too."""
    return installed(wheel, tmp_path_factory.mktemp("emulator"), "emulator")


def installed(wheel: Path, home: Path, extra: str) -> Path:
    """Install the wheel into an environment of its own that sees, of this one's packages, those that the wheel declares."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    declared = email.message_from_bytes(zipfile.ZipFile(wheel).read(f"outrider-{__version__}.dist-info/METADATA")).get_all("Requires-Dist")
    for path in {path for name in closure(declared, extra) for path in top_level(name)}:
        (site / path.name).symlink_to(path)
    pip("--python", str(home / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    return home / "bin" / "outrider"


def closure(declared: Iterable[str], extra: str) -> set[str]:
    """Return the names of all distributions that are wanted, those that others want included."""
    found: set[str] = set()
    left = [(text, extra) for text in declared]
    while left:
        text, extra = left.pop()
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        try:
            home = distribution(wanted.name)
        except PackageNotFoundError:
            if extra == "server":  # moto's: the lock has of it what the emulator's tests call
                continue
            raise
        for further in wanted.extras or [""]:
            if f"{wanted.name}[{further}]" not in found:
                found.add(f"{wanted.name}[{further}]")
                left += [(other, further) for other in home.requires or []]
    return {name.partition("[")[0] for name in found}


def top_level(name: str) -> set[Path]:
    """Return the files and folders of a distribution that stand in site-packages."""
    home = distribution(name)
    tops = {file.parts[0] for file in home.files or [] if file.parts[0] not in ("..", "__pycache__")}
    return {Path(str(home.locate_file(top))) for top in tops}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    (tmp_path / "toy.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    return tmp_path


def pip(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *words], check=True)


def run(command: list[Path | str], folder: Path, timeout_s: float = 100.0) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environ |= {"OUTRIDER_LEASES": str(folder / "leases"), "OUTRIDER_CACHE": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=timeout_s, check=False)


def test_the_wheel_has_every_file_of_the_packages_and_nothing_else(wheel):
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(f"outrider-{__version__}.dist-info/")}
    ours = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    assert {f"{package}/py.typed" for package in PACKAGES} <= ours
    assert packed == ours | {"hpo_main.py", "outrider.py"}


def test_the_command_tells_its_version_and_its_benchmarks(base, elsewhere):
    assert run([base, "--version"], elsewhere).stdout == f"outrider {__version__}\n"
    listed = run([base, "list"], elsewhere).stdout
    assert {"demo", "digits", "gbm"} <= {line.split()[0] for line in listed.splitlines()}


def test_what_runs_is_what_was_installed(base, elsewhere):
    code = "import definitions, backends, benchmarking, launch; print([p.__file__ for p in (definitions, backends, benchmarking, launch)])"
    found = run([base.parent / "python", "-c", code], elsewhere).stdout
    assert found.count(str(base.parents[1])) == 4


def test_a_base_installation_stays_small(base):
    (site,) = base.parents[1].glob("lib/python*/site-packages")
    there = {path.name for path in site.iterdir()}
    assert {"numpy", "scipy", "pydantic"} <= there
    assert not there & {"xgboost", "nvidia", "syne_tune", "pandas", "sklearn", "torch", "boto3"}
    size_bytes = sum(
        path.stat().st_size for top in site.iterdir() for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file()
    )
    assert 100e6 < size_bytes < 350e6


def test_a_run_from_anywhere(base, elsewhere):
    completes_two(base, elsewhere, "local")


def test_an_emulated_run_from_anywhere(with_emulator, elsewhere):
    completes_two(with_emulator, elsewhere, "sagemaker", "--emulate")


@pytest.mark.timeout(400)
def test_a_study_launched_from_anywhere_runs_in_a_job_and_is_collected(with_emulator, elsewhere):
    """The installed packages are what travels: the job gets its Outrider from this wheel, and from nowhere else."""
    words = ["--benchmark", "toy.yaml", "--backend", "sagemaker", "--emulate", "--experiment_tag", "cloud"]
    done = run([with_emulator, "launch", *words, "--num_seeds", "2"], elsewhere, timeout_s=300)
    assert done.returncode == 0, done.stderr
    assert "spent so far: controllers $" in done.stdout
    for seed in (0, 1):
        rows = (elsewhere / f"results/cloud/toy/RS-sagemaker-{seed}/trials.csv").read_text(encoding="utf-8").splitlines()
        assert [",completed," in row for row in rows[1:]] == [True, True]
    sent = json.loads((elsewhere / "results/cloud/launch.json").read_text(encoding="utf-8"))["code"]["hash"]
    assert f", as {sent}" in done.stderr
    # A checkout of the same content sends the same.
    shown = run([sys.executable, ROOT / "hpo_main.py", "--remote", "--dry_run", *words[:-1], "again"], elsewhere)
    assert f"(code {sent})" in shown.stdout, shown.stderr


OWN = ("launch", "definitions", "backends/__init__", "benchmarking/__init__", "report", "yaml", "numpy", "rich/__init__")
NAMES = [name.partition("/")[0] for name in OWN]
SIBLINGS = f"""\
import {", ".join(NAMES)}
import argparse
from outrider_report import report as tell
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
tell(loss=parser.parse_args().x, own=sum(module.OWN for module in ({", ".join(NAMES)})))
"""
TUNE = f"""\
import benchmarking, yaml
import outrider

def train(x):
    import {", ".join(NAMES)}
    outrider.report(loss=x, own=sum(module.OWN for module in ({", ".join(NAMES)})))

if __name__ == "__main__":
    result = outrider.run(train, space={{"x": {{"choice": [1.0, 2.0]}}}}, method="GRID", repeats=2, experiment_tag="f")
    assert "equal" not in result.verdict and len(result.compare()) == 2
    import {", ".join(NAMES)}
    assert sum(module.OWN for module in ({", ".join(NAMES)})) == {len(NAMES)}
    assert outrider.load("f").best_config == {{"x": 1.0}} == result.best_config
    try:
        outrider.run("nothing.yaml")
    except outrider.UserError as error:
        print(error.asked)
"""


@pytest.fixture
def in_the_way(elsewhere: Path) -> Path:
    """Return a folder with files of the user's own that are called as our packages are, or as what these need."""
    for name in OWN:
        path = elsewhere / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("OWN = 1\n", encoding="utf-8")
    (elsewhere / "toy.py").write_text(SIBLINGS, encoding="utf-8")
    (elsewhere / "tune.py").write_text(TUNE, encoding="utf-8")
    return elsewhere


@pytest.mark.parametrize("settings", [[], ["--set", "preload=[sys]"]], ids=["cold", "warm"])
def test_a_users_own_files_get_in_the_way_of_no_run(base, in_the_way, settings):
    completes_two(base, in_the_way, "local", *settings)
    reports = (in_the_way / "results/away/toy/RS-local-0/reports.csv").read_text(encoding="utf-8").splitlines()
    place = reports[0].split(",").index("own")
    assert [float(line.split(",")[place]) for line in reports[1:]] == [len(OWN)] * 2


def test_a_users_own_files_get_in_the_way_of_no_script_that_imports_outrider(base, in_the_way):
    done = run([base.parent / "python", "tune.py"], in_the_way)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "nothing.yaml: there is no such file\n"


def test_nor_of_the_module_that_is_called_where_they_are(base, in_the_way):
    listed = run([base.parent / "python", "-m", "outrider", "list"], in_the_way)
    assert (listed.returncode, listed.stdout) == (0, run([base, "list"], in_the_way).stdout), listed.stderr


def test_nor_do_they_where_the_path_of_python_leads_to_them(base, in_the_way, tmp_path_factory):
    for name in ("yaml.py", "numpy.py", "rich/__init__.py"):
        (in_the_way / name).unlink()
    folder = tmp_path_factory.mktemp("from")
    listed = run(["env", f"PYTHONPATH={in_the_way}", base, "list"], folder)
    assert (listed.returncode, listed.stdout) == (0, run([base, "list"], folder).stdout)


def completes_two(outrider: Path, folder: Path, backend: str, *flags: str) -> None:
    done = run([outrider, "run", "--benchmark", "toy.yaml", "--experiment_tag", "away", "--backend", backend, *flags], folder)
    assert done.returncode == 0, done.stderr
    rows = (folder / f"results/away/toy/RS-{backend}-0/trials.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 2
    assert all(",completed," in row for row in rows[1:])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--method", "CQR"], "pip install '.[trees]'"),
        (["--method", "REA"], "pip install '.[syne-tune]'"),
        (["--backend", "sagemaker", "--emulate"], "pip install '.[emulator]'"),
    ],
    ids=["trees", "syne-tune", "emulator"],
)
def test_what_is_not_in_a_base_installation_is_named(base, elsewhere, words, says):
    done = run([base, "run", "--benchmark", "toy.yaml", *words], elsewhere)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (elsewhere / "results").exists()
