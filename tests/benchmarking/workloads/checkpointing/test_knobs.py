import argparse
from pathlib import Path

import pytest

from benchmarking.workloads.checkpointing.kinds import KINDS, packages_of
from benchmarking.workloads.checkpointing.knobs import NAMES, CheckpointKnobs, Every, add_checkpoint_knobs, checkpoint_knobs_from, problem
from benchmarking.workloads.checkpointing.models import MODELS


def asked(*words):
    parser = argparse.ArgumentParser()
    add_checkpoint_knobs(parser)
    return checkpoint_knobs_from(parser.parse_args(words))


def test_nothing_is_saved_unless_asked_for_and_all_knobs_are_recorded():
    assert asked().kind.writer == ""
    assert asked("--checkpoint", "dcp_disk", "--checkpoint_every", "50 steps").recorded() == {
        "checkpoint": "dcp_disk", "checkpoint_every": "50steps", "checkpoint_async": False, "checkpoint_threads": 1,
        "checkpoint_fsync": True,
        "checkpoint_sharding": "ddp", "checkpoint_client": "s3torchconnector", "checkpoint_to": "",
    }  # fmt: skip
    assert set(asked().recorded()) == set(NAMES)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("2", [(2, "epochs"), (4, "epochs")]),
        ("3steps", [(3, "steps")]),
        ("1 epoch", [(number, "epochs") for number in range(1, 5)]),
    ],
)
def test_an_interval_is_steps_or_epochs(text, due):
    every = Every.parsed(text)
    assert [(done, unit) for unit in ("steps", "epochs") for done in range(5) if every.is_due(done, unit)] == due


@pytest.mark.parametrize("text", ["0", "-1", "often", "1.5 epochs", "steps", ""])
def test_what_is_no_interval_is_refused(text):
    with pytest.raises(SystemExit, match=r"checkpoint_every: .* is no interval: say 50steps"):
        CheckpointKnobs("disk", text)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"checkpoint": "dcp_dsk"}, "checkpoint is 'dcp_dsk': it is one of none, disk, .*; did you mean dcp_disk?"),
        ({"checkpoint_sharding": "fsdp"}, "checkpoint_sharding is 'fsdp': it is one of ddp, fsdp_full, fsdp_hybrid"),
        ({"checkpoint": "disk", "checkpoint_threads": 2}, "checkpoint_threads is 2, and checkpoint disk is one stream"),
        ({"checkpoint": "disk", "checkpoint_threads": 0}, "checkpoint_threads is 0: it is at least 1"),
        ({"checkpoint": "dcp_s3", "checkpoint_client": "boto3"}, "checkpoint_client is boto3, which writes checkpoint s3 only"),
        ({"checkpoint": "disk", "checkpoint_to": "s3://b/p"}, "checkpoint_to is s3://b/p, and checkpoint disk goes to a disk"),
        ({"checkpoint": "s3", "checkpoint_to": "/data"}, "checkpoint_to is /data, and checkpoint s3 goes to an object store"),
        (
            {"checkpoint": "dcp_disk", "checkpoint_sharding": "fsdp_full", "processes": 1},
            "checkpoint_sharding is fsdp_full, and there is one",
        ),
        ({"checkpoint": "dcp_disk", "checkpoint_sharding": "fsdp_hybrid", "processes": 3}, "checkpoint_sharding is fsdp_hybrid, for two"),
        ({"checkpoint": "lightning_disk", "checkpoint_sharding": "fsdp_full"}, "checkpoint_sharding is fsdp_full: Lightning's"),
    ],
)
def test_what_cannot_go_together_is_said(settings, said):
    import re

    assert re.match(said, problem(settings))


@pytest.mark.parametrize(
    "settings",
    [
        {"checkpoint": "s3", "checkpoint_client": "boto3", "checkpoint_threads": 8},
        {"checkpoint": "dcp_disk", "checkpoint_threads": 8, "checkpoint_sharding": "fsdp_hybrid"},
        {"checkpoint": "none", "checkpoint_threads": 8},
        {"checkpoint": "dcp_disk", "checkpoint_sharding": "fsdp_hybrid", "processes": 1, "instance_count": 2},
        {"batch_size": 0},
    ],
)
def test_what_can_go_together_goes(settings):
    assert problem(settings) is None


def test_what_each_kind_imports():
    assert packages_of(KINDS["s3"]) == ("s3torchconnector",)
    assert packages_of(KINDS["s3"], "boto3") == ("boto3",)
    assert "tenacity" in packages_of(KINDS["dcp_s3"], "s3torchconnector")
    assert packages_of(KINDS["lightning_disk"]) == ("lightning",)


def test_the_page_has_a_row_for_each_kind_and_knob():
    page = (Path(__file__).parents[4] / "docs" / "checkpoints.md").read_text(encoding="utf-8")
    for name in (*KINDS, *NAMES[1:]):
        assert f"| `{name}` |" in page
    for name in MODELS:
        assert f"`{name}`" in page
