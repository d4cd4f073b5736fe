"""Version 2 of SageMaker's SDK: fit, attach, logs, metrics, stop, failures, remote functions."""

import os
from pathlib import Path

import checks
from sagemaker import Session, TrainingJobAnalytics
from sagemaker.estimator import Estimator
from sagemaker.exceptions import UnexpectedStatusException

SCRIPT = """
import argparse, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--fail", type=int, default=0)
parser.add_argument("--wait", type=int, default=0)
given = parser.parse_args()
print(f"loss={given.lr}", flush=True)
time.sleep(given.wait)
if given.fail:
    raise ValueError("no such layer")
with open(os.path.join(os.environ["SM_MODEL_DIR"], "w"), "w") as file:
    file.write("w")
"""
Path("source").mkdir(exist_ok=True)
Path("source/train.py").write_text(SCRIPT)


def estimator(**hyperparameters):
    return Estimator(
        image_uri=os.environ["IMAGE"],
        role=os.environ["ROLE"],
        instance_count=1,
        instance_type="ml.m5.large",
        entry_point="train.py",
        source_dir="source",
        hyperparameters={"lr": 0.5, **hyperparameters},
        metric_definitions=[{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
        sagemaker_session=Session(),
    )


fitted = []


def default_bucket():
    assert Session().default_bucket() == "sagemaker-us-east-1-123456789012"


def fit_with_logs():
    made = estimator()
    made.fit(wait=True, logs="All")
    fitted.append(made.latest_training_job.name)
    assert made.model_data.endswith("/output/model.tar.gz"), made.model_data


def attach():
    found = Estimator.attach(fitted[0], sagemaker_session=Session())
    assert float(found.hyperparameters()["lr"]) == 0.5, found.hyperparameters()


def analytics():
    table = TrainingJobAnalytics(fitted[0], metric_names=["loss"], sagemaker_session=Session()).dataframe()
    assert list(table["value"]) == [0.5], table


def stop():
    made = estimator(wait=300)
    made.fit(wait=False)
    made.latest_training_job.stop()
    made.latest_training_job.wait(logs=False)
    assert made.latest_training_job.describe()["TrainingJobStatus"] == "Stopped"


def failure_text():
    checks.refused(lambda: estimator(fail=1).fit(wait=True, logs=False), UnexpectedStatusException, "ValueError: no such layer")


def remote_function():
    from sagemaker.remote_function import remote

    # The job has pip install what it has already; without an index it asks nobody.
    given = {"environment_variables": {"PIP_NO_INDEX": "1"}, "image_uri": os.environ["IMAGE"], "instance_type": "ml.m5.large"}

    @remote(role=os.environ["ROLE"], sagemaker_session=Session(), **given)
    def double(x):
        return 2 * x

    assert double(21) == 42


def tuning_is_refused():
    from botocore.exceptions import ClientError
    from sagemaker.tuner import ContinuousParameter, HyperparameterTuner

    metrics = [{"Name": "loss", "Regex": "loss=([0-9.]+)"}]
    tuner = HyperparameterTuner(estimator(), "loss", {"lr": ContinuousParameter(0, 1)}, metrics, max_jobs=1)
    checks.refused(lambda: tuner.fit(wait=False), ClientError, "does not imitate")


checks.run(default_bucket, fit_with_logs, attach, analytics, stop, failure_text, remote_function, tuning_is_refused)
