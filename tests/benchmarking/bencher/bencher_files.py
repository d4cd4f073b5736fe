"""Files of the form that SageMaker Bencher reads, for tests."""

from __future__ import annotations

from pathlib import Path

SETTINGS = """\
name: storage test
description: which mode?
role: arn:aws:iam::111122223333:role/r
region: eu-west-1
bucket: null
output_prefix: out
parallelism: 4
repeat: 3
disable_profiler: True
order: interleave
clean: False
"""

DATASETS = """\
Shards-tar:
    {type: synthetic, format: tar/jpg, bucket: null, prefix: data/synth, dimension: [180, 240, 3], num_records: 50, num_files: 4,
     num_copies: 10, num_classes: 4}
Photos-jpg:
    {type: caltech, format: jpg, bucket: null, prefix: data/cal, num_copies: 50}
Photos-rec:
    {type: caltech, format: tfrecord/jpg, bucket: null, prefix: data/cal, num_records: 3061, num_copies: 1}
"""

FSX = """\
fsx:
  fsx_file_system_id: fs-0123456789abcdef0
  fsx_file_system_directory_path: /fsx/
  security_group_ids: [sg-1]
  subnets: [subnet-1]
"""

BASE = """\
base_trial:
  script: benchmark-tensorflow.py
  source_dir: scripts
  framework: tf
  framework_version: '2.13'
  py_version: py310
  volume_size: 200
  instance_type: ml.g4dn.xlarge
  instance_count: 1
  max_run: 600
  hyperparameters: {epochs: 2, batch_size: 32, input_dim: 96, private_pool: 4, prefetch_size: -1, cache: None, compute_time: 10}
"""


def trial(dataset: str, mode: str, more: str = "") -> str:
    """Return a trial on one line."""
    return f"{{inputs: {{train: {{dataset: {dataset}, input_mode: {mode}}}}}{more}}}"


def write(
    folder: Path, *, trials: str, settings: str = SETTINGS, datasets: str = "datasets: data.yml\n", base: str = BASE, fsx: str = FSX
) -> Path:
    """Write an experiment file and its file of data sets, and return the first one's path."""
    (folder / "data.yml").write_text(DATASETS, encoding="utf-8")
    path = folder / "experiment.yml"
    path.write_text(f"{settings}{datasets}{fsx}{base}trials:\n{trials}", encoding="utf-8")
    return path
