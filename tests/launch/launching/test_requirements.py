"""What is installed in a controller: by need, pinned, and joined with what trials on its own instance need."""

from __future__ import annotations

import dataclasses

import pytest

from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.launching.requirements import BASE, LOCK, joined, needed, of_benchmarks, pinned


def spec(method: str, tmp_path, backend: str = "sagemaker") -> ExperimentSpec:
    resolved = resolve(Registry().find("digits"), backend, [f"source_dir={tmp_path}"], check_files=False)
    return ExperimentSpec(resolved, method, 0, "t", tmp_path, hears_levels=False, repeats=1)


@pytest.mark.parametrize(
    ("methods", "more"),
    [
        (["RS", "ASHA", "BO", "MOBSTER"], []),
        (["RS", "CQR"], ["xgboost-cpu"]),
        (["ASHA_BORE", "TPE"], ["syne-tune"]),
        (["CQR", "REA"], ["syne-tune", "xgboost-cpu"]),
    ],
)
def test_only_methods_that_grow_trees_or_borrow_searchers_need_more(methods, more, tmp_path):
    assert sorted(set(needed([spec(method, tmp_path) for method in methods])) - {*BASE}) == more


def test_a_variant_needs_what_its_base_needs(tmp_path):
    one = spec("deep", tmp_path)
    definition = resolve(Registry().find("digits"), "sagemaker", [f"source_dir={tmp_path}", "methods.deep.base=TPE"], check_files=False)
    assert "syne-tune" in needed([dataclasses.replace(one, resolved=definition)])


def test_on_the_emulator_the_build_that_is_here_counts(tmp_path):
    assert needed([spec("CQR", tmp_path)], emulated=True)[-1] == "xgboost"


def test_all_is_pinned_as_in_the_lock_and_most_methods_need_neither_syne_tune_nor_trees():
    lines = pinned(BASE)
    locked = {line.partition(" ")[0].lower() for line in LOCK.read_text(encoding="utf-8").splitlines() if "==" in line}
    assert {line.lower() for line in lines} - {one.replace("_", "-") for one in locked} - locked == set()
    names = {line.partition("==")[0].lower() for line in lines}
    assert {"pydantic", "pydantic-core", "botocore", "jmespath", "numpy", "scipy"} <= names
    assert not names & {"xgboost", "xgboost-cpu", "syne-tune", "torch", "pandas", "nvidia-nccl-cu12"}
    assert pinned(["xgboost-cpu"]) == ["xgboost-cpu==" + next(one.partition("==")[2] for one in locked if one.startswith("xgboost=="))]


def test_without_a_lock_what_is_installed_counts(tmp_path):
    from importlib.metadata import version

    assert f"pathspec=={version('pathspec')}" in pinned(["pathspec"], tmp_path / "none")


def test_what_a_benchmark_needs_beside_is_added_and_what_is_met_is_no_conflict():
    found = joined(["numpy==2.4.6", "six==1.17"], {"digits": ["numpy>=1.26 # any", "", "# more", "scikit-learn", "Six==1.17"]})
    assert found[:2] == ["numpy==2.4.6", "six==1.17"]
    assert "scikit-learn" in found


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"digits": ["numpy<2"]}, "outrider needs numpy==2.4.6, digits needs numpy<2"),
        ({"digits": ["NumPy==1.26.4"]}, "digits needs NumPy==1.26.4"),
        ({"one": ["torch==2.1"], "two": ["torch>=2.4"]}, "one needs torch==2.1, two needs torch>=2.4"),
    ],
)
def test_a_conflict_is_named_with_both_sides(lines, said):
    with pytest.raises(UserError, match=said):
        joined(["numpy==2.4.6"], lines)


def test_what_is_asked_for_beside_is_in_the_way_of_ours_and_of_no_trial():
    with pytest.raises(UserError, match="both are installed in the controllers") as raised:
        joined(["numpy==2.4.6"], {"remote.requirements": ["numpy<2"]})
    assert "trials" not in str(raised.value)
    with pytest.raises(UserError, match=r"remote.requirements needs torch==2.1, digits needs torch>=2.4\n  trials on the controller's own"):
        joined([], {"remote.requirements": ["torch==2.1"], "digits": ["torch>=2.4"]})


def test_only_trials_on_the_controllers_own_instance_share_its_packages(tmp_path):
    (tmp_path / "requirements.txt").write_text("pillow>=10\n", encoding="utf-8")
    assert of_benchmarks([spec("RS", tmp_path)]) == {}
    assert of_benchmarks([spec("RS", tmp_path, "local")]) == {"digits": ["pillow>=10"]}


def test_a_controller_that_exports_models_has_what_that_takes(tmp_path):
    resolved = resolve(Registry().find("mme_text"), "sagemaker")
    one = ExperimentSpec(resolved, "RS", 0, "t", tmp_path, hears_levels=False, repeats=1)
    assert set(needed([one])) - {*BASE} == {"torch", "onnx", "onnxruntime", "onnxscript"}
