"""Data sets: generated or checked, cached, and copied to S3; and an S3 server for machines without one."""

from benchmarking.datasets.generating import content_key
from benchmarking.datasets.preparation import Prepared, prepare
from benchmarking.datasets.s3server import EmbeddedS3
from benchmarking.datasets.s3target import S3Target
from benchmarking.datasets.s3upload import upload

__all__ = ["EmbeddedS3", "Prepared", "S3Target", "content_key", "prepare", "upload"]
