"""Clusters that cannot be used are told so before anything starts."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from backends.ray.cluster import RayConnection
from definitions.errors import UserError

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray]

CONNECT = """
import sys
{before}
import ray, ray._private.utils
{after}
from backends.ray.cluster import RayConnection
from definitions.errors import UserError
try:
    RayConnection(sys.argv[1], {{}})
except UserError as error:
    print(error)
"""


def said(address: str, before: str = "", after: str = "") -> str:
    """Return what a program of other versions is told at a cluster."""
    code = CONNECT.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", code, address], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_cluster_that_cannot_be_reached_is_said_at_once():
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(UserError) as error:
            RayConnection(address, {})
    lines = str(error.value).splitlines()
    assert lines[0] == f"the Ray cluster at {address} cannot be reached"
    assert "nothing answers at 127.0.0.1, port" in lines[1]
    assert "ray start --head" in lines[2]


def test_another_version_of_ray_is_said_with_both(cluster):
    import ray

    text = said(cluster.address, after="ray.__version__ = '2.0.1'")
    assert f"the Ray cluster at {cluster.address} is of another version of Ray or Python" in text
    assert f"was started with: Ray: {ray.__version__} Python:" in text
    assert "was started with: Ray: 2.0.1 Python:" in text


def test_another_version_of_python_is_said_with_both(cluster):
    import platform

    after = "ray._private.utils.compute_version_info = lambda: (ray.__version__, '3.9.1')"
    text = said(cluster.address, after=after)
    assert "is of another version of Ray or Python" in text
    assert f"Python: {platform.python_version()}" in text
    assert "Python: 3.9.1" in text


LATE = """
import socket
from backends.ray.cluster import RayConnection
from definitions.errors import UserError
with socket.socket() as nobody:
    nobody.bind(("127.0.0.1", 0))
    try:
        RayConnection(f"127.0.0.1:{nobody.getsockname()[1]}", {})
    except UserError:
        pass
import os, ray
try:
    ray.available_resources()
except Exception as error:
    print("refused", ray.is_initialized(), "RAY_ENABLE_AUTO_CONNECT" in os.environ)
"""


def test_a_call_without_a_connection_starts_no_cluster():
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)
    assert done.stdout == "refused False False\n", done.stderr
