"""What asks for the room of jobs that outlive their controller, and what is known of its end; no cluster is asked."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from backends.ray import outliving
from backends.ray.outliving import OutlivingActors


class DiedError(Exception):
    """Ray's, of an actor that is gone."""


class Actor:
    """A keeper of room, which may be gone."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.ask = SimpleNamespace(remote=lambda bundles, strategy: lambda: ("group", bundles, strategy))
        self.here = SimpleNamespace(remote=lambda: lambda: None)


class Ray:
    """Makes such actors, and asks them."""

    exceptions = SimpleNamespace(ActorDiedError=DiedError)
    cloudpickle = SimpleNamespace(register_pickle_by_value=lambda module: None)

    def __init__(self) -> None:
        self.made: list[Actor] = []

    def remote(self, kind):
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=self._make))

    def _make(self, *arguments) -> Actor:
        self.made.append(Actor())
        return self.made[-1]

    def get(self, answer, timeout=None):
        if self.made[-1].error is not None:
            raise self.made[-1].error
        return answer()


@pytest.fixture
def scene(monkeypatch):
    monkeypatch.setattr(outliving, "_BEAT_S", 0.001)
    ray, gone = Ray(), threading.Event()
    actors = OutlivingActors(SimpleNamespace(ray=ray), "one", gone.set)
    yield SimpleNamespace(ray=ray, gone=gone, actors=actors)
    actors.let_go()


def test_all_room_is_asked_for_by_one_actor(scene):
    assert scene.actors.room([{"CPU": 1.0}], "PACK") == ("group", [{"CPU": 1.0}], "PACK")
    scene.actors.room([{"CPU": 2.0}], "PACK")
    assert len(scene.ray.made) == 1


def test_that_its_room_is_gone_with_it_is_known_though_nobody_asks(scene):
    scene.actors.room([{"CPU": 1.0}], "PACK")
    scene.ray.made[0].error = DiedError("its node died")
    assert scene.gone.wait(30.0)
    scene.ray.made[0].error = None
    scene.actors.room([{"CPU": 1.0}], "PACK")
    assert len(scene.ray.made) == 2


def test_one_that_is_slow_is_not_gone(scene, monkeypatch):
    monkeypatch.setattr(outliving, "_BEAT_S", 1000.0)
    scene.actors.room([{"CPU": 1.0}], "PACK")
    scene.ray.made[0].error = TimeoutError("no answer")
    with pytest.raises(TimeoutError):
        scene.actors.room([{"CPU": 1.0}], "PACK")
    assert not scene.gone.is_set()
