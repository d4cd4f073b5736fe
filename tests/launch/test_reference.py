"""The reference page is what schema and parsers say now."""

from __future__ import annotations

from definitions.json_schema import json_schema
from launch.reference import FILE, page


def test_the_page_is_current():
    assert FILE.read_text(encoding="utf-8") == page(), "run: python -m launch.reference"


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
