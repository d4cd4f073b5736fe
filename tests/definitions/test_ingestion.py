from pathlib import Path

import pytest

from definitions import ingestion as table
from definitions.backend_registry import backend_description, emulated_modes
from definitions.errors import UserError
from definitions.formats import LAYOUTS
from definitions.ingestion import INGESTIONS, REQUIREMENTS, emulation, ingestion, needs_s3, settings_problem

BACKENDS = ("local", "sagemaker", "warm_pool", "simulated")


def problem(name, layout, backend, *given):
    return table.problem(name, layout, backend, backend_description(backend).input_modes, *given)


@pytest.mark.parametrize(
    ("name", "input_mode", "files", "shards"),
    [
        ("local", "local", "files", "tar"),
        ("file", "file", "files", "tar"),
        ("fastfile", "fastfile", "files", "tar"),
        ("fsx", "fsx", "files", "tar"),
        ("efs", "efs", "files", "tar"),
        ("pipe", "pipe", None, "pipe"),
        ("s3_map", "none", "s3_map", "s3_map"),
        ("s3_iterable", "none", "s3_iterable", "s3_iterable"),
        ("fsspec", "none", "fsspec", "fsspec"),
        ("boto3", "none", "boto3", "boto3"),
        ("webdataset", "none", None, "webdataset"),
        ("litdata", "none", None, None),
        ("mountpoint", "mount", "mountpoint", "mountpoint"),
        ("uri", "none", "uri", "uri"),
    ],
)
def test_each_word_has_a_mode_and_a_reader_per_layout(name, input_mode, files, shards):
    entry = ingestion(name)
    assert (entry.input_mode, entry.layouts.get("files"), entry.layouts.get("shards")) == (input_mode, files, shards)


def test_the_table_is_complete():
    assert set(INGESTIONS) == {
        *("local", "memory", "file", "fastfile", "pipe", "fsx", "efs", "s3_map", "s3_iterable", "fsspec", "boto3"),
        *("webdataset", "litdata", "mountpoint", "mountpoint_cache", "uri"),
    }
    for entry in INGESTIONS.values():
        assert set(entry.layouts) <= set(LAYOUTS)
        assert set(entry.needs(True, "table")) | set(entry.needs(False, "chunks")) <= set(REQUIREMENTS)


def test_unknown_word_is_answered_with_the_nearest():
    for ask in (ingestion, needs_s3, lambda name: problem(name, "files", "local")):
        with pytest.raises(UserError, match="did you mean 's3_iterable'"):
            ask("s3_iterabel")


@pytest.mark.parametrize(
    ("name", "valid_on"),
    [
        ("local", {"local", "simulated"}),
        ("fastfile", {"local", "sagemaker", "warm_pool", "simulated"}),
        ("efs", {"sagemaker", "warm_pool", "simulated"}),
        ("memory", {"local", "simulated"}),
        ("s3_map", {"local", "sagemaker", "warm_pool", "simulated"}),
        ("mountpoint", {"local", "simulated"}),  # containers of SageMaker mount nothing
    ],
)
def test_back_ends_of_each_kind(name, valid_on):
    assert {backend for backend in BACKENDS if problem(name, "files", backend) is None} == valid_on


def test_a_refusal_says_what_works_instead():
    said = problem("efs", "files", "local")
    there = "local, memory, file, fastfile, s3_map, s3_iterable, fsspec, boto3, mountpoint, mountpoint_cache, uri"
    assert said == f"ingestion 'efs' does not exist on back-end 'local'; there: {there}"
    others = "file, fastfile, fsx, efs, s3_map, s3_iterable, fsspec, boto3, uri"
    assert problem("pipe", "files", "sagemaker") == f"ingestion 'pipe' reads shards and records, not files; that is read by {others}"
    assert problem("s3_map", "chunks", "sagemaker").endswith("not chunks; that is read by file, fastfile, fsx, efs, litdata, uri")


def test_a_back_end_offers_what_it_says_and_no_more():
    assert table.problem("fastfile", "files", "my_cluster", ("fastfile", "pipe")) is None
    said = table.problem("local", "files", "my_cluster", ("fastfile", "pipe"))
    assert said == "ingestion 'local' does not exist on back-end 'my_cluster'; there: fastfile"
    said = table.problem("pipe", "files", "my_cluster", ("fastfile", "pipe"))
    assert said == "ingestion 'pipe' reads shards and records, not files; that is read by fastfile"


def test_an_emulation_reads_what_it_can():
    modes = backend_description("local")
    said = table.problem("fastfile", "chunks", "local", modes.input_modes, "images", "", modes.emulated_modes)
    assert said == "ingestion 'fastfile' is emulated on back-end 'local', where it reads no chunks; use file, litdata or local"
    assert table.problem("file", "chunks", "local", modes.input_modes, "images", "", modes.emulated_modes) is None
    assert problem("fastfile", "chunks", "sagemaker") is None


def test_local_disk_does_not_hold_what_is_in_s3():
    assert "the data set is in S3" in problem("local", "files", "local", "s3")
    assert problem("s3_map", "files", "local", "s3") is None
    assert problem("local", "files", "local", "images") is None


def test_file_systems_are_mounted_each_by_its_own_word_and_nothing_else_is():
    assert problem("fsx", "files", "sagemaker", "filesystem", "fsx") is None
    assert "this data set needs ingestion 'efs'" in problem("fsx", "files", "sagemaker", "filesystem", "efs")
    assert "cannot read a file system" in problem("file", "files", "sagemaker", "filesystem", "fsx")
    assert "give one of type 'filesystem'" in problem("efs", "files", "sagemaker", "s3")
    assert "does not exist on back-end 'local'" in problem("fsx", "files", "local", "filesystem", "fsx")


def test_what_is_neither_on_this_disk_nor_mounted_is_in_s3():
    assert {name for name in INGESTIONS if not needs_s3(name)} == {"local", "memory", "fsx", "efs"}


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("pipe", {"loader_workers": 4}, "ingestion 'pipe' has one reader, and loader_workers is 4: all but one would read nothing"),
        ("pipe", {"loader_workers": 1}, None),
        ("pipe", {}, None),
        ("local", {"loader_workers": 4, "prefetch_factor": 4}, None),
        ("local", {"loader_workers": 0, "prefetch_factor": 4}, "prefetch_factor is 4, and loader_workers 0: nobody loads ahead"),
        ("local", {"prefetch_factor": 4}, None),  # the script may have workers of its own accord
    ],
)
def test_knobs_that_cannot_go_together_with_an_ingestion(name, settings, said):
    found = settings_problem(name, settings)
    assert found is None if said is None else found.startswith(said)


def test_what_a_reader_needs_is_that_of_its_store_or_of_its_emulation():
    assert ingestion("fsspec").needs(False) == ("fsspec", "s3fs")
    assert ingestion("fastfile").needs(False) == ingestion("local").needs(False) == ()
    assert ingestion("fastfile").needs(True) == ingestion("s3_map").needs(False) == ("s3torchconnector",)
    assert ingestion("s3_map").needs(False, "table") == ("s3torchconnector", "pyarrow")
    assert ingestion("local").needs(False, "chunks") == ("litdata",)
    assert ingestion("litdata").needs(False, "chunks") == ("litdata", "boto3")


def table_rows():
    """Yield the README's rows: ingestion, what it is, layouts, how each back-end does it, packages."""
    kinds = [backend_description(name) for name in ("local", "sagemaker")]
    for entry in INGESTIONS.values():
        how = [
            "-" if entry.input_mode not in kind.input_modes else "emulated" if entry.input_mode in kind.emulated_modes else "yes"
            for kind in kinds
        ]
        needs = entry.needs("emulated" in how)
        packages = ", ".join(needs) + (" (where emulated)" if needs and "emulated" in how else "")
        packages = f"{entry.program} on the path" if entry.program else packages
        yield f"| `{entry.name}` | {entry.about} | {', '.join(entry.layouts)} | {' | '.join(how)} | {packages or '-'} |"


def test_the_readme_has_the_table():
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert [row for row in table_rows() if row not in text] == []


def test_which_ingestions_imitate_a_platform_where_something_was_measured():
    def emulated(backend, dollars):
        modes = emulated_modes(backend, dollars)
        return [name for name in INGESTIONS if emulation(name, modes)]

    assert emulated("local", "nominal") == ["file", "fastfile", "pipe"]
    assert emulated("sagemaker", "real") == []
    assert emulated("sagemaker", "emulated") == ["file", "fastfile", "pipe", "fsx", "efs"]
    assert emulated("no longer installed", "real") == []
    assert emulation(None, ("file",)) == emulation("an ingestion of their own", ("file",)) == ""
