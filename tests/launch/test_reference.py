"""The reference page is what schema and parsers say now."""

from __future__ import annotations

import re

import pytest

import outrider
from backends.emulator.imitated import readme_rows
from benchmarking.methods.registry import BUILT_IN, method_factory
from definitions.json_schema import json_schema
from definitions.space import KINDS
from launch.__main__ import VERBS, main
from launch.reference import FILE, FILES, FILES_OF_A_TAG, README, page, readme


def test_the_page_is_current():
    assert FILE.read_text(encoding="utf-8") == page(), "run: python -m launch.reference"


def test_the_readme_s_table_of_the_emulator_is_the_code_s_own_list():
    text = README.read_text(encoding="utf-8")
    assert readme(text) == text, "run: python -m launch.reference"
    assert sum(line in readme_rows() for line in text.splitlines()) == len(readme_rows()) == 4


def test_every_key_has_a_description():
    schema = json_schema()
    models = {"": schema, **schema["$defs"]}
    mute = [
        f"{name}.{key}" for name, model in models.items() for key, one in model.get("properties", {}).items() if "description" not in one
    ]
    assert mute == []


def test_a_key_a_domain_a_flag_and_a_default_are_on_it():
    text = page()
    assert "| `repeats` | whole number | `1` | measurements of each configuration |" in text
    assert "| `loguniform` | [lower, upper]: numbers above 0, evenly on a log scale |" in text
    assert "`--resume TAG`" in text
    assert "`kind: per_job`" in text


def test_every_verb_and_every_domain_has_its_place():
    text = page()
    assert re.findall(r"^### outrider (\w+)$", text, re.M) == list(VERBS)
    assert set(KINDS) <= set(re.findall(r"^\| `(\w+)` \|", text, re.M))


def test_every_built_in_method_and_every_argument_of_it_has_a_row_with_what_it_takes():
    section = page().split("## Methods and their arguments\n")[1].split("\n## ")[0]
    parts = re.split(r"^### (\w+)$", section, flags=re.M)[1:]
    rows = {name: re.findall(r"^\| `(\w+)` \|", text, re.M) for name, text in zip(parts[::2], parts[1::2], strict=True)}
    assert rows == {name: list(getattr(method_factory(place), "arguments", {})) for name, place in BUILT_IN.items()}
    asha = dict(zip(parts[::2], parts[1::2], strict=True))["ASHA"]
    assert "| `reduction_factor` | a number above 1 | `3.0` | of the trials at a rung, one in so many goes on |" in asha
    assert '| `type` | one of stopping, promotion | `"stopping"` |' in asha
    assert all(line.split(" | ")[1].strip() for line in section.splitlines() if line.startswith("| `")), (
        "what an argument takes is not said"
    )


OF_THE_SCRIPT = ("jobs/JOB/model/", "jobs/JOB/output/", "checkpoints/trial-N/", "source/VERSION/")


@pytest.mark.slow
def test_every_file_that_experiments_leave_is_on_it_and_no_other(toy, run, controller):
    script = toy.folder / "toy.py"
    script.write_text(f"import os, pathlib\npathlib.Path(os.environ['SM_MODEL_DIR'], 'own').write_text('1')\n{script.read_text()}")
    slow = controller("--benchmark", "toy.yaml", "--experiment_tag", "a", "--set", "arguments.seconds=60", "keep=all")
    slow.until("trial 0 starts")
    there = found_in(toy)
    slow.process.terminate()
    assert slow.finish()[0] == 130
    run(
        "--benchmark",
        "toy.yaml",
        "--experiment_tag",
        "b",
        "--set",
        "preload=[sys]",
        "keep=all",
        "--max_num_trials",
        "1",
        "--num_seeds",
        "2",
    )
    stopwatch = {"command": ["true", "${arguments_file}"], "arguments_style": "json", "objectives": {"duration_s": "min"}}
    outrider.run({"name": "c", "space": {"x": {"choice": [1]}}, **stopwatch}, method="GRID", experiment_tag="c")
    ladder = {"kind": "per_job", "argument": "seconds", "full": 0.5, "ladder": [0.01, 0.03]}
    canaries = {"name": "d", "script": "toy.py", "space": {"x": {"choice": [0.5]}}, "objectives": {"loss": "min"}, "fidelity": ladder}
    outrider.run(canaries, method="CANARY", experiment_tag="d", num_seeds=2, shares="first_come", max_cost=5)
    assert main(["best", "b"]) == 0
    there |= found_in(toy)
    # Pipelines leave two more, and loads on endpoints two.
    of_others = {"pipeline.csv", "ceilings.csv", "load/summary_results.csv", "load/trial-N/"}
    assert there | of_others == {*FILES, *(f"../../{name}" for name in FILES_OF_A_TAG)}


def found_in(toy):
    """Return what there is below the folder of results, as the page names it."""
    found = set()
    for path in toy.results.rglob("*"):
        tag, *inner = path.relative_to(toy.results).parts
        if tag == ".source":
            continue
        name = re.sub(r"trial-\d+", "trial-N", re.sub(r"[\w.]+(-[0-9a-f]+){2}-t\d+-a\d+", "JOB", "/".join(inner[2:])))
        name = re.sub(r"^source/[0-9a-f]{8}(?=/|$)", "source/VERSION", name)
        if len(inner) == 1 and path.is_file():
            name = f"../../{inner[0]}"
        elif path.is_dir():
            name += "/"
        own = next((folder for folder in OF_THE_SCRIPT if name.startswith(folder)), name)
        if name not in ("/", "logs/", "jobs/", "checkpoints/", "source/"):
            found.add(own)
    return found
