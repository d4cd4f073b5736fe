"""Version 3 of SageMaker's SDK: ModelTrainer, its jobs, a failure's text."""

import os
from pathlib import Path

import checks
from sagemaker.core.helper.session_helper import Session
from sagemaker.core.resources import TrainingJob
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute, SourceCode, StoppingCondition

Path("source").mkdir(exist_ok=True)
Path("source/train.py").write_text("import os, sys\nprint('trained')\nsys.exit('no such layer' if os.environ.get('FAIL') else 0)\n")


def trainer(**more):
    return ModelTrainer(
        training_image=os.environ["IMAGE"],
        source_code=SourceCode(source_dir="source", entry_script="train.py"),
        base_job_name="v3",
        role=os.environ["ROLE"],
        compute=Compute(instance_type="ml.m5.large", instance_count=1),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=300),
        **more,
    )


def default_bucket():
    assert Session().default_bucket() == "sagemaker-us-east-1-123456789012"


def train_with_logs():
    trainer().train(wait=True, logs=True)


def jobs_are_listed():
    assert [job.training_job_name for job in TrainingJob.get_all(name_contains="v3")]


def failure_text():
    checks.refused(lambda: trainer(environment={"FAIL": "1"}).train(wait=True, logs=False), Exception, "no such layer")


checks.run(default_bucket, train_with_logs, jobs_are_listed, failure_text)
