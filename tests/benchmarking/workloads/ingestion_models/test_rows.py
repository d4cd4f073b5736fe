import math

import numpy as np
import pytest
import torch

from benchmarking.workloads.checkpointing.filling import difference
from benchmarking.workloads.ingestion_models import make_model
from benchmarking.workloads.ingestion_models.base import ModelOptions
from benchmarking.workloads.measuring.timed import Cost, LoadedBatch

OPTIONS = ModelOptions(content="rows", learning_rate=0.01)
FREE = Cost(0, 0, 0, 0, 0, 0, 0)


def batch(rows, labels):
    load = make_model("mlp", OPTIONS).load_sample
    values = [load(np.array(row, np.float32)) for row in rows]
    stacked = torch.stack(values) if len({len(value) for value in values}) == 1 else values
    return LoadedBatch([str(number) for number in range(len(rows))], stacked, torch.tensor(labels), FREE)


def test_it_learns_which_band_a_row_falls_into_also_where_numbers_are_missing(tmp_path):
    torch.manual_seed(0)
    rows = [[number / 10 - 2, 1.0, math.nan] for number in range(40)]
    given = batch(rows, [int(number > 20) for number in range(40)])
    model = make_model("mlp", OPTIONS)
    assert model.state() == {}
    losses = [model.train(given) for _ in range(60)]
    assert losses[-1] < 0.2 < losses[0]
    model.save(tmp_path / "model")
    assert difference(model.state(), torch.load(tmp_path / "model", weights_only=True)) == ""


def test_rows_of_several_widths_and_labels_without_a_class_are_said():
    with pytest.raises(SystemExit, match="rows of numbers of one width"):
        make_model("mlp", OPTIONS).train(batch([[1.0, 2.0], [1.0]], [0, 1]))
    with pytest.raises(SystemExit, match=r"model 'mlp': a label is 150, and it has 100 classes"):
        make_model("mlp", OPTIONS).train(batch([[1.0, 2.0]], [150]))
    assert make_model("mlp", ModelOptions(content="rows", classes=151)).train(batch([[1.0, 2.0]], [150])) > 0
