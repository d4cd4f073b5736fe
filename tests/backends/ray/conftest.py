"""A cluster of two nodes on this machine, for all tests of the session that need one."""

from __future__ import annotations

import importlib.util
import socket

import pytest

from tests.launch.conftest import toy  # noqa: F401 (a fixture)


def pytest_collection_modifyitems(items):
    for item in items:
        if "needs_ray" in item.keywords and importlib.util.find_spec("ray") is None:
            item.add_marker(pytest.mark.skip(reason="ray is not installed here; `make ray` runs these tests"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    import os

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": "a-token-of-tests-alone-0123456789abcdef"}
    # Else whatever else the machine does comes first.
    os.environ |= {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"  # as the back-end has it while it imports Ray
    import ray
    from ray.cluster_utils import Cluster

    del os.environ["RAY_ENABLE_AUTO_CONNECT"]

    made = Cluster()
    alike = {"num_cpus": 4, "node_ip_address": "127.0.0.1", "object_store_memory": 128 << 20, "include_dashboard": False}
    client = {}
    if importlib.util.find_spec("grpc") is not None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            client = {"ray_client_server_port": free.getsockname()[1]}
        made.client_address = f"ray://127.0.0.1:{client['ray_client_server_port']}"
    made.nodes_for_tests = [made.add_node(**alike, **client), made.add_node(**alike)]
    yield made
    # Whoever is connected still, as a test that failed may be, could not end the node that it is connected to.
    ray.shutdown()
    made.shutdown()
