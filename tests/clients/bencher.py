"""SageMaker Bencher as it is: its data set made and uploaded, its jobs in three input modes, its records in SageMaker Experiments.

`BENCHER` is the folder of a checkout. TensorFlow, which it imports and needs for records alone, is replaced by an empty module.
"""

import multiprocessing
import os
import sys
import types
from pathlib import Path

import boto3
import checks

sys.modules["tensorflow"] = types.ModuleType("tensorflow")
sys.path.insert(0, os.environ["BENCHER"])

from sagemaker_bencher import experiment  # noqa: E402 (it is found by the path above)

# What its own script does with the data, without a model.
SCRIPT = """
import glob, os
mode, path = os.environ["INPUT_MODE_CHANNEL_TRAIN"], "/opt/ml/input/data/train"
if mode == "pipe":
    found = len(open(path + "_0", "rb").read())
else:
    found = sum(os.path.getsize(one) for one in glob.glob(path + "/**/*.tar", recursive=True))
assert found > 10000, found
print(mode, os.environ["DATASET_NUM_SAMPLES_CHANNEL_TRAIN"], "samples", found, "bytes", flush=True)
"""
DATASETS = {
    "small": {
        "type": "synthetic",
        "format": "tar/jpg",
        "bucket": None,
        "prefix": "datasets",
        "dimension": [16, 16, 3],
        "num_records": 5,
        "num_files": 2,
        "num_copies": 2,
        "num_classes": 2,
    }
}
BASE = {
    "script": "read.py",
    "source_dir": "scripts",
    "framework": "pt",
    "framework_version": None,
    "py_version": "py311",
    "image_uri": os.environ["IMAGE"],
    "volume_size": 30,
    "instance_type": "ml.m5.large",
    "instance_count": 1,
    "max_run": 300,
    "hyperparameters": {"epochs": 1},
}
MODES = ("file", "ffm", "pipe")


def an_experiment_with_its_data_and_records():
    Path("scripts").mkdir()
    Path("scripts/read.py").write_text(SCRIPT)
    role = os.environ["ROLE"].rpartition("/")[2]
    boto3.client("iam").create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    trials = {mode: {"inputs": {"train": {"dataset": "small", "input_mode": mode}}} for mode in MODES}
    made = experiment.Experiment(
        "bencher",
        role,
        "us-east-1",
        "experiments",
        DATASETS,
        BASE,
        trials,
        parallelism=3,
        repeat=1,
        order="interleave",
        disable_profiler=True,
    )
    made.start()
    sagemaker = boto3.client("sagemaker")
    jobs = sagemaker.list_training_jobs(NameContains="bencher", MaxResults=50)["TrainingJobSummaries"]
    assert [job["TrainingJobStatus"] for job in jobs] == ["Completed"] * 3, jobs
    keys = boto3.client("s3").list_objects_v2(Bucket="sagemaker-benchmark-us-east-1-123456789012", Prefix="datasets/small/")
    assert keys["KeyCount"] == 4, keys
    names = [trial["TrialName"] for trial in sagemaker.list_trials(ExperimentName="bencher")["TrialSummaries"]]
    assert len(names) == 3, names
    for name in names:
        (component,) = sagemaker.list_trial_components(TrialName=name)["TrialComponentSummaries"]
        found = sagemaker.describe_trial_component(TrialComponentName=component["TrialComponentName"])["Parameters"]
        assert found["input_mode/train"]["StringValue"] in MODES
        assert found["t_training_sm"]["NumberValue"] >= 1, found


if __name__ == "__main__":
    # Forked, its uploading processes would share the connection that their parent keeps, and mix their bytes; TLS hides that from it.
    multiprocessing.set_start_method("spawn")
    checks.run(an_experiment_with_its_data_and_records)
