from tests.benchmarking.workloads.ingestion.contract import s3, world

__all__ = ["s3", "world"]


def pytest_generate_tests(metafunc):
    """Give each contract the cases that it names."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", metafunc.cls.cases, indirect=True)
