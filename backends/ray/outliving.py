"""What of an experiment outlives its controller on a cluster: actors of Ray's with names, by which the next controller finds them."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.ray import keeper
from backends.ray.cluster import NAMESPACE, RayConnection
from backends.ray.nodes import LeftAgent

_BEAT_S = 10.0
_ANSWER_S = 60.0
_END_S = 10.0
_AGAIN_S = 0.1
_KEEPER = "keeper"


class OutlivingActors:
    """The actors of one experiment.

    Args:
        connection: to the cluster.
        experiment: names it, unlike any other.
        room_gone: told in another thread that the room that was asked for is gone, as the actor that had it is.
    """

    def __init__(self, connection: RayConnection, experiment: str, room_gone: Callable[[], None] = lambda: None) -> None:
        self._connection, self._room_gone = connection, room_gone
        self._prefix = f"outrider:{experiment}:"
        self._keeper: Any = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.by = secrets.token_hex(8)
        """Names this controller."""

    def options(self, name: str) -> dict[str, Any]:
        """Return Ray's options of the actor that has a name in the experiment."""
        return {"name": self._prefix + name, "namespace": NAMESPACE, "lifetime": "detached"}

    def room(self, bundles: Sequence[Mapping[str, float]], strategy: str) -> Any:
        """Return a placement group that goes with the experiment; waits for the actor that asks for it."""
        actor = self._its_keeper()
        try:
            return self._connection.ray.get(actor.ask.remote(list(bundles), strategy))
        except Exception as error:
            self._forget(actor, error)
            raise

    def _forget(self, actor: Any, error: Exception) -> None:
        """Make another keeper, where there is a node for it, when the next room is asked for."""
        with self._lock:
            is_new, self._keeper = self._keeper is actor, None
        if is_new and isinstance(error, self._connection.ray.exceptions.ActorDiedError):
            self._room_gone()

    def left(self) -> dict[str, LeftAgent]:
        """Take over the agents that earlier controllers have left, and return them by their nodes; those that do not answer are ended."""
        ray = self._connection.ray
        mine = self._names()
        if _KEEPER in mine:
            ray.get(self._its_keeper().here.remote(), timeout=_ANSWER_S)  # from now on it gives nothing back by itself
        actors = {node: ray.get_actor(self._prefix + node, namespace=NAMESPACE) for node in mine if node != _KEEPER}
        asked = {node: actor.take_over.remote(self.by) for node, actor in actors.items()}
        found = {}
        for node, answer in asked.items():
            try:
                said = ray.get(answer, timeout=_ANSWER_S)
            except Exception:  # noqa: BLE001 (its node is gone, or going: so are its jobs)
                with contextlib.suppress(Exception):
                    ray.kill(actors[node])
                continue
            found[node] = LeftAgent(actors[node], said["next"], said["jobs"], said["now"], time.time())
        return found

    def has_room(self, group: Any) -> bool:
        """Return whether a placement group is still there."""
        with contextlib.suppress(Exception):
            return bool(self._connection.ray.util.placement_group_table(group)["state"] == "CREATED")
        return False

    def let_go(self) -> None:
        """Leave them to whoever comes next."""
        self._over.set()

    def close(self) -> None:
        """End what is left of them, and give back all room."""
        self.let_go()
        give_up_at = time.monotonic() + _END_S
        with contextlib.suppress(Exception):  # a cluster that is gone has none
            # Ray forgets an order that it was given right before the connection ends.
            while (left := self._names()) and time.monotonic() < give_up_at:
                for name in left:
                    with contextlib.suppress(ValueError):  # it has gone meanwhile
                        self._connection.ray.kill(self._connection.ray.get_actor(self._prefix + name, namespace=NAMESPACE))
                time.sleep(_AGAIN_S)

    def _names(self) -> list[str]:
        """Return what the actors are called in the experiment."""
        listed = self._connection.ray.util.list_named_actors(all_namespaces=True)
        names = [str(one["name"]) for one in listed if one["namespace"] == NAMESPACE]
        return [name.removeprefix(self._prefix) for name in names if name.startswith(self._prefix)]

    def _its_keeper(self) -> Any:
        with self._lock:
            if self._keeper is None:
                ray = self._connection.ray
                ray.cloudpickle.register_pickle_by_value(keeper)
                made = ray.remote(keeper.SlotKeeper).options(
                    num_cpus=0, max_concurrency=4, max_restarts=0, get_if_exists=True, **self.options(_KEEPER)
                )
                self._keeper = made.remote(NAMESPACE, self._prefix)
                threading.Thread(target=self._beat, args=(self._keeper,), name="keeper", daemon=True).start()
            return self._keeper

    def _beat(self, actor: Any) -> None:
        ray = self._connection.ray
        while not self._over.wait(_BEAT_S) and actor is self._keeper:
            try:
                ray.get(actor.here.remote(), timeout=_ANSWER_S)
            except ray.exceptions.ActorDiedError as error:
                self._forget(actor, error)
            except Exception:  # noqa: BLE001 (it answers late, or its cluster does)
                continue
