import pytest

from benchmarking.workloads.ingestion import Channel


def test_a_channel_is_read_from_the_environment():
    ours = {
        "OUTRIDER_CHANNEL_TRAIN": "s3://b/k",
        "OUTRIDER_READER_TRAIN": "s3_map",
        "OUTRIDER_LAYOUT_TRAIN": "shards",
        "OUTRIDER_FORMAT_TRAIN": "tar",
        "OUTRIDER_LABELS_TRAIN": "none",
        "OUTRIDER_INPUT_MODE_TRAIN": "none",
        "OUTRIDER_CONTENT_TRAIN": "images",
        "OUTRIDER_CLASSES_TRAIN": "7",
        "SM_CHANNEL_TRAIN": "/x",
    }
    assert Channel.announced(ours) == Channel("s3://b/k", "s3_map", "shards", "tar", "none", "none", content="images", classes=7)
    assert Channel.announced(ours).is_remote


def test_sagemakers_variables_do_where_ours_are_missing():
    assert Channel.announced({"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train"}) == Channel("/opt/ml/input/data/train", "files", "files")
    assert Channel.announced({"SM_CHANNEL_TRAIN": "/x", "OUTRIDER_LAYOUT_TRAIN": "shards"}).reader == "tar"
    assert Channel.announced({"SM_CHANNEL_MY_EVAL": "/x"}, "my-eval").location == "/x"
    with pytest.raises(SystemExit, match="no channel 'train'"):
        Channel.announced({})
