"""lightgbm prints a line for each round."""

import argparse

import lightgbm
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float)
parser.add_argument("--num_leaves", type=int)
given = parser.parse_args()
x = np.arange(64.0).reshape(-1, 1)
y = (x[:, 0] >= 32).astype(float)
data = lightgbm.Dataset(x, y)
settings = {"objective": "l2", "min_data_in_leaf": 1, "min_data_in_bin": 1, "num_threads": 1, **vars(given)}
callbacks = [lightgbm.log_evaluation(1), lightgbm.early_stopping(5)]
lightgbm.train(settings, data, num_boost_round=3, valid_sets=[data, lightgbm.Dataset(x, y, reference=data)], callbacks=callbacks)
