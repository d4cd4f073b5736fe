import pytest
import torch

from benchmarking.workloads import digits
from tests.benchmarking.workloads.workload_runs import WORKLOADS, cut, job_of, program, reports, summaries


@pytest.fixture(autouse=True)
def beside(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(WORKLOADS))
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path / "checkpoint"))


def run(capfd, *arguments, environ=None):
    digits.main(list(map(str, arguments)), {"OUTRIDER_CORES": "1"} | (environ or {}))
    return cut(reports(capfd.readouterr().out))


@pytest.mark.slow
def test_as_a_job_it_reports_every_epoch_and_its_phases(tmp_path):
    ran = program("digits.py", "--epochs", 3, "--hidden", 32, OUTRIDER_CORES="1", OUTRIDER_CHECKPOINT_DIR=str(tmp_path / "c"))
    assert ran.returncode == 0, ran.stderr
    found = reports(ran.stdout)
    assert [one["epoch"] for one in found] == [1, 2, 3]
    summary = summaries(ran.stdout)[0]
    assert {"startup", "load", "train", "validate", "checkpoint"} <= set(summary["phases_s"])
    assert summary["samples"] == 3 * 1437
    assert summary["steps"] == 3 * 45


def test_it_learns_and_bad_configurations_do_not(capfd, monkeypatch):
    monkeypatch.delenv("OUTRIDER_CHECKPOINT_DIR")
    good = run(capfd, "--epochs", 4, "--hidden", 64, "--learning_rate", 0.1)
    assert good[-1]["accuracy"] > 0.92
    assert good[-1]["loss"] < good[0]["loss"]
    bad = run(capfd, "--epochs", 2, "--hidden", 64, "--learning_rate", 0.0001, "--momentum", 0.0)
    assert bad[-1]["accuracy"] < 0.5


def test_resumed_it_comes_to_the_same_end_and_repeats_nothing(capfd, monkeypatch, tmp_path):
    asked = ("--hidden", 16, "--dropout", 0.3, "--batch_size", 128)
    first = run(capfd, "--epochs", 2, *asked)
    second = run(capfd, "--epochs", 5, *asked)
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path / "other"))
    assert first + second == run(capfd, "--epochs", 5, *asked)


def test_a_job_has_the_luck_of_its_seed_and_a_seed_repeats(capfd, monkeypatch):
    monkeypatch.delenv("OUTRIDER_CHECKPOINT_DIR")
    asked = ("--epochs", 1, "--hidden", 16, "--batch_size", 128)
    one, again, other = (run(capfd, *asked, environ={"OUTRIDER_SEED": seed}) for seed in ("5", "5", "6"))
    assert one == again == run(capfd, *asked, "--seed", 5)
    assert one != other


def test_they_are_scikit_learns_which_is_not_imported_for_them():
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    data = digits.load_digits()
    found = [(bytes(x), int(y)) for xs, ys in (data[:2], data[2:]) for x, y in zip((xs * 16).byte().numpy(), ys, strict=True)]
    assert sorted(found) == sorted((bytes(x), int(y)) for x, y in zip(pixels.astype("uint8"), labels, strict=True))
    assert len(found) == 1797


def test_held_out_digits_are_never_trained_on():
    data = digits.load_digits()
    assert (len(data.train_y), len(data.held_y)) == (1437, 360)
    assert float(data.train_x.max()) == 1.0
    rows = {tuple(row) for row in data.train_x.tolist()}
    assert sum(tuple(row) in rows for row in data.held_x.tolist()) == 0


def test_a_checkpoint_that_was_cut_off_leaves_the_last_one(tmp_path, monkeypatch):
    import checkpoints

    checkpoints.save(tmp_path, {"epoch": 1, "weights": torch.ones(2)})

    def dies(state, path):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", dies)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.save(tmp_path, {"epoch": 2})
    assert checkpoints.load(tmp_path)["epoch"] == 1
    assert checkpoints.load(tmp_path / "nothing") is None
    assert checkpoints.load(None) is None


def test_the_network_has_the_shape_that_was_asked_for():
    network = digits.make_network(hidden=8, layers=3, dropout=0.0)
    widths = [tuple(weight.shape) for name, weight in network.named_parameters() if name.endswith("weight")]
    assert widths == [(8, 64), (8, 8), (8, 8), (10, 8)]


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_the_definition_gives_what_the_script_takes(backend):
    job = job_of("digits", backend)
    asked = digits.parse_arguments(list(job.arguments))
    assert asked.epochs == 27
    assert 8 <= asked.hidden <= 256
