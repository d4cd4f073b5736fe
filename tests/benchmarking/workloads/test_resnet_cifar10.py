import hashlib
import io
import pickle
import tarfile

import numpy as np
import pytest
import torch

from benchmarking.workloads import cifar10, resnet_cifar10
from benchmarking.workloads.resnet import ResNet18
from tests.benchmarking.workloads.workload_runs import WORKLOADS, cut, job_of, reports


@pytest.fixture(autouse=True)
def beside(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(WORKLOADS))
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path / "checkpoint"))


def run(capfd, *arguments, **environ):
    resnet_cifar10.main(list(map(str, arguments)), {"OUTRIDER_CORES": "1"} | environ)
    return cut(reports(capfd.readouterr().out))


def small(tmp_path, train=120, test=20):
    cifar10.generate(tmp_path / "data", train, test, seed=1)
    return tmp_path / "data"


def test_it_is_the_real_resnet_18():
    network = ResNet18()
    # 11,173,962: the count that the form for CIFAR-10 is known by (the ImageNet form has 11,689,512).
    assert sum(weight.numel() for weight in network.parameters()) == 11_173_962
    assert sum(isinstance(module, torch.nn.Conv2d) for module in network.modules()) == 20
    network.eval()
    with torch.inference_mode():
        assert network(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
        assert network.stages[:3](torch.zeros(1, 64, 32, 32)).shape == (1, 128, 16, 16)


def test_both_formats_give_the_same_images(tmp_path):
    home = small(tmp_path)
    train, test = cifar10.load(home)
    assert (train.pixels.shape, test.labels.shape) == ((120, 3, 32, 32), (20,))
    binary = tmp_path / "binary" / "cifar-10-batches-bin"
    binary.mkdir(parents=True)
    for name, images in (("data_batch_1.bin", train), ("test_batch.bin", test)):
        rows = np.concatenate([images.labels[:, None].astype(np.uint8), images.pixels.reshape(len(images.labels), -1)], axis=1)
        (binary / name).write_bytes(rows.tobytes())
    again, _ = cifar10.load(tmp_path / "binary")
    assert (again.pixels == train.pixels).all()
    assert (again.labels == train.labels).all()


def test_the_batches_of_the_python_format_follow_each_other(tmp_path):
    for number in (2, 1):
        data = np.full((3, 3072), number, np.uint8)
        with (tmp_path / f"data_batch_{number}").open("wb") as file:
            pickle.dump({b"data": data, b"labels": [number] * 3, b"batch_label": b"x"}, file, protocol=2)
    with (tmp_path / "test_batch").open("wb") as file:
        pickle.dump({b"data": data, b"labels": [0] * 3}, file, protocol=2)
    assert cifar10.load(tmp_path)[0].labels.tolist() == [1, 1, 1, 2, 2, 2]


def test_planes_are_red_green_blue_and_rows_come_first(tmp_path):
    row = np.zeros(3073, np.uint8)
    row[0], row[1 + 33], row[1 + 1024 + 2] = 7, 200, 100
    path = tmp_path / "test_batch.bin"
    path.write_bytes(row.tobytes())
    images = cifar10.read_binary(path)
    assert images.labels.tolist() == [7]
    assert images.pixels[0, 0, 1, 1] == 200
    assert images.pixels[0, 1, 0, 2] == 100


def test_damaged_files_are_told(tmp_path):
    with pytest.raises(SystemExit, match="holds no CIFAR-10"):
        cifar10.load(tmp_path)
    bad = tmp_path / "bad.bin"
    bad.write_bytes(bytes(3072))
    with pytest.raises(SystemExit, match="no multiple of 3073"):
        cifar10.read_binary(bad)
    bad.write_bytes(bytes([10]) + bytes(3072))
    with pytest.raises(SystemExit, match="there is a label 10"):
        cifar10.read_binary(bad)
    bad.write_bytes(pickle.dumps({b"data": 1}))
    with pytest.raises(SystemExit, match="no file of CIFAR-10's Python format"):
        cifar10.read_python(bad)


def test_a_pickle_may_not_run_anything(tmp_path):
    class Evil:
        def __reduce__(self):
            return (print, ("owned",))

    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({b"data": Evil(), b"labels": []}))
    with pytest.raises(SystemExit, match=r"it wants builtins\.print"):
        cifar10.read_python(path)


def archive(tmp_path):
    home = small(tmp_path, train=12, test=4)
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as made:
        made.add(home / "cifar-10-batches-py", "cifar-10-batches-py")
    path = tmp_path / "cifar.tar.gz"
    path.write_bytes(content.getvalue())
    return path.as_uri(), hashlib.md5(content.getvalue()).hexdigest()


def test_the_archive_is_fetched_checked_and_fetched_once(tmp_path):
    url, md5 = archive(tmp_path)
    home = tmp_path / "cache"
    home.mkdir()
    cifar10.fetch(home, url, md5)
    assert len(cifar10.load(home)[0].labels) == 12
    assert [path.name for path in home.iterdir()] == ["cifar-10-batches-py"]
    cifar10.fetch(home, "file:///nowhere", md5)


def test_another_archive_and_no_network_are_told(tmp_path):
    url, _ = archive(tmp_path)
    with pytest.raises(SystemExit, match="is not the published archive: its MD5 is"):
        cifar10.fetch(tmp_path / "cache", url)
    with pytest.raises(SystemExit, match=r"cannot be fetched(.|\n)*--data generated"):
        cifar10.fetch(tmp_path / "cache", "file:///nowhere/at/all")


def test_augmentation_shifts_and_mirrors_but_invents_no_pixels():
    torch.manual_seed(0)
    image = torch.arange(1, 1025, dtype=torch.int32).reshape(1, 1, 32, 32).expand(64, 3, 32, 32)
    made = resnet_cifar10.augmented(image)
    assert made.shape == image.shape
    mirrored = 0
    for one in made[:, 0]:
        present = one[one > 0].reshape(-1)
        assert len(present) >= 28 * 28
        steps = one[16, 5:27].diff().unique().tolist()
        assert steps in ([1], [-1])
        mirrored += steps == [-1]
    assert 15 < mirrored < 49
    assert len({tuple(one.reshape(-1).tolist()) for one in made[:, 0]}) > 40


def test_it_trains_and_reports_error_and_accuracy(capfd, tmp_path):
    found = run(capfd, "--data", "generated", "--data_dir", small(tmp_path), "--epochs", 4, "--width", 4, "--batch_size", 12, "--lr", 0.05)
    assert [one["epoch"] for one in found] == [1, 2, 3, 4]
    assert all(one["val_error"] == pytest.approx(1 - one["val_accuracy"]) for one in found)
    assert found[-1]["loss"] < 0.9 * found[0]["loss"]


def test_interrupted_it_goes_on_from_its_checkpoint(capfd, tmp_path, monkeypatch):
    asked = ("--data_dir", small(tmp_path), "--data", "generated", "--width", 4, "--epochs", 3, "--max_samples", 40, "--batch_size", 32)
    whole = run(capfd, *asked)
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path / "other"))
    report = resnet_cifar10.report

    def killed(**metrics):
        report(**metrics)
        if metrics["epoch"] == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(resnet_cifar10, "report", killed)
    with pytest.raises(KeyboardInterrupt):
        resnet_cifar10.main(list(map(str, asked)), {"OUTRIDER_CORES": "1"})
    monkeypatch.setattr(resnet_cifar10, "report", report)
    assert cut(reports(capfd.readouterr().out)) + run(capfd, *asked) == whole


def test_a_channel_wins_and_the_test_images_stay_out(capfd, tmp_path):
    home = small(tmp_path, train=50, test=20)
    seen = resnet_cifar10.read_images(resnet_cifar10.parse_arguments([]), {"SM_CHANNEL_TRAIN": str(home)})
    assert len(seen.labels) == 50
    (train, train_labels), (held, held_labels) = resnet_cifar10.split(seen, 0, "cpu")
    assert (len(train), len(train_labels), len(held), len(held_labels)) == (40, 40, 10, 10)


def test_without_a_network_it_says_what_to_do(tmp_path, monkeypatch):
    def refused(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(cifar10.urllib.request, "urlopen", refused)
    with pytest.raises(SystemExit, match="--data generated"):
        resnet_cifar10.main(["--data_dir", str(tmp_path / "none")], {})


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_the_definition_gives_what_the_script_takes(backend):
    job = job_of("resnet_cifar10", backend)
    asked = resnet_cifar10.parse_arguments(list(job.arguments))
    assert (asked.epochs, asked.width, asked.data) == (27, 64, "archive")
    assert job.instance_type == {"local": "local.2cpu", "sagemaker": "ml.g4dn.xlarge"}[backend]
