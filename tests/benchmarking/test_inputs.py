import pytest
from experiments import definition

from benchmarking.inputs import ChannelChoice, Inputs, channel_choices, input_problem, possible_choices
from definitions.errors import UserError
from definitions.schema import InputChannel

FILES = {"type": "images", "format": "jpg", "samples": 8, "image_size": 16}
SHARDS = {"type": "images", "format": "tar", "samples": 8, "image_size": 16}
REMOTE = {"type": "s3", "uri": "s3://bucket/prefix"}


def benchmark(space=None, **changes):
    given = {"datasets": {"files": FILES, "shards": SHARDS}, "space": {"x": {"choice": [1]}} if space is None else space, **changes}
    return definition(**given)


def test_the_keys_of_a_configuration_mean_the_channel_train():
    made = benchmark({"dataset": {"choice": ["files", "shards"]}, "ingestion": {"choice": ["local", "s3_map"]}})
    assert channel_choices(made, "local", {"dataset": "shards", "ingestion": "s3_map"}) == (ChannelChoice("train", "shards", "s3_map"),)


def test_what_a_channel_fixes_wins_and_other_channels_ignore_the_configuration():
    made = benchmark(
        {"dataset": {"choice": ["files", "shards"]}},
        inputs={"train": InputChannel(ingestion="s3_iterable"), "test": InputChannel(dataset="files", ingestion="local")},
    )
    assert channel_choices(made, "local", {"dataset": "shards", "ingestion": "s3_map"}) == (
        ChannelChoice("train", "shards", "s3_iterable"),
        ChannelChoice("test", "files", "local"),
    )


@pytest.mark.parametrize(("backend", "ingestion"), [("local", "local"), ("simulated", "local"), ("sagemaker", "file")])
def test_defaults(backend, ingestion):
    made = benchmark(inputs={"train": InputChannel()}, datasets={"files": FILES})
    assert channel_choices(made, backend, {"x": 1}) == (ChannelChoice("train", "files", ingestion),)


def test_no_data_no_channels():
    assert channel_choices(definition(), "local", {"x": 1}) == ()


def test_a_channel_without_a_data_set_is_refused():
    with pytest.raises(UserError, match=r"inputs\.train: no data set[\s\S]*give inputs\.train\.dataset"):
        channel_choices(benchmark(inputs={"train": InputChannel()}), "local", {"x": 1})


def test_an_unknown_data_set_is_answered_with_the_known_ones():
    with pytest.raises(UserError, match=r"data set 'photos' is not defined[\s\S]*files, shards"):
        channel_choices(benchmark(), "local", {"dataset": "photos"})


@pytest.mark.parametrize(
    ("backend", "configuration", "reason"),
    [
        ("local", {"dataset": "files", "ingestion": "local"}, None),
        ("local", {"dataset": "files", "ingestion": "s3_map"}, None),
        ("local", {"dataset": "files", "ingestion": "fastfile"}, "inputs.train: ingestion 'fastfile' does not exist on back-end 'local'"),
        ("sagemaker", {"dataset": "shards", "ingestion": "pipe"}, None),
        ("sagemaker", {"dataset": "files", "ingestion": "pipe"}, "inputs.train: ingestion 'pipe' reads shards, not files"),
        ("local", {"dataset": "remote", "ingestion": "local"}, "inputs.train: ingestion 'local' reads this machine's disk"),
        ("local", {"dataset": "remote", "ingestion": "s3_iterable"}, None),
    ],
)
def test_pairs_that_cannot_be_are_refused_with_the_reason(backend, configuration, reason):
    made = benchmark(datasets={"files": FILES, "shards": SHARDS, "remote": REMOTE})
    found = input_problem(made, backend, configuration)
    assert (found is None) if reason is None else found.startswith(reason)


def test_all_pairs_that_some_configuration_can_ask_for():
    made = benchmark({"dataset": {"choice": ["files", "shards"]}, "ingestion": {"choice": ["file", "pipe", "local"]}})
    assert possible_choices(made, "sagemaker") == {
        ChannelChoice("train", "files", "file"),
        ChannelChoice("train", "shards", "file"),
        ChannelChoice("train", "shards", "pipe"),
    }
    assert possible_choices(made, "local") == {ChannelChoice("train", name, "local") for name in ("files", "shards")}


def test_listed_trials_ask_for_what_they_list():
    made = benchmark(
        space={}, trials=({"dataset": "files"}, {"dataset": "shards", "ingestion": "s3_iterable"}, {"x": 1, "dataset": "files"})
    )
    assert possible_choices(made, "local") == {ChannelChoice("train", "files", "local"), ChannelChoice("train", "shards", "s3_iterable")}


def test_prepared_channels_point_at_the_data(tmp_path):
    made = benchmark({"dataset": {"choice": ["files"]}}, datasets={"files": FILES, "shards": SHARDS})
    with Inputs(made, "local", tmp_path) as inputs:
        (channel,) = inputs.channels({"dataset": "files"})
        assert (channel.name, channel.dataset, channel.layout, channel.input_mode, channel.reader) == (
            "train",
            "files",
            "files",
            "local",
            "files",
        )
        assert channel.uri.startswith(str(tmp_path))
        assert (inputs.environment, inputs.notes) == ({}, [])
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("images-")]) == 1  # what nobody asks for is not made


def test_simulated_runs_prepare_nothing(tmp_path):
    made = benchmark({"dataset": {"choice": ["files"]}})
    with Inputs(made, "simulated", tmp_path / "cache") as inputs:
        assert inputs.channels({"dataset": "files"})[0].uri == ""
    assert not (tmp_path / "cache").exists()
