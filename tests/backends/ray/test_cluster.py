"""Clusters that cannot be used are told so before anything starts."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import subprocess
import sys
import time

import pytest

from backends.checks import CheckRequest, CheckStatus
from backends.failures import Outcome
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
from backends.ray.cluster import RayConnection
from backends.ray.description import RayBlock
from definitions.errors import UserError
from tests.backends.contract import all_closed, closed, collect

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


def test_where_no_cluster_runs_or_what_is_left_of_one_names_it_auto_says_so(monkeypatch):
    # Whatever else this machine runs, and has run.
    found: set[str] = set()
    monkeypatch.setattr("ray._private.services.find_gcs_addresses", functools.cache(lambda: found))
    monkeypatch.setattr("ray._private.services.find_bootstrap_address", functools.cache(lambda _: None))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(UserError, match=r"no Ray cluster runs on this machine[\s\S]*ray start --head"):
        RayConnection("auto", {})
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{nobody.getsockname()[1]}")
        with pytest.raises(UserError, match=r"nothing answers at \S+, port \d+"):
            RayConnection("auto", {})


def test_an_address_of_rays_client_without_its_package_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        address = f"ray://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UserError, match=r"nothing answers[\s\S]*ray\[client\][\s\S]*HOST:6379"):
            RayConnection(address, {})
        server.listen()
        with pytest.raises(UserError, match=r"needs the package grpcio[\s\S]*here and on the head"):
            RayConnection(address, {})


def test_a_head_that_did_not_start_what_serves_a_client_is_asked_once_more(monkeypatch):
    import ray

    asked = []

    def init(**_):
        asked.append(1)
        raise ConnectionAbortedError("RuntimeError: Starting Ray client server failed. See ray_client_server_23000.err")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with pytest.raises(UserError, match="cannot be used"):
            RayConnection(f"ray://127.0.0.1:{server.getsockname()[1]}", {})
    assert len(asked) == 2


def test_jobs_run_where_only_rays_client_is_reached(cluster, tmp_path):
    pytest.importorskip("grpc")
    (tmp_path / "main.py").write_text("from outrider_report import report\nreport(loss=1.0)\n")
    with contextlib.closing(RayBackend(tmp_path / "experiment", address=cluster.client_address)) as backend:
        backend.submit(JobSpec("one", 0, 1, str(tmp_path / "main.py"), source_dir=str(tmp_path), instance_type="ray.1cpu"))
        ended = closed(collect(backend, all_closed("one")), "one")
        assert ended.outcome is Outcome.COMPLETED, ended
        request = CheckRequest({}, tmp_path, block=RayBlock(address=cluster.client_address))
    found = {check.name: check.verdict for check in RayBackend.checks(request)}
    assert found["cluster"] is CheckStatus.OK


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


CONNECTED = """
import os, sys, ray
from pathlib import Path
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
from backends.ray.backend import RayBackend
from backends.ray.cluster import RayConnection
from definitions.errors import UserError
from tests.backends.contract import all_closed, closed, collect
from backends.job_spec import JobSpec
folder = Path(sys.argv[2])
try:
    RayConnection("127.0.0.1:1", {})
except UserError as error:
    print(" | ".join(line.strip() for line in str(error).splitlines()[:2]))
RayConnection(sys.argv[1], {}).close()
backend = RayBackend(folder / "experiment")
backend.submit(JobSpec("one", 0, 1, str(folder / "main.py"), source_dir=str(folder), instance_type="ray.1cpu"))
print(closed(collect(backend, all_closed("one")), "one").outcome.value, backend._connection.is_own, backend._connection.head)
backend.close()
print(ray.is_initialized(), ray.cluster_resources()["CPU"])
"""


def test_a_program_that_is_connected_goes_on_with_its_cluster_and_no_other(cluster, tmp_path):
    (tmp_path / "main.py").write_text("from outrider_report import report\nreport(loss=1.0)\n")
    done = subprocess.run([sys.executable, "-c", CONNECTED, cluster.address, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    other, own, after = done.stdout.splitlines()
    assert other == (f"the Ray cluster at 127.0.0.1:1 cannot be used | this program is connected to the one at {cluster.address} already")
    assert own == f"completed False {cluster.address}"
    assert after == "True 8.0"


def test_rays_word_for_a_cluster_of_its_own_is_refused():
    with pytest.raises(UserError, match=r"ray\.address: local[\s\S]*leave it out"):
        RayConnection("local", {})


OWN = """
import os
from pathlib import Path
from backends.common import process_tree
from backends.ray.cluster import RayConnection
connection = RayConnection("", dict(os.environ))
connection.ray.get(connection.ray.remote(lambda: 1).remote())
# Everything of Ray's and this program; what Ray has started, its driver's sockets too.
pids = [os.getpid(), *(one.pid for root in process_tree.children(os.getpid()) for one in process_tree.descendants(root))]
inodes = set()
for pid in pids:
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{number}"))
        except OSError:
            pass
LISTEN = "0A"
for table in ("tcp", "tcp6"):
    for line in Path("/proc/net", table).read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == LISTEN and f"socket:[{words[9]}]" in inodes:
            print(words[1].partition(":")[0])
connection.close()
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""As /proc/net has 127.0.0.1, the same among addresses of IPv6, and ::1."""


@pytest.mark.skipif(not sys.platform.startswith("linux") or sys.byteorder != "little", reason="reads /proc/net of little machines")
def test_a_cluster_of_this_machine_listens_on_the_loopback_alone():
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"}
    done = subprocess.run([sys.executable, "-c", OWN], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = done.stdout.split()
    assert len(found) > 3
    assert {*found} <= LOOPBACK


def test_a_cluster_that_takes_long_to_answer_is_named_meanwhile(monkeypatch, caplog):
    import ray

    def init(**_):
        until = time.monotonic() + 60.0
        while not caplog.records and time.monotonic() < until:
            time.sleep(0.01)
        raise ConnectionError("nobody")

    monkeypatch.setattr("backends.ray.cluster._SAY_S", 0.01)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(UserError, match="cannot be used"):
        RayConnection("somewhere", {})
    assert [record.getMessage() for record in caplog.records] == ["connecting to the Ray cluster at somewhere; this can take half a minute"]
