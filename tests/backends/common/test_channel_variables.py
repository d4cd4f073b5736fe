"""What a script is told about a channel."""

from backends.common.channel_variables import channel_variables
from backends.job_input import DataFacts, JobInput


def test_what_is_known_is_told_and_nothing_else():
    channel = JobInput("my-eval", "photos", "files", "local", "files", "/data", DataFacts("jpg", "folder", 40, 2, 1234, "images"))
    assert channel_variables(channel, "/somewhere") == {
        "OUTRIDER_CHANNEL_MY_EVAL": "/somewhere",
        "OUTRIDER_READER_MY_EVAL": "files",
        "OUTRIDER_INPUT_MODE_MY_EVAL": "local",
        "OUTRIDER_LAYOUT_MY_EVAL": "files",
        "OUTRIDER_DATASET_MY_EVAL": "photos",
        "OUTRIDER_FORMAT_MY_EVAL": "jpg",
        "OUTRIDER_LABELS_MY_EVAL": "folder",
        "OUTRIDER_CONTENT_MY_EVAL": "images",
        "OUTRIDER_SAMPLES_MY_EVAL": "40",
        "OUTRIDER_CLASSES_MY_EVAL": "2",
        "OUTRIDER_BYTES_MY_EVAL": "1234",
        "OUTRIDER_DISTRIBUTION_MY_EVAL": "replicated",
    }
    unknown = channel_variables(JobInput("train", "d", "shards", "fsx", "tar", "fsx://x", DataFacts("tar", "none")), "/opt")
    assert not [name for name in unknown if name.startswith(("OUTRIDER_SAMPLES", "OUTRIDER_CLASSES", "OUTRIDER_BYTES"))]
    assert unknown["OUTRIDER_LABELS_TRAIN"] == "none"
    assert channel_variables(channel, "/x", "sharded")["OUTRIDER_DISTRIBUTION_MY_EVAL"] == "sharded"
