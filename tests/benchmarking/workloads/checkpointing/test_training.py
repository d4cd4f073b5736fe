import argparse
import contextlib
from collections import Counter, namedtuple

import pytest
import torch

from benchmarking.workloads.checkpointing import places
from benchmarking.workloads.checkpointing.knobs import CheckpointKnobs
from benchmarking.workloads.checkpointing.training import TrainingCheckpoints, made_up_state, state_of, training_checkpoints
from tests.benchmarking.workloads.workload_runs import WORKLOADS


class Model:
    def __init__(self):
        self.weights = torch.zeros(1000)

    def state(self):
        return {"model": {"w": self.weights}, "steps": 1, "groups": [{"lr": 0.1}]}

    def save(self, path):
        path.write_bytes(self.weights.numpy().tobytes())


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(str(WORKLOADS))


@pytest.fixture
def phases():
    return Counter()


@pytest.fixture
def made(tmp_path, phases):
    @contextlib.contextmanager
    def phase(name):
        phases[name] += 1
        yield

    def make(knobs, model, **environ):
        return TrainingCheckpoints(knobs, state_of(model), environ, tmp_path, phase)

    return make


def stored(tmp_path):
    return sorted(path.name for path in (tmp_path / "measured").iterdir())


@pytest.mark.parametrize("kind", ["disk", "dcp_disk"])
@pytest.mark.parametrize("is_async", [False, True])
def test_steps_epochs_and_the_end(tmp_path, made, phases, kind, is_async):
    model = Model()
    found = made(CheckpointKnobs(kind, "2steps", is_async), model)
    rows = []
    for epoch in (1, 2):
        for _ in range(3):
            model.weights += 1
            found.after_step()
        found.after_epoch(epoch, is_last=epoch == 2)
        rows.append(found.figures(10.0, is_last=epoch == 2))
    # After steps 2, 4 and 6, of which the last is also the end of training, and saved once.
    assert phases == {"checkpoint": 3}
    assert sum(row.get("checkpoint_saves", 0) for row in rows) == 3
    for row in rows:
        assert 0 < row["checkpoint_stall_s"] < 10
        assert row["checkpoint_stall_share"] == pytest.approx(row["checkpoint_stall_s"] / 10)
    back = found.read_back()
    assert back["checkpoint_cached_share"] == 0
    assert back["checkpoint_load_mb_per_s"] * 1e6 * back["checkpoint_load_s"] == pytest.approx(4000)
    assert phases["restore"] == 1
    found.close(remove=False)
    assert stored(tmp_path) == ["step-000003.pt" if kind == "disk" else "step-000003"]


def test_what_was_trained_after_the_last_save_is_saved_at_the_end(made, phases):
    model = Model()
    found = made(CheckpointKnobs("disk", "5epochs"), model)
    found.after_step()
    found.after_epoch(1, is_last=False)
    assert (phases["checkpoint"], found.figures(1.0, is_last=False)) == (0, {})
    found.after_step()
    found.after_epoch(2, is_last=True)
    assert phases["checkpoint"] == 1


def test_what_is_read_back_otherwise_is_named(made):
    model = Model()
    found = made(CheckpointKnobs("disk"), model)
    found.after_step()
    found.after_epoch(1, is_last=True)
    model.weights[3] = 7
    with pytest.raises(SystemExit, match=r"checkpoint step-000001 was read back otherwise: model\.w has other values"):
        found.read_back()


def test_a_model_that_only_saves_itself_is_saved_as_it_wrote(made):
    class Short:
        def save(self, path):
            path.write_bytes(b"its own form")

    assert bytes(state_of(Short())()["saved"].numpy()) == b"its own form"
    found = made(CheckpointKnobs("disk", "1steps"), Short())
    found.after_step()
    assert found.figures(1.0, is_last=True)["checkpoint_saves"] == 1
    assert found.read_back()["checkpoint_load_s"] > 0


def test_a_model_that_writes_nothing_has_an_empty_state():
    class Empty:
        def save(self, path):
            path.touch()

    assert state_of(Empty())()["saved"].numel() == 0


Usage = namedtuple("Usage", "total used free")


def test_what_cannot_be_is_said_before_training(made, monkeypatch):
    with pytest.raises(SystemExit, match="checkpoint_sharding is fsdp_full, and this model is whole in one process"):
        made(CheckpointKnobs("dcp_disk", checkpoint_sharding="fsdp_full"), Model())
    monkeypatch.setattr(places.shutil, "disk_usage", lambda path: Usage(0, 0, 7_999))
    with pytest.raises(SystemExit, match="checkpoint disk: the last stays until the next is whole"):
        made(CheckpointKnobs("disk"), Model())


def test_parameters_of_a_published_model_stand_for_the_own_ones(tmp_path):
    asked = argparse.Namespace(
        checkpoint_model="vit_base", checkpoint_scale=0.02, checkpoint_dtype="float32", checkpoint_optimiser="momentum", seed=1
    )
    common = (asked, CheckpointKnobs("disk"), Model())
    found, label = training_checkpoints(*common, {"OUTRIDER_SCALE": "0.5"}, tmp_path, contextlib.nullcontext, lambda: None)
    assert label == {"checkpoint_of": "0.01 of vit_base with momentum"}
    found.after_step()
    found.after_epoch(1, is_last=True)
    assert found.figures(1.0, is_last=True)["checkpoint_bytes"] > 2 * 3_000_000
    # Of several processes the first one saves; where nothing is to be saved nobody does.
    assert training_checkpoints(*common, {"RANK": "1"}, tmp_path, contextlib.nullcontext, lambda: None) == (None, {})
    assert training_checkpoints(asked, CheckpointKnobs(), Model(), {}, tmp_path, contextlib.nullcontext, lambda: None) == (None, {})
    with pytest.raises(SystemExit, match="checkpoint_model is 'vit': it is one of"):
        made_up_state("vit", 1.0, "float32", 0)
