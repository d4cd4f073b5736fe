"""Who may know whom: imports go launch -> benchmarking -> backends -> definitions, and each package stands on its own."""

from __future__ import annotations

import ast
import configparser
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from definitions.builtin_backends import BUILT_IN

ROOT = Path(__file__).parent.parent
ORDER = ("definitions", "backends", "benchmarking", "launch")
HEAVY = {
    "torch",
    "pandas",
    "boto3",
    "botocore",
    "plotly",
    "mlflow",
    "ray",
    "syne_tune",
    "sklearn",
    "scipy",
    "s3torchconnector",
    "rich",
    "numpy",
}
FLOORS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "benchmarking": (
        ("analysis", "bencher", "scripts", "workloads"),
        ("datasets", "models"),
        ("controller",),
        ("report",),
        ("export",),
        ("archive",),
        ("studies",),
        ("remote",),
        ("comparison", "planning", "tracking"),
        ("forecasting", "syne_tune_adapter"),
        ("figures",),
        ("methods", "page"),
        (".",),
    ),
    "benchmarking/forecasting": (("running",), ("prefix",), ("data",), ("model",), ("metric",), ("ladder",), (".",)),
    "backends/sagemaker": (
        ("aws", "block"),
        ("code", "logs"),
        ("jobs",),
        ("experiments", "pools"),
        ("lifecycle",),
        ("controllers",),
        ("admin", "container"),
        (".",),
    ),
    "definitions": (
        (".", "builtin"),
        ("domains", "valid", "yaml_source"),
        ("conditions",),
        ("draft", "space"),
        ("parts", "syne_tune_space"),
        ("backend_description", "datasets", "python_source"),
        ("backend_registry",),
        ("blocks", "instances"),
        ("schema",),
        ("definition_hash", "json_schema", "problems", "registry", "scaling", "started"),
        ("settings",),
        ("resolve",),
        ("differences", "show"),
    ),
    "backends": (
        ("metrics", "scripts"),
        (".",),
        ("common",),
        ("serving",),
        ("processes",),
        ("emulator", "local", "reporter", "sagemaker", "simulated"),
        ("endpoint", "ray"),
    ),
    "launch": (
        ("few_collections", "python_version"),
        ("remote",),
        (".",),
        ("launching",),
        ("verbs",),
        ("__main__", "face"),
        ("reference",),
    ),
    "backends/emulator": (
        ("core",),
        ("http",),
        ("account", "faults", "s3"),
        ("alone", "logs"),
        ("container",),
        ("training",),
        ("endpoints", "experiments", "smoke"),
        (".",),
    ),
}
"""Folders and modules of a folder, lowest first; those on one floor do not know each other. `.` is its modules that are not named."""

WORKLOADS_APART = "benchmarking.workloads."  # scripts that stand alone, and each trains something of its own
NAMED_TWICE = {"Trainer": [f"{WORKLOADS_APART}{name}" for name in ("digits", "resnet_cifar10")]}
"""Public classes of one name in several modules, and in which."""

LONGEST = 400
"""Lines of a module, in the packages and in tests."""
LONGER = {
    "backends/reporter/outrider_report.py",  # jobs get it as one file
}
LONGEST_FUNCTION = 60
"""Lines of a function, with its docstring."""
MEDIAN = 130
"""Lines that half of the packages' modules have at most."""

WORKLOADS = ROOT / "benchmarking" / "workloads"
ON_DEMAND = {
    ROOT / "benchmarking" / "syne_tune_adapter" / "backend.py",  # subclasses Syne Tune's class; imported when asked for
    ROOT / "benchmarking" / "models" / "networks.py",  # subclasses torch's; imported by the process that exports
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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
        others = imported(parsed(path)) & set(ORDER)
        assert others <= allowed, f"{path.relative_to(ROOT)} imports {sorted(others - allowed)}"


@cache
def edges() -> Mapping[str, frozenset[str]]:
    """Return which of our modules each of them imports, at its top or inside a function."""
    files = {dotted(path): path for package in ORDER for path in modules(package)}
    found = {}
    for name, path in files.items():
        targets = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and (source := source_of(node, name, path)):
                whole = {alias.name: f"{source}.{alias.name}" for alias in node.names}
                targets |= {full if full in files else source for full in whole.values()}
        found[name] = frozenset((targets & set(files)) - {name})
    return found


def source_of(node: ast.ImportFrom, module: str, path: Path) -> str:
    """Return the module that a `from ... import` names, also where it counts dots from its own."""
    if not node.level:
        return node.module or ""
    parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor_of(module: str, folder: str) -> int | None:
    """Return on which floor of a folder a module stands; None where it is not below it, or is the folder's own list of names."""
    inside = module.removeprefix(folder.replace("/", ".") + ".")
    if inside == module:
        return None
    part = inside.split(".")[0]
    part = part if any(part in parts for parts in FLOORS[folder]) else "."
    return next(number for number, parts in enumerate(FLOORS[folder]) if part in parts)


@pytest.mark.parametrize("folder", FLOORS)
def test_inside_a_folder_imports_go_down(folder):
    named = {part for parts in FLOORS[folder] for part in parts} - {"."}
    there = {path.stem for path in (ROOT / folder).iterdir() if any(path.glob("*.py")) or (path.suffix == ".py" and path.stem in named)}
    assert there == named
    wrong = []
    for module, imports in edges().items():
        here = floor_of(module, folder)
        if here is None:
            continue
        for other in imports:
            below = floor_of(other, folder)
            same_part = ".".join(module.split(".")[: folder.count("/") + 2]) == ".".join(other.split(".")[: folder.count("/") + 2])
            if below is not None and not same_part and (below > here or (below == here and "." not in FLOORS[folder][here])):
                wrong.append((module, other))
    assert not wrong


def test_no_circle_of_files():
    """Modules are taken away as long as one imports none of those that are left; what stays imports itself by some way."""
    left = {module: set(imports) for module, imports in edges().items()}
    while free := {module for module, imports in left.items() if not imports & left.keys()}:
        left = {module: imports for module, imports in left.items() if module not in free}
    assert not left, f"in a circle, or importing one: {sorted(left)}"


def test_modules_are_short():
    lengths = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for package in (*ORDER, "tests")
        for path in modules(package)
    }
    assert {path for path, lines in lengths.items() if lines > LONGEST} == LONGER
    ours = [lines for path, lines in lengths.items() if not path.startswith("tests/") and not path.endswith("__init__.py")]
    assert statistics.median(ours) <= MEDIAN


def test_functions_are_short():
    long = {}
    for path in (path for package in ORDER for path in modules(package) if str(path.relative_to(ROOT)) not in LONGER):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION:
                long[f"{path.relative_to(ROOT)}:{node.name}"] = (node.end_lineno or 0) - node.lineno + 1
    assert not long


GUESTS = (
    "backends.local",
    "backends.processes",
    "backends.ray",
    "backends.endpoint",
    "backends.sagemaker",
    "backends.simulated",
    "backends.emulator",
)
KNOWS_A_GUEST = {
    # An S3 server on the loopback, for data sets under `s3://` that jobs of this machine read; it is no back-end's.
    "benchmarking.datasets.s3server": {
        "backends.emulator.core.credentials",
        "backends.emulator.core.settings",
        "backends.emulator.alone.counts",
        "backends.emulator.alone.process",
        "backends.emulator.faults.rules",
    },
}
"""Modules of the core that import from a folder of guests, and what; back-ends are found by the registry alone."""


def test_the_core_imports_no_back_end():
    found = {}
    for module, imports in edges().items():
        guests = {other for other in imports if any(f"{other}.".startswith(f"{guest}.") for guest in GUESTS)}
        in_core = module.startswith(("benchmarking", "definitions")) or (module.count(".") == 1 and module.startswith("backends."))
        if guests and in_core and not any(f"{module}.".startswith(f"{guest}.") for guest in GUESTS):
            found[module] = guests
    assert found == KNOWS_A_GUEST


NAMES_A_GUEST = {
    "definitions.builtin_backends": {"local", "simulated", "sagemaker", "warm_pool", "ray"},  # the one place
    "definitions.key_descriptions": {
        "local",
        "simulated",
        "sagemaker",
        "warm_pool",
        "ray",
    },  # what the keys of their blocks mean, for the schema
    # The ingestion and the input mode of this name, by which a job reads the disk of its machine, wherever that is.
    "definitions.backend_description": {"local"},
    "definitions.ingestion": {"local"},
    "benchmarking.datasets.preparation": {"local"},
    "definitions.instance_tables": {"us-east-1"},  # the region of the prices that come with Outrider
    "benchmarking.datasets.s3server": {"us-east-1"},  # what a server on the loopback calls its region
    "benchmarking.workloads.ingestion.stores.s3_connector": {"us-east-1"},  # stands alone in a job; S3's own default
    "benchmarking.bencher.conversion": {"local", "local.2cpu", "sagemaker"},  # files of SageMaker Bencher; and where to try them first
    "benchmarking.workloads.checkpointing.stores.base": {"us-east-1"},  # likewise
    "benchmarking.workloads.load.signing": {"sagemaker"},  # the service that requests are signed for
    "benchmarking.syne_tune_adapter.importing": {"sagemaker"},  # theirs hold arguments of the SageMaker SDK
    "backends.common.aws_client": {"sagemaker"},  # the extra of this name, with boto3
    "backends.reporter.outrider_ray.trial": {"ray"},  # the package, whose Tuner a script is written for
    "backends.common.script_mode": {"local"},  # what the toolkit calls an instance type that it is not told
    "launch.face": {"warm_pool"},  # the flag of this name
    "launch.outcome": {"warm_pool"},  # a key of the results in JSON, which programs read
    "launch.smoke": {"ml.m5.large"},  # the comparison of the emulator with an account
}
"""Modules beside the back-ends that say the name of one, of an instance type of one, or of a region, and which."""


def test_the_core_names_no_back_end():
    found = {}
    for package in ORDER:
        for path in modules(package):
            module = dotted(path)
            if any(f"{module}.".startswith(f"{guest}.") for guest in GUESTS):
                continue
            tree = parsed(path)
            words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
            named = {word for word in words if word in BUILT_IN or word == "us-east-1" or re.fullmatch(r"(ml|local)\.[\w.]*", word)}
            if named:
                found[module] = named
    assert found == NAMES_A_GUEST


def test_one_name_of_a_class_has_one_meaning():
    places = defaultdict(list)
    for package in ORDER:
        for path in modules(package):
            for node in parsed(path).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(dotted(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == NAMED_TWICE


@pytest.mark.parametrize("package", ORDER)
def test_heavy_imports_happen_where_they_are_needed(package):
    for path in modules(package):
        if WORKLOADS in path.parents or path in ON_DEMAND:
            continue
        tree = parsed(path)
        top = ast.Module([node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], [])
        assert not imported(top) & HEAVY, path.relative_to(ROOT)


def test_the_reporter_and_the_workloads_need_nothing_of_ours():
    for path in [*WORKLOADS.rglob("*.py"), *(ROOT / "backends" / "reporter").glob("*.py")]:
        assert not imported(parsed(path)) & set(ORDER), path.name
    reporter = ast.parse((ROOT / "backends" / "reporter" / "outrider_report.py").read_text(encoding="utf-8"))
    assert imported(reporter) <= set(sys.stdlib_module_names)


def test_every_package_and_its_data_are_installed():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    patterns = setup["options.packages.find"]["include"].split()
    there = {".".join(path.parent.relative_to(ROOT).parts) for package in ORDER for path in modules(package)}
    assert [package for package in sorted(there) if not any(fnmatch(package, pattern) for pattern in patterns)] == []
    data = {(package, pattern.strip(",")) for package, text in setup["options.package_data"].items() for pattern in text.split()}
    assert [(package, pattern) for package, pattern in sorted(data) if not list((ROOT / package.replace(".", "/")).glob(pattern))] == []


@pytest.mark.slow
def test_help_imports_nothing_heavy():
    code = "import sys; from launch.__main__ import main; main(['run', '--help'])"
    watch = (
        f"import sys\ntry:\n    exec({code!r})\nexcept SystemExit: pass\nprint(sorted(set(sys.modules) & {HEAVY | {'pydantic', 'yaml'}!r}))"
    )
    done = subprocess.run([sys.executable, "-c", watch], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--benchmark" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
