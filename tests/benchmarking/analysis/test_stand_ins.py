"""What was measured in place of something else: how it is called, and between what it decides nothing."""

from __future__ import annotations

from benchmarking.analysis.stand_ins import NO_STAND_INS, StandIns, stand_ins
from definitions.schema import BenchmarkDefinition

MODES = ("file", "fastfile", "pipe")
BLOG = StandIns(
    MODES, {"ingestion": {"local": "FSx"}, "model": {"sleep": "ResNet-50 at 328 images/s"}}, {"model": "sleep"}, ("scale 0.005",)
)


def test_values_are_called_what_they_are():
    assert BLOG.labelled({"ingestion": "fastfile", "x": 1}) == {"ingestion": "fastfile (emulated)", "x": 1}
    assert BLOG.labelled({"ingestion": "local"}) == {"ingestion": "local (for FSx)"}
    assert NO_STAND_INS.labelled({"ingestion": "fastfile"}) == {"ingestion": "fastfile"}


def test_only_what_is_imitated_alike_is_alike():
    assert BLOG.emulation({"ingestion": "file", "dataset": "a"}) == BLOG.emulation({"ingestion": "file", "dataset": "b"}) == "file"
    assert len({BLOG.emulation({"ingestion": name}) for name in ("file", "fastfile", "local", "s3_map")}) == 4
    assert BLOG.emulation({"ingestion": "s3_map"}) == ""
    # What all have tells nothing apart, but it may itself be an imitation.
    assert StandIns(MODES, {}, {"ingestion": "pipe"}).emulation({"x": 1}) == "pipe"


def test_below_a_table_stands_what_is_in_it():
    assert BLOG.notes([{"ingestion": "local"}, {"ingestion": "s3_map"}]) == [
        "scale 0.005",
        "ingestion=local stands for FSx: its speed and cost are not those of what it stands for",
        "model=sleep stands for ResNet-50 at 328 images/s: its speed and cost are not those of what it stands for",
    ]
    assert BLOG.notes([{"ingestion": "file", "model": "cnn"}])[1:] == [
        "ingestion file: emulated, so that speed and cost are not the platform's"
    ]
    assert NO_STAND_INS.notes([{"ingestion": "file"}]) == []


def test_they_follow_from_definition_back_end_and_dollars():
    made = BenchmarkDefinition(
        name="a", script="a.py", space={"ingestion": "file"}, objectives={"loss": "min"}, scale=0.5,
        datasets={"d": {"type": "images"}}, stands_for={"x": {"1": "one"}},
    )  # fmt: skip
    found = stand_ins(made, "sagemaker", "emulated")
    assert (found.platform, found.emulation({})) == ("emulated", "emulated")
    assert found.notes([{"ingestion": "s3_map"}]) == [
        "scale 0.5 of generated data: d 1,000 of 2,000",
        "all of it ran on an emulator of its platform, so that speed and cost are not the platform's",
    ]
    assert stand_ins(made, "sagemaker", "real").emulation({"ingestion": "file"}) == ""
    assert stand_ins(made, "local", "nominal").emulation({"ingestion": "file"}) == "file"
