"""Who may know whom: imports go launch -> benchmarking -> backends -> definitions, and each package stands on its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = ("definitions", "backends", "benchmarking", "launch")
HEAVY = {
    "torch",
    "pandas",
    "boto3",
    "botocore",
    "plotly",
    "syne_tune",
    "sklearn",
    "scipy",
    "s3torchconnector",
    "localbucket",
    "rich",
    "numpy",
}
WORKLOADS = ROOT / "benchmarking" / "workloads"
ON_DEMAND = {ROOT / "benchmarking" / "syne_tune_adapter" / "backend.py"}  # subclasses Syne Tune's class; imported when asked for


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", ORDER)
def test_imports_go_one_way(package):
    allowed = set(ORDER[: ORDER.index(package) + 1])
    found = modules(package)
    assert found
    for path in found:
        others = imported(ast.parse(path.read_text(encoding="utf-8"))) & set(ORDER)
        assert others <= allowed, f"{path.relative_to(ROOT)} imports {sorted(others - allowed)}"


@pytest.mark.parametrize("package", ORDER)
def test_heavy_imports_happen_where_they_are_needed(package):
    for path in modules(package):
        if WORKLOADS in path.parents or path in ON_DEMAND:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = ast.Module([node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], [])
        assert not imported(top) & HEAVY, path.relative_to(ROOT)


def test_the_reporter_and_the_workloads_need_nothing_of_ours():
    for path in [*WORKLOADS.glob("*.py"), *(ROOT / "backends" / "reporter").glob("*.py")]:
        assert not imported(ast.parse(path.read_text(encoding="utf-8"))) & set(ORDER), path.name
    reporter = ast.parse((ROOT / "backends" / "reporter" / "outrider_report.py").read_text(encoding="utf-8"))
    assert imported(reporter) <= set(sys.stdlib_module_names)


def test_every_package_is_listed():
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8")
    listed = set(text.split("packages =\n", 1)[1].split("py_modules", 1)[0].split())
    there = {
        ".".join(path.parent.relative_to(ROOT).parts) for package in ORDER for path in modules(package) if "__pycache__" not in path.parts
    }
    assert there == listed


def test_help_imports_nothing_heavy():
    code = "import sys; from launch.__main__ import main; main(['run', '--help'])"
    watch = (
        f"import sys\ntry:\n    exec({code!r})\nexcept SystemExit: pass\nprint(sorted(set(sys.modules) & {HEAVY | {'pydantic', 'yaml'}!r}))"
    )
    done = subprocess.run([sys.executable, "-c", watch], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--benchmark" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
