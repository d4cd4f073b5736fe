"""A searcher whose packages are not installed is refused before anything starts, and the extra is named."""

from __future__ import annotations

import configparser
import sys
from pathlib import Path

import pytest

from benchmarking.methods.registry import build_method
from benchmarking.methods.searchers.registry import check_installed
from definitions.errors import UserError
from tests.benchmarking.methods.method_experiments import benchmark

SETUP = Path(__file__).resolve().parents[4] / "setup.cfg"
MISSING = [
    ("CQR", "xgboost", "trees"),
    ("REA", "syne_tune", "syne-tune"),
    ("TPE", "syne_tune", "syne-tune"),
    ("BORE", "syne_tune", "syne-tune"),
    ("ASHA_BORE", "syne_tune", "syne-tune"),
    ("ASHA_TPE", "syne_tune", "syne-tune"),
]


@pytest.mark.parametrize(("method", "module", "extra"), MISSING)
def test_a_method_without_its_package_names_the_extra(method, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(UserError) as caught:
        build_method(method, benchmark(), 0, {}, region="us-east-1")
    assert str(caught.value).splitlines()[-1] == f"  in Outrider's folder: pip install '.[{extra}]'"
    assert f"needs the package {module}," in str(caught.value)


@pytest.mark.parametrize("method", ["RS", "BO", "MOBSTER", "ASHA", "MSR", "PBT"])
def test_the_other_methods_need_neither(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    monkeypatch.setitem(sys.modules, "syne_tune", None)
    assert build_method(method, benchmark(), 0, {}, region="us-east-1").name == method


def test_only_what_a_searcher_needs_is_looked_for():
    asked = []
    check_installed("CQR", "CQR", lambda module: asked.append(module) or True)
    check_installed("BO", "GP", lambda module: asked.append(module) or False)
    assert asked == ["xgboost"]


def test_the_extras_that_are_named_are_there():
    setup = configparser.ConfigParser()
    setup.read(SETUP, encoding="utf-8")
    for _, module, extra in MISSING:
        assert module.replace("_", "-") in setup["options.extras_require"][extra]
        assert module.replace("_", "-") not in setup["options"]["install_requires"]
