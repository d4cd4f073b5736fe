"""The JSON Schema for editors is current and says what the models say."""

import json

import pytest

from definitions.json_schema import FILE, STUDY_FILE, json_schema, study_schema, text
from definitions.schema import BenchmarkDefinition
from definitions.space import KINDS, parse_domain


def test_the_files_are_current():
    for file, schema in ((FILE, json_schema()), (STUDY_FILE, study_schema())):
        assert file.read_text(encoding="utf-8") == text(schema), "run `python -m definitions.json_schema`"


STUDY = {"benchmarks": ["digits"], "methods": ["RS"], "seeds": 2, "set": {"lr": [0.1, 0.2]}, "compare": {"by": "tag", "threshold": "1%"}}


def test_a_studys_schema_allows_what_its_model_does():
    validator = pytest.importorskip("jsonschema").Draft202012Validator(study_schema())
    validator.check_schema(study_schema())
    assert validator.is_valid({**STUDY, "parallel": "auto"})
    assert validator.is_valid({"parallel": 3, "shared_start": 0})
    for wrong in ({"seeds": 0}, {"seed": 2}, {"parallel": "all"}, {"order": "random"}, {"compare": {"x": "time"}}, {"set": [1]}):
        assert not validator.is_valid({**STUDY, **wrong}), wrong
    assert all("description" in one for one in study_schema()["properties"].values())


def test_it_has_every_field_and_no_other():
    found = json.loads(FILE.read_text(encoding="utf-8"))
    assert set(found["properties"]) == {*BenchmarkDefinition.model_fields, "local", "simulated", "sagemaker", "warm_pool", "ray"}
    assert found["additionalProperties"] is False
    assert found["required"] == ["name", "objectives"]


def test_every_kind_of_domain_has_a_form():
    forms = json_schema()["$defs"]["Domain"]["oneOf"]
    assert sorted(kind for form in forms for kind in form.get("required", [])) == sorted(KINDS)
    for form in forms[1:]:
        (kind,) = form["required"]
        least = form["properties"][kind]["minItems"]
        assert parse_domain({kind: [0.5, 0.75, 0.25][:least] if "int" not in kind and "finrange" not in kind else [1, 2, 1][:least]})


def test_spaces_of_blocks_use_it_too():
    definitions = json_schema()["$defs"]
    for owner in (json_schema(), definitions["LocalBlock"], definitions["SageMakerBlock"]):
        assert owner["properties"]["space"]["additionalProperties"] == {"$ref": "#/$defs/Domain"}


def test_shorthands_are_allowed():
    found = json_schema()
    assert {"type": "string"}.items() <= found["properties"]["datasets"]["anyOf"][1].items()
    assert found["$defs"]["MethodVariant"]["additionalProperties"] is True
    assert [part["type"] for part in found["$defs"]["ImagesDataset"]["properties"]["samples"]["anyOf"]] == ["integer", "string"]


def test_what_can_be_written_is_what_the_schema_allows(definition_examples):
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    for data, good in definition_examples:
        assert validator.is_valid(data) is good, data
