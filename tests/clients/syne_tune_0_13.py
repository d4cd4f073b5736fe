"""Syne Tune 0.13's own SageMaker back-end, which later versions lack: four short trials."""

import os
from pathlib import Path

import checks
from sagemaker.pytorch import PyTorch
from syne_tune import StoppingCriterion, Tuner
from syne_tune.backend import SageMakerBackend
from syne_tune.backend.sagemaker_backend.sagemaker_utils import default_sagemaker_session
from syne_tune.config_space import uniform
from syne_tune.optimizer.baselines import RandomSearch

SCRIPT = """
import argparse, json, time
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=float)
parser.add_argument("--epochs", type=int)
given, _ = parser.parse_known_args()
for epoch in range(1, given.epochs + 1):
    worker = {"st_worker_timestamp": time.time(), "st_worker_time": 1.0, "st_worker_iter": epoch - 1}
    print("[tune-metric]: " + json.dumps({"loss": given.width + 1 / epoch, "epoch": epoch, **worker}), flush=True)
"""
Path("train.py").write_text(SCRIPT)


def four_trials():
    estimator = PyTorch(
        entry_point="train.py",
        role=os.environ["ROLE"],
        image_uri=os.environ["IMAGE"],
        instance_type="ml.m5.large",
        instance_count=1,
        sagemaker_session=default_sagemaker_session(),
        disable_profiler=True,
    )
    backend = SageMakerBackend(sm_estimator=estimator, metrics_names=["loss"])
    scheduler = RandomSearch({"width": uniform(0, 1), "epochs": 2}, metric="loss", mode="min")
    tuner = Tuner(backend, scheduler, StoppingCriterion(max_num_trials_finished=4), n_workers=2, sleep_time=1.0, save_tuner=False)
    tuner.run()
    assert tuner.tuning_status.num_trials_finished >= 4, tuner.tuning_status


checks.run(four_trials)
