"""Samples of whole objects: paired, seeded, nested, and refused where there are too few."""

import json
from pathlib import Path

import pytest

from benchmarking.planning.inputs import Inputs
from benchmarking.planning.sampling import choose, sample_name
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

OBJECTS = [(f"shard-{k:03}", 100 + k) for k in range(200)]


def test_a_sample_is_repeatable_nested_and_near_the_fraction_in_bytes():
    one, again, three = (choose(OBJECTS, fraction, 0, 0) for fraction in (0.01, 0.01, 0.03))
    assert one == again
    assert set(one.objects) < set(three.objects)
    assert one.fraction == pytest.approx(0.01, rel=0.3)
    assert one.bytes == sum(size for name, size in OBJECTS if name in one.objects)


def test_repeats_and_seeds_have_samples_of_their_own_and_the_order_of_the_listing_does_not_matter():
    assert choose(OBJECTS, 0.1, 0, 0).objects != choose(OBJECTS, 0.1, 0, 1).objects
    assert choose(OBJECTS, 0.1, 0, 0).objects != choose(OBJECTS, 0.1, 1, 0).objects
    assert choose(OBJECTS[::-1], 0.1, 0, 0) == choose(OBJECTS, 0.1, 0, 0)


def test_uneven_objects_say_what_was_really_sampled():
    uneven = [("big", 10_000), *OBJECTS[:99]]
    found = choose(uneven, 0.01, 3, 0)
    assert len(found.objects) >= 1
    assert found.fraction == pytest.approx(found.bytes / (10_000 + sum(size for _, size in OBJECTS[:99])))


def test_fewer_than_ten_partitions_are_refused():
    with pytest.raises(UserError, match="9 objects cannot be sampled"):
        choose(OBJECTS[:9], 0.01, 0, 0)
    assert len(choose(OBJECTS[:9], 1.0, 0, 0).objects) == 9


def test_canaries_read_the_same_files_on_every_configuration_and_the_full_job_all(tmp_path):
    folder = tmp_path / "data"
    for k in range(40):
        path = folder / f"c{k % 2}" / f"{k}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 50)
    asked = BenchmarkDefinition(
        name="b",
        script="s.py",
        space={"batch_size": {"choice": [1, 2]}},
        objectives={"loss": "min"},
        inputs={"train": {"dataset": "d", "sampled": True}},
        datasets={"d": {"type": "path", "path": str(folder)}},
        fidelity={"kind": "per_job", "argument": "fraction"},
    )
    with Inputs(asked, "local", tmp_path / "cache") as inputs:
        first, second = (inputs.channels(TrialSpec({"batch_size": size}, 0.1, 0))[0].uri for size in (1, 2))
        assert first == second
        other = inputs.channels(TrialSpec({"batch_size": 1}, 0.1, 1))[0].uri
        assert other != first
        assert inputs.channels(TrialSpec({"batch_size": 1}))[0].uri == str(folder)
    files = list(Path(first).rglob("*.jpg"))
    assert len(files) == 4
    assert all(path.read_bytes() == b"x" * 50 for path in files)
    assert Path(first).parent.name.startswith(sample_name(0.1, 0, 0) + "-")
    manifest = json.loads((Path(first).parent / "manifest.json").read_text())
    assert (manifest["bytes"], manifest["fraction"], manifest["asked"]) == (200, 0.1, 0.1)
