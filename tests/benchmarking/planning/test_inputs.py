import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from backends.emulator import Emulator, Settings
from backends.storage import Storage
from benchmarking.datasets import S3Target
from benchmarking.datasets.preparation import Prepared
from benchmarking.planning.inputs import (
    ChannelChoice,
    Inputs,
    channel_choices,
    check_folders,
    input_problem,
    possible_choices,
    unreadable,
    upload_target,
)
from definitions.errors import UserError
from definitions.schema import InputChannel
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import definition

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
        ("local", {"dataset": "files", "ingestion": "fastfile"}, None),
        ("local", {"dataset": "files", "ingestion": "efs"}, "inputs.train: ingestion 'efs' does not exist on back-end 'local'"),
        ("local", {"dataset": "shards", "ingestion": "pipe", "loader_workers": 2}, "inputs.train: ingestion 'pipe' has one reader"),
        (
            "local",
            {"dataset": "files", "loader_workers": 0, "prefetch_factor": 2},
            "inputs.train: prefetch_factor is 2, and loader_workers 0",
        ),
        ("sagemaker", {"dataset": "shards", "ingestion": "pipe"}, None),
        ("sagemaker", {"dataset": "files", "ingestion": "pipe"}, "inputs.train: ingestion 'pipe' reads shards and records, not files"),
        ("local", {"dataset": "remote", "ingestion": "local"}, "inputs.train: ingestion 'local' reads this machine's disk"),
        ("local", {"dataset": "remote", "ingestion": "s3_iterable"}, None),
    ],
)
def test_pairs_that_cannot_be_are_refused_with_the_reason(backend, configuration, reason):
    made = benchmark(datasets={"files": FILES, "shards": SHARDS, "remote": REMOTE})
    found = input_problem(made, backend, configuration)
    assert (found is None) if reason is None else found.startswith(reason)


def test_packages_that_are_missing_are_named_before_anything_starts_where_jobs_run_on_this_machine():
    made = benchmark(datasets={"files": FILES, "shards": SHARDS})
    asked = {"dataset": "files", "ingestion": "fsspec"}
    found = input_problem(made, "local", asked, is_installed={"fsspec"}.__contains__)
    assert found == "inputs.train: ingestion 'fsspec' needs what is not installed: pip install s3fs"
    assert input_problem(made, "local", asked, is_installed={"fsspec", "s3fs"}.__contains__) is None
    assert input_problem(made, "sagemaker", asked, is_installed=set().__contains__) is None
    emulated = {"dataset": "files", "ingestion": "file"}
    assert "pip install s3torchconnector" in input_problem(made, "local", emulated, is_installed=set().__contains__)


def test_a_program_that_is_missing_is_named_before_anything_starts():
    made = benchmark(datasets={"files": FILES, "shards": SHARDS})
    asked = {"dataset": "files", "ingestion": "mountpoint"}
    found = input_problem(made, "local", asked, on_path=lambda name: False)
    assert found.startswith("inputs.train: ingestion 'mountpoint' needs the program mount-s3, which is not on the path")
    assert input_problem(made, "local", asked, on_path="mount-s3".__eq__) is None


@pytest.mark.slow
def test_a_script_that_reads_by_itself_gets_a_uri_and_needs_nothing(tmp_path):
    made = benchmark({"dataset": {"choice": ["files"]}}, datasets={"files": FILES}, arguments={"ingestion": "uri"})
    assert input_problem(made, "local", {"dataset": "files"}, is_installed=set().__contains__) is None
    with Inputs(made, "local", tmp_path) as inputs:
        (channel,) = inputs.channels(TrialSpec({"dataset": "files"}))
        assert channel.uri.startswith("s3://")
        assert inputs.environment["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1:")
        assert channel.requirements == ()


def test_all_pairs_that_some_configuration_can_ask_for():
    made = benchmark({"dataset": {"choice": ["files", "shards"]}, "ingestion": {"choice": ["file", "pipe", "local"]}})
    assert possible_choices(made, "sagemaker") == {
        ChannelChoice("train", "files", "file"),
        ChannelChoice("train", "shards", "file"),
        ChannelChoice("train", "shards", "pipe"),
    }
    assert possible_choices(made, "local") == {
        ChannelChoice("train", *pair)
        for pair in (("files", "local"), ("shards", "local"), ("files", "file"), ("shards", "file"), ("shards", "pipe"))
    }


def test_folders_that_some_configuration_reads_are_looked_for_and_others_are_not(tmp_path):
    own = {"type": "path", "path": str(tmp_path / "gone")}
    made = benchmark({"dataset": {"choice": ["files", "own"]}}, datasets={"files": FILES, "own": own})
    with pytest.raises(UserError, match=r"data set 'own': .*gone[\s\S]*there is no such folder"):
        check_folders(made, "local")
    check_folders(benchmark({"dataset": {"choice": ["files"]}}, datasets={"files": FILES, "own": own}), "local")


def test_pairs_of_a_space_that_cannot_be_are_told_with_their_reasons():
    made = benchmark({"dataset": {"choice": ["files", "shards"]}, "ingestion": {"choice": ["s3_map", "pipe", "fsx"]}})
    assert [reason.partition("; ")[0].partition(", not")[0] for reason in unreadable(made, "local")] == [
        "inputs.train: ingestion 'pipe' reads shards and records",
        "inputs.train: ingestion 'fsx' does not exist on back-end 'local'",
    ]
    assert unreadable(benchmark({"dataset": {"choice": ["files"]}, "ingestion": {"choice": ["local"]}}), "local") == ()


def test_listed_trials_ask_for_what_they_list():
    made = benchmark(
        space={}, trials=({"dataset": "files"}, {"dataset": "shards", "ingestion": "s3_iterable"}, {"x": 1, "dataset": "files"})
    )
    assert possible_choices(made, "local") == {ChannelChoice("train", "files", "local"), ChannelChoice("train", "shards", "s3_iterable")}


def test_prepared_channels_point_at_the_data(tmp_path):
    made = benchmark({"dataset": {"choice": ["files"]}}, datasets={"files": FILES, "shards": SHARDS})
    with Inputs(made, "local", tmp_path) as inputs:
        (channel,) = inputs.channels(TrialSpec({"dataset": "files"}))
        assert (channel.name, channel.dataset, channel.layout, channel.input_mode, channel.reader) == (
            "train",
            "files",
            "files",
            "local",
            "files",
        )
        assert channel.uri.startswith(str(tmp_path))
        facts, size_bytes = channel.facts, sum(path.stat().st_size for path in Path(channel.uri).rglob("*.jpg"))
        assert (facts.format, facts.labels, facts.samples, facts.size_bytes) == ("jpg", "folder", 8, size_bytes)
        assert (inputs.environment, inputs.notes) == ({}, [])
    assert len([path for path in tmp_path.iterdir() if path.name.startswith("images-")]) == 1  # what nobody asks for is not made


PER_JOB = {"kind": "per_job", "argument": "fraction", "ladder": [0.1], "full": 0.5}
EPOCHS = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 10}


def own_folder(tmp_path):
    """Return a data set of 20 files of ten bytes."""
    folder = tmp_path / "own"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.jpg").write_bytes(b"0123456789")
    return {"own": {"type": "path", "path": str(folder)}}


@pytest.mark.parametrize(
    ("fidelity", "sampled", "level", "files", "name"),
    [
        (PER_JOB, True, 0.1, 4, "0.2-s3-r2"),
        (PER_JOB, True, 0.45, 18, "0.9-s3-r2"),
        (PER_JOB, True, 0.5, 20, None),
        (PER_JOB, True, None, 20, None),
        (PER_JOB, None, 0.1, 20, None),
        (EPOCHS, True, 1.0, 20, None),
    ],
)
def test_a_canary_reads_its_share_of_the_full_level(tmp_path, fidelity, sampled, level, files, name):
    made = benchmark(datasets=own_folder(tmp_path), inputs={"train": InputChannel(sampled=sampled)}, fidelity=fidelity)
    with Inputs(made, "local", tmp_path / "cache", seed=3) as inputs:
        (channel,) = inputs.channels(TrialSpec({"x": 1}, level, 2))
    folder = Path(channel.uri)
    assert len(list(folder.iterdir())) == files
    # Of a part nobody counted how much it is.
    assert name is None or (channel.facts.samples, channel.facts.size_bytes) == (None, None)
    assert folder.parent.name.rpartition("-")[0] == name if name else folder == tmp_path / "own"


def test_in_s3_a_canary_gets_a_manifest_and_a_full_job_the_prefix(tmp_path, monkeypatch):
    objects = [(f"{number:02}", 10) for number in range(20)]
    monkeypatch.setattr("benchmarking.datasets.prepare", lambda name, *_, **__: Prepared(name, "files", None, "s3://theirs/d/", 20, 200))
    monkeypatch.setattr("benchmarking.planning.manifests.list_objects", lambda uri, target: objects)
    monkeypatch.setattr("benchmarking.planning.manifests.put_object", lambda key, body, target: f"s3://{target.bucket}/{key}")
    made = benchmark(datasets={"d": REMOTE}, inputs={"train": InputChannel(sampled=True)}, fidelity=PER_JOB)
    with Inputs(made, "sagemaker", tmp_path, target=S3Target("bucket"), seed=3) as inputs:
        canary, full = (inputs.channels(TrialSpec({"x": 1}, level, 1))[0].uri for level in (0.1, 0.5))
    assert canary.startswith("s3://bucket/samples/0.2-s3-r1-")
    assert full == "s3://theirs/d/"


@pytest.mark.parametrize(("sampled", "refused"), [(True, True), (False, False), (None, False)])
def test_only_what_is_put_into_place_can_be_sampled(tmp_path, sampled, refused):
    made = benchmark(datasets=own_folder(tmp_path), inputs={"train": InputChannel(sampled=sampled, ingestion="s3_map")}, fidelity=PER_JOB)
    inputs = Inputs(made, "local", tmp_path / "cache")
    choices = [ChannelChoice("train", "own", "s3_map"), ChannelChoice("other", "own", "s3_map")]
    if not refused:
        inputs.check_sampled(choices)
        return
    with pytest.raises(UserError, match=r"inputs\.train: sampled, with ingestion s3_map[\s\S]*use ingestion local;"):
        inputs.check_sampled(choices)
    inputs.check_sampled([ChannelChoice("train", "own", "local")])


def test_simulated_runs_prepare_nothing(tmp_path):
    made = benchmark({"dataset": {"choice": ["files"]}})
    with Inputs(made, "simulated", tmp_path / "cache") as inputs:
        assert inputs.channels(TrialSpec({"dataset": "files"}))[0].uri == ""
    assert not (tmp_path / "cache").exists()


def test_data_sets_are_uploaded_to_where_the_back_end_says_if_there_are_any():
    cloud = SimpleNamespace(storage=lambda: Storage("bucket", "outrider", "eu-north-1"))
    here = SimpleNamespace(storage=lambda: None)
    some = definition(datasets={"d": {"type": "path", "path": "/d"}}, inputs={"train": {}})
    found = upload_target(some, cloud, {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert found == S3Target("bucket", "outrider/datasets", "http://127.0.0.1:1", region="eu-north-1")
    assert upload_target(some, here, {}) is None
    assert upload_target(definition(), cloud, {}) is None


def test_file_systems_are_mounted_by_their_own_word(tmp_path):
    mounted = {"type": "filesystem", "kind": "fsx", "id": "fs-0123456789abcdef0", "directory": "/photos"}
    made = benchmark(datasets={"files": FILES, "mounted": mounted}, inputs={"train": InputChannel(dataset="mounted")})
    assert channel_choices(made, "sagemaker", {"x": 1}) == (ChannelChoice("train", "mounted", "fsx"),)
    assert input_problem(made, "sagemaker", {"x": 1}) is None
    free = benchmark(datasets={"files": FILES, "mounted": mounted}, inputs={"train": InputChannel()})
    assert "mounts a file system" in input_problem(free, "sagemaker", {"dataset": "files", "ingestion": "fsx"})
    assert "does not exist on back-end 'local'" in input_problem(made, "local", {"x": 1})
    with Inputs(made, "sagemaker", tmp_path) as inputs:
        (channel,) = inputs.channels(TrialSpec({"x": 1}))
    assert (channel.input_mode, channel.reader, channel.uri) == ("fsx", "files", "fsx://fs-0123456789abcdef0/photos")


@pytest.fixture(scope="module")
def emulator():
    with Emulator(settings=Settings()) as running:
        running.create_bucket("bucket")
        yield running


class TestOnSageMaker:
    @pytest.fixture
    def target(self, emulator):
        given = emulator.environment
        keys = given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], given["AWS_REGION"]
        return S3Target("bucket", "outrider/datasets", given["AWS_ENDPOINT_URL"], *keys)

    @staticmethod
    def keys(target):
        return [one["Key"] for one in target.client().list_objects_v2(Bucket="bucket", Prefix="outrider/").get("Contents", [])]

    @pytest.mark.slow
    def test_generated_and_own_folders_are_uploaded_once_and_channels_get_their_uri(self, tmp_path, target):
        own = tmp_path / "own"
        own.mkdir()
        (own / "a.jpg").write_bytes(b"1")
        made = benchmark(
            {"dataset": {"choice": ["files", "own"]}, "ingestion": {"choice": ["file", "fastfile", "s3_map"]}},
            datasets={"files": FILES, "own": {"type": "path", "path": str(own)}, "unused": SHARDS},
        )
        found = {}
        for _ in range(2):
            with Inputs(made, "sagemaker", tmp_path / "cache", target=target) as inputs:
                for dataset in ("files", "own"):
                    for mode in ("file", "fastfile", "s3_map"):
                        found[dataset, mode] = inputs.channels(TrialSpec({"dataset": dataset, "ingestion": mode}))[0]
                assert inputs.environment == {}
        assert {one.uri for key, one in found.items() if key[0] == "own"} == {found["own", "file"].uri}
        assert found["own", "file"].uri.startswith("s3://bucket/outrider/datasets/path-")
        assert [found["files", mode].input_mode for mode in ("file", "fastfile", "s3_map")] == ["file", "fastfile", "none"]
        keys = self.keys(target)
        assert len([key for key in keys if key.endswith("/complete.json")]) == 2
        assert len([key for key in keys if key.endswith(".jpg")]) == 9

    @pytest.mark.slow
    def test_a_sample_is_a_manifest_that_all_configurations_share(self, tmp_path, target):
        fidelity = {"kind": "per_job", "argument": "fraction", "ladder": [0.1, 0.3], "full": 1.0}
        files = {**FILES, "samples": 20}
        made = benchmark(datasets={"files": files}, inputs={"train": InputChannel(sampled=True)}, fidelity=fidelity)
        with Inputs(made, "sagemaker", tmp_path, target=target, seed=3) as inputs:
            small, again, large, other, full = (
                inputs.channels(TrialSpec({"x": x}, *level))[0].uri
                for x, level in (
                    *((1, (0.1, 0)), (2, (0.1, 0)), (1, (0.3, 0))),
                    *((1, (0.1, 1)), (1, ())),
                )
            )
        assert small == again
        assert len({small, large, other, full}) == 4
        assert full.endswith("/data/")
        contents = [json.loads(target.client().get_object(Bucket="bucket", Key=uri[12:])["Body"].read()) for uri in (small, large)]
        assert [content[0] for content in contents] == [{"prefix": full}] * 2
        assert (len(contents[0]), len(contents[1])) == (3, 7)
        assert set(contents[0][1:]) < set(contents[1][1:])
        assert small.startswith("s3://bucket/outrider/datasets/samples/0.1-s3-r0-")
        assert small.endswith(".manifest")

    @pytest.mark.slow
    def test_a_data_set_of_ones_own_in_s3_is_looked_for_where_the_jobs_are(self, tmp_path, target):
        made = benchmark(datasets={"d": {"type": "s3", "uri": "s3://bucket/none/"}}, inputs={"train": InputChannel()})
        with pytest.raises(UserError, match="no object under this prefix"), Inputs(made, "sagemaker", tmp_path, target=target):
            pass

    def test_without_a_bucket_nothing_can_be_uploaded(self, tmp_path):
        made = benchmark(datasets={"files": FILES}, inputs={"train": InputChannel()})
        with pytest.raises(UserError, match="data sets files have to be in S3"), Inputs(made, "sagemaker", tmp_path):
            pass

    @pytest.mark.slow
    def test_what_a_script_reads_itself_cannot_be_sampled_for_it(self, tmp_path, target):
        made = benchmark(datasets={"files": FILES}, inputs={"train": InputChannel(sampled=True, ingestion="s3_map")})
        with pytest.raises(UserError, match="sampled, with ingestion s3_map"), Inputs(made, "sagemaker", tmp_path, target=target):
            pass
