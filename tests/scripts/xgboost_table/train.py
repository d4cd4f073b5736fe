"""xgboost prints its table as it goes."""

import argparse

import numpy as np
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("--eta", type=float)
parser.add_argument("--max_depth", type=int)
given = parser.parse_args()
x = np.arange(64, dtype=float).reshape(-1, 1)
data = xgboost.DMatrix(x, label=(x[:, 0] >= 32).astype(float))
settings = {"eta": given.eta, "max_depth": given.max_depth, "lambda": 0, "base_score": 0.5, "eval_metric": "rmse", "nthread": 1}
xgboost.train(settings, data, num_boost_round=3, evals=[(data, "train"), (data, "val")])
