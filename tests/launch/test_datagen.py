"""`outrider datagen`: makes sets by flags and of files, prints YAML that a definition reads, and refuses what it cannot do."""

import pytest
import yaml

from benchmarking.datasets import EmbeddedS3
from definitions.datasets import DatasetsFile
from definitions.errors import UserError
from launch.__main__ import VERBS
from launch.verbs import datagen


def run(tmp_path, *words, **environ):
    return datagen.main([str(word) for word in words], {"OUTRIDER_CACHE": str(tmp_path / "cache"), **environ})


def printed(capsys):
    """Return the data sets that the YAML says, as a definition reads them."""
    return DatasetsFile.model_validate(yaml.safe_load(capsys.readouterr().out)).datasets


def test_it_is_a_verb():
    assert "datagen" in VERBS


def test_flags_make_what_s3torch_datagen_makes(tmp_path, capsys):
    assert run(tmp_path, "-n", "20", "--resolution", "64x48") == 0
    out = capsys.readouterr()
    assert out.out.startswith("# ")
    assert "datagen -n 20 --resolution 64x48\n" in out.out
    (dataset,) = DatasetsFile.model_validate(yaml.safe_load(out.out)).datasets.values()
    assert (dataset.type, dataset.content, dataset.samples, dataset.pixels, dataset.format) == ("images", "noise", 20, (64, 48), "jpg")
    assert "data set noise-20-64x48-jpg: 20 samples, " in out.err
    (made,) = (tmp_path / "cache").glob("images-*")
    assert len(list(made.rglob("*.jpg"))) == 20
    assert (made / "dataset.yaml").read_text() == out.out


def test_shards_come_with_their_size(tmp_path, capsys):
    run(tmp_path, "-n", "40", "--resolution", "64x64", "--shard-size", "50kB", "--out", tmp_path / "sets", "--name", "mine")
    found = printed(capsys)["mine"]
    assert (found.type, found.path, found.format, found.label_place) == ("path", str(tmp_path / "sets" / "mine" / "data"), "tar", "member")
    shards = sorted((tmp_path / "sets" / "mine" / "data").iterdir())
    assert len(shards) >= 3
    assert all(shard.stat().st_size < 60_000 for shard in shards)


@pytest.mark.parametrize(
    ("words", "form", "files"),
    [
        (["--image-format", "PNG"], "png", "*.png"),
        (["--image-format", "jpeg"], "jpg", "*.jpg"),
        (["--format", "tfrecord"], "tfrecord", "*.tfrecord"),
        (["--format", "tar", "--image-format", "PNG"], "tar", "*.tar"),
        (["--content", "photo", "--copies", "2"], "jpg", "copy-2/china/*.jpg"),
    ],
)
def test_formats(tmp_path, capsys, words, form, files):
    run(tmp_path, "-n", "4", "--resolution", "32x32", "--out", tmp_path / "sets", "--name", "d", *words)
    assert printed(capsys)["d"].format == form
    assert list((tmp_path / "sets" / "d" / "data").rglob(files))


def test_the_same_flags_give_the_same_bytes_and_a_second_run_leaves_them(tmp_path, capsys):
    words = ["-n", "4", "--resolution", "32x32", "--seed", "7"]
    run(tmp_path, *words, "--out", tmp_path / "one")
    run(tmp_path, *words, "--out", tmp_path / "other")
    one, other = ([path.read_bytes() for path in sorted((tmp_path / place).rglob("*.jpg"))] for place in ("one", "other"))
    assert one == other
    (file, *_) = (tmp_path / "one").rglob("*.jpg")
    inode = file.stat().st_ino
    run(tmp_path, *words, "--out", tmp_path / "one", "--verify")
    assert file.stat().st_ino == inode
    file.unlink()
    capsys.readouterr()
    run(tmp_path, *words, "--out", tmp_path / "one")
    assert "was damaged, and is mended: 1 file" in capsys.readouterr().err
    assert file.is_file()


def test_counts_and_sizes_take_si_and_iec_suffixes(tmp_path, capsys):
    run(tmp_path, "-n", "0.03k", "--resolution", "8x8", "--name", "d")
    assert printed(capsys)["d"].samples == 30
    run(tmp_path, "-n", "0.0625Ki", "--resolution", "8x8", "--name", "d", "--shard-size", "1Mi")
    found = printed(capsys)["d"]
    assert (found.samples, found.shard_size) == (64, 1048576)


FILE = """\
a: {type: images, samples: 4, image_size: 16}
b: {type: bytes, samples: 3, size: 10}
own: {type: path, path: here, format: csv}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sets.yaml"
    path.write_text(FILE)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "1.csv").write_text("x\n1\n")
    (tmp_path / "here" / "notes.txt").write_text("")
    return path


def test_sets_of_a_file_are_made_and_looked_at(tmp_path, capsys, file):
    run(tmp_path, file)
    out = capsys.readouterr()
    assert "data set a: 4 samples" in out.err
    assert "data set b: 3 samples, 30 bytes" in out.err
    assert "data set own: not read: 1 of 2 files (1 .txt)" in out.err
    assert sorted(path.name.partition("-")[0] for path in (tmp_path / "cache").iterdir() if path.name[0] != ".") == ["bytes", "images"]


def test_only_the_named_sets_are_made(tmp_path, capsys, file):
    run(tmp_path, file, "b")
    assert list(printed(capsys)) == ["b"]
    with pytest.raises(UserError, match="there is no data set 'c'"):
        run(tmp_path, file, "c")


def test_a_definition_is_a_file_too(tmp_path, capsys):
    (tmp_path / "d.yaml").write_text("name: d\nscript: x.py\nobjectives: {loss: min}\ndatasets:\n  b: {type: bytes, samples: 2, size: 5}\n")
    run(tmp_path, tmp_path / "d.yaml")
    assert list(printed(capsys)) == ["b"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "lots"], "'lots' is not a count"),
        (["-n", "0"], "greater than 0|above 0"),
        (["--resolution", "496"], "width x height in pixels"),
        (["--image-format", "WEBP"], "made as JPEG or PNG"),
        (["--shard-size", "10XB"], "is not a size"),
        (["--shard-size", "1MB", "--format", "jpg"], "each image is a file of its own there"),
        (["--format", "png", "--image-format", "JPEG"], "contradict each other"),
        (["--s3-prefix", "x"], "there is no bucket to upload to"),
        (["--copies", "0"], "greater than 0|above 0"),
    ],
)
def test_wrong_flags_are_refused(tmp_path, words, said):
    with pytest.raises(UserError, match=said):
        run(tmp_path, *words)
    assert not (tmp_path / "cache").exists()


def test_flags_of_a_set_beside_a_file_are_refused(tmp_path, file):
    with pytest.raises(UserError, match=r"FILE and --num_samples"):
        run(tmp_path, file, "-n", "5")


def test_what_is_wrong_with_a_file_has_its_line(tmp_path):
    (tmp_path / "bad.yaml").write_text("a:\n  type: images\n  samples: many\n")
    with pytest.raises(UserError, match=r"bad.yaml:3: datasets.a.samples: 'many' is not a count"):
        run(tmp_path, tmp_path / "bad.yaml")


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "sets" / "d").mkdir(parents=True)
    (tmp_path / "sets" / "d" / "thesis.txt").write_text("all of it")
    with pytest.raises(UserError, match="the folder holds files that are none of a data set"):
        run(tmp_path, "-n", "2", "--resolution", "8x8", "--out", tmp_path / "sets", "--name", "d")
    assert (tmp_path / "sets" / "d" / "thesis.txt").read_text() == "all of it"


def test_another_set_in_the_folder_is_left_alone(tmp_path):
    words = ["--resolution", "8x8", "--out", tmp_path / "sets", "--name", "d"]
    run(tmp_path, "-n", "2", *words)
    with pytest.raises(UserError, match="the folder holds another data set"):
        run(tmp_path, "-n", "3", *words)


@pytest.mark.slow
def test_a_set_is_uploaded_below_its_prefix(tmp_path, capsys):
    with EmbeddedS3(tmp_path / "s3") as server:
        keys = {"access": server.environment["AWS_ACCESS_KEY_ID"], "secret": server.environment["AWS_SECRET_ACCESS_KEY"]}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", keys["access"])
            patch.setenv("AWS_SECRET_ACCESS_KEY", keys["secret"])
            words = [
                "-n",
                "4",
                "--resolution",
                "8x8",
                "--s3-bucket",
                "outrider",
                "--s3-prefix",
                "a/b",
                "--name",
                "d",
                "--region",
                "us-east-1",
            ]
            run(tmp_path, *words, "--endpoint-url", server.endpoint_url)
            found = printed(capsys)["d"]
            assert (found.type, found.uri, found.label_place) == ("s3", "s3://outrider/a/b/data/", "folder")
            listed = server.target.client().list_objects_v2(Bucket="outrider", Prefix="a/b/data/")["Contents"]
            assert [entry["Key"].rpartition("/")[2] for entry in listed] == [f"00000{number}.jpg" for number in range(4)]
            with pytest.raises(UserError, match="another data set is there"):
                run(tmp_path, *words, "--seed", "5", "--endpoint-url", server.endpoint_url)
