from tests.benchmarking.workloads.ingestion.contract import s3, world

__all__ = ["s3", "world"]
