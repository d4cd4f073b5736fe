"""Files of arguments: what readers of each format read."""

import json
import math
import tomllib

import pytest
import yaml

from benchmarking.planning.arguments_file import document
from definitions.written import written_float, written_int

VALUES = {
    "lr": written_float("1e3"), "model.depth": written_int("0x10"), "model.act": "a \"b\" \\ \x7f é\n", "amp": True, "tiny": 1e-07,
    "optim.betas": [0.9, 0.999], "model.head": {"width": 3, "odd key.": [{"a": 1}]}, "none": None, "whole": 2.0,
}  # fmt: skip
NESTED = {
    "lr": 1000.0, "model": {"depth": 16, "act": "a \"b\" \\ \x7f é\n", "head": {"width": 3, "odd key.": [{"a": 1}]}},
    "amp": True, "tiny": 1e-07, "optim": {"betas": [0.9, 0.999]}, "none": None, "whole": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("style", ["json", "yaml"])
def test_json_and_yaml(style):
    assert {"json": json.loads, "yaml": yaml.safe_load}[style](document(VALUES, style)) == NESTED


def test_toml_has_no_null_and_tables_after_what_is_their_parent_s():
    read = tomllib.loads(document(VALUES, "toml"))
    assert read == {key: value for key, value in NESTED.items() if key != "none"}
    assert isinstance(read["whole"], float)
    assert isinstance(read["model"]["depth"], int)
    assert document({"a.b": 1, "c": 2}, "toml") == "c = 2\n[a]\nb = 1\n"
    odd = tomllib.loads(document({"x": [math.inf, -math.inf, None], "y": math.nan}, "toml"))
    assert odd["x"] == [math.inf, -math.inf]
    assert math.isnan(odd["y"])
