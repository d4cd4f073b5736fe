"""A connection to a Ray cluster: one that is there, or one of this machine that lives as long as the connection."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import platform
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from backends.common import memory
from backends.common.cpu_quota import usable_cores
from backends.common.gpus import gpu_ids
from backends.ray.guard import ClusterGuard
from backends.ray.head import WAIT_S
from backends.ray.inquiry import Inquiry
from definitions.errors import UserError
from definitions.program import install_extra

logger = logging.getLogger(__name__)

_SAY_S = 3.0
_REACH_S = 5.0
_ABANDON_S = 20.0
_TOLD_S = 3.0
_STORE_BYTES = 128 << 20
NAMESPACE = "outrider"
"""Ray's, in which actors have their names."""
_READ_WITH_EACH_CALL = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
"""Variables that stay set as long as a cluster of this machine is there."""
_NOT_STARTED = "Starting Ray client server failed"
_CLIENT = "python -m pip install 'ray[client]'"
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}

_NO_OTHER_MACHINES = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Else Ray takes a loopback address for another of this machine."""


@dataclass(frozen=True)
class ClusterNode:
    """A node that is alive: its id, the name of its host, how much it has of each resource, and its address for other nodes."""

    id: str
    host: str
    resources: Mapping[str, float]
    address: str = ""


class RayConnection:
    """The connection of this process, of which Ray allows one.

    Args:
        address: of a cluster that is there; empty for one of this machine's own.
        environ: the controller's environment.

    Raises:
        UserError: Ray is not installed, or the cluster cannot be reached or is of another version.
    """

    def __init__(self, address: str, environ: Mapping[str, str]) -> None:
        before = {name: os.environ.get(name) for name in _READ_WITH_EACH_CALL}
        what = f"connecting to the Ray cluster at {address}" if address else "starting a Ray cluster of this machine"
        with _said_where_slow(what):
            self._open(address, environ, before)

    def _open(self, address: str, environ: Mapping[str, str], before: Mapping[str, str | None]) -> None:
        self.ray = _imported(address)
        self._is_indirect = address.startswith("ray://")
        self._guard: ClusterGuard | None = None
        self._folder = ""
        self._before = before
        self._telling: list[threading.Thread] = []
        self._alive: Inquiry[list[ClusterNode]] = Inquiry(self._look)
        self._free: Inquiry[Mapping[str, float]] = Inquiry(lambda: self.ray.available_resources())
        # A program that has connected itself goes on with its own connection.
        self._is_borrowed = bool(self.ray.is_initialized())
        self.is_own = not (address or self._is_borrowed)
        if self._is_borrowed:
            self._is_indirect = bool(self.ray.util.client.ray.is_connected())
            self._check_borrowed(address)
        else:
            with _handlers_kept():
                if address:
                    _check_reachable(_found(address))
                    self._connect(address)
                else:
                    self._start(environ)

    @property
    def scratch(self) -> str:
        """Folder for what only this connection's own cluster needs, deleted with it; empty where the cluster is another's."""
        return f"{self._folder}/node" if self._folder else ""

    def nodes(self) -> list[ClusterNode]:
        """Return the nodes that are alive; where the head does not answer, those that were when it did."""
        return self._alive.answer()

    def _look(self) -> list[ClusterNode]:
        found = [one for one in self.ray.nodes() if one["Alive"]]
        return [
            ClusterNode(one["NodeID"], one.get("NodeManagerHostname", ""), one["Resources"], one.get("NodeManagerAddress", ""))
            for one in found
        ]

    @property
    def head(self) -> str:
        """`HOST:PORT` of the head of a cluster that is there; empty where that is this machine's own, or is reached by another alone."""
        return "" if self.is_own or self._is_indirect else str(self.ray.get_runtime_context().gcs_address)

    def abandon(self) -> None:
        """Let the connection be, as its cluster answers no more: whoever asked it something would wait."""
        self._is_borrowed = True
        with contextlib.suppress(Exception):  # none of Ray's public names; what it does at the end of the program would wait too
            atexit.unregister(self.ray._private.worker.shutdown)
        ending = threading.Thread(target=self.ray.shutdown, daemon=True)
        ending.start()
        ending.join(_ABANDON_S)

    def free(self) -> Mapping[str, float]:
        """Return how much of each resource nobody has, in the whole cluster; where the head does not answer, as when it did."""
        return self._free.answer()

    def apart(self, do: Callable[..., None], *arguments: Any) -> None:
        """Tell the cluster something in a thread of its own; `close` waits for it, for some seconds."""
        self._telling = [one for one in self._telling if one.is_alive()]
        self._telling.append(threading.Thread(target=do, args=arguments, name="tell", daemon=True))
        self._telling[-1].start()

    def versions(self) -> str:
        """Return the versions that the cluster and this program have in common, in words."""
        return f"Ray {self.ray.__version__}, Python {platform.python_version()}"

    def others(self) -> list[str]:
        """Return the other programs that are connected to the cluster, in words; empty where Ray does not say."""
        own = self.ray.get_runtime_context().get_job_id()
        try:
            from ray._private.state import state

            table = state.job_table()
        except Exception:  # noqa: BLE001 (none of Ray's public names, and nothing behind it where the address is ray://...)
            return []
        alive = [one for one in table if not one["IsDead"] and one["JobID"] != own]
        return [f"{one['Entrypoint'] or 'a program'} on {one['DriverIPAddress']} (process {one['DriverPid']})" for one in alive]

    def close(self) -> None:
        """Release the connection, and the cluster where it is this machine's own."""
        give_up_at = time.monotonic() + _TOLD_S
        for one in self._telling:
            one.join(max(0.0, give_up_at - time.monotonic()))
        if self._is_borrowed:
            return
        self._is_borrowed = True
        with _handlers_kept(), contextlib.suppress(Exception):
            self.ray.shutdown()
        if self._guard is not None:
            self._guard.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            for name, value in self._before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})

    def _check_borrowed(self, address: str) -> None:
        if self._is_indirect or address in ("", "auto"):
            return  # Ray's client does not say where it is connected to
        there, here = self.head, {"127.0.0.1", str(self.ray.util.get_node_ip_address())}
        asked, found = _host_and_port(address), _host_and_port(there)
        is_same_host = asked[0] == found[0] or {asked[0], found[0]} <= here
        if not is_same_host or asked[1] not in (found[1], ""):
            advice = "say that address, or call ray.shutdown() before"
            raise UserError(
                f"the Ray cluster at {address} cannot be used", f"this program is connected to the one at {there} already", advice
            )

    def _connect(self, address: str) -> None:
        asked = f"the Ray cluster at {address}"
        try:
            self._init(address)
        except Exception as error:
            said = " ".join(str(error).split())
            if "ray[client]" in said:
                fact = "an address ray://... needs the package grpcio, which is not installed here"
                raise UserError(f"{asked} cannot be used", fact, f"{_CLIENT}, here and on the head; HOST:6379 needs none") from error
            if "ersion mismatch" in said or "different version" in said:
                raise UserError(f"{asked} is of another version of Ray or Python", said, "install the cluster's versions here") from error
            raise UserError(f"{asked} cannot be used", f"{type(error).__name__}: {said}", "`ray status` on its head says more") from error

    def _init(self, address: str) -> None:
        for is_last in (False, True):
            try:
                self.ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False, logging_level="ERROR")
            except ConnectionError as error:
                # The head forks a process for each of its clients while other threads are in gRPC, and now and then that stands still.
                if is_last or _NOT_STARTED not in str(error):
                    raise
            else:
                return

    def _start(self, environ: Mapping[str, str]) -> None:
        # Short, as sockets below it have names of at most 107 bytes.
        self._folder = tempfile.mkdtemp(prefix="outrider-ray-", dir="/tmp" if Path("/tmp").is_dir() else None)
        token = f"ray-{secrets.token_hex(8)}"
        self._guard = ClusterGuard(token, self._folder)
        # Its processes are found by their mark, and nobody else on this machine can connect.
        own = {
            **_QUIET,
            **_NO_OTHER_MACHINES,
            "RAY_worker_niceness": "0",
            "RAY_memory_monitor_refresh_ms": "0",  # it ends what runs jobs, where these are limited and ended one by one
            **self._guard.mark(),
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_AUTH_MODE": "token",
        }
        try:
            with _environment(own), _on_loopback():
                self.ray.init(
                    address="local",
                    namespace=NAMESPACE,
                    num_cpus=len(usable_cores()),
                    num_gpus=len(gpu_ids(environ)),
                    _memory=memory.machine_bytes(),
                    object_store_memory=_STORE_BYTES,
                    include_dashboard=False,
                    _temp_dir=self._folder,
                    _node_ip_address="127.0.0.1",
                    log_to_driver=False,
                    configure_logging=False,
                    logging_level="ERROR",
                )
            self._guard.note()
        except Exception as error:
            self._guard.close()
            raise UserError("a Ray cluster of this machine could not be started", f"{type(error).__name__}: {error}") from error


def _imported(address: str) -> Any:
    # Before the import, which reads some of them. At another address of this machine nothing would answer.
    on_loopback = urlsplit(f"//{address}").hostname in ("127.0.0.1", "localhost", "::1")
    # Ray ends a program that has waited for a head for a minute; how long is ours to say.
    patient = {"RAY_gcs_rpc_server_reconnect_timeout_s": f"{2 * WAIT_S:.0f}"} if address else {}
    for name, value in {**_QUIET, **patient, **(_NO_OTHER_MACHINES if on_loopback else {})}.items():
        os.environ.setdefault(name, value)
    is_connected = getattr(sys.modules.get("ray"), "is_initialized", lambda: False)()
    if not (address or is_connected):
        os.environ["RAY_AUTH_MODE"] = "token"  # whatever it is for clusters elsewhere
    try:
        # Else a call that comes after the connection has gone starts a cluster nobody asked for, and connects to that.
        with _environment({"RAY_ENABLE_AUTO_CONNECT": "0"}):
            import ray
            import ray.cloudpickle
            import ray.util.placement_group
            import ray.util.scheduling_strategies
    except ImportError as error:
        raise UserError(
            "back-end ray: the package ray is not installed here",
            str(error),
            f"{install_extra('ray')}, with ray in the cluster's version",
        ) from error
    return ray


def _found(address: str) -> str:
    """Return the address that `auto` means: what is left of a cluster that is gone would be waited for by Ray itself."""
    if address == "local":
        advice = "leave it out: then a cluster of this machine is started for the command, and ended with it"
        raise UserError("ray.address: local", "in Ray that is no cluster that is there, but a new one that nobody would end", advice)
    if address != "auto":
        return address
    try:
        from ray._private.services import canonicalize_bootstrap_address

        return canonicalize_bootstrap_address("auto") or address
    except ConnectionError as error:
        advice = "start one with `ray start --head`, or say where it is: ray.address=HOST:6379"
        raise UserError("ray.address: auto", "no Ray cluster runs on this machine, and RAY_ADDRESS names none", advice) from error
    except (ImportError, AttributeError, TypeError):  # none of Ray's public names
        return address


def _check_reachable(address: str) -> None:
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()
    except OSError as error:
        advice = "the address is what `ray start --head` printed; `ray status --address ...` looks for it"
        if address.startswith("ray://"):
            advice = (
                f"the head listens there where it was started with grpcio installed ({_CLIENT}); on a machine of the cluster say HOST:6379"
            )
        fact = f"nothing answers at {host}, port {port}: {error}"
        raise UserError(f"the Ray cluster at {address} cannot be reached", fact, advice) from error


def _host_and_port(address: str) -> tuple[str, str]:
    """Return the host as a number where it is known, and the port; empty where that is of Ray's client."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    with contextlib.suppress(OSError):
        host = socket.gethostbyname(host.strip("[]"))
    return host, "" if address.startswith("ray://") else port


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Give this process its signal handlers back, some of which Ray takes for itself."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            with contextlib.suppress(ValueError, TypeError):
                signal.signal(number, handler)


@contextlib.contextmanager
def _said_where_slow(what: str) -> Iterator[None]:
    """Say what goes on inside the block where that takes a while, as nothing else is said before."""
    timer = threading.Timer(_SAY_S, logger.warning, ("%s; this can take half a minute", what))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _on_loopback() -> Iterator[None]:
    """Have what is started meanwhile listen on the loopback alone, whatever Ray has read when it was imported."""
    from ray._private import ray_constants  # none of Ray's public names; a test looks at the sockets

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for what is started meanwhile."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if name in _READ_WITH_EACH_CALL:
                continue
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
