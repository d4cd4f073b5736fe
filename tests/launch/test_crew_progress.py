"""What is said of several experiments at once: whose line it is, what is said once, and the panel over all."""

from __future__ import annotations

import io
from types import SimpleNamespace

from launch.at_once import Stage
from launch.crew_progress import CrewProgress
from launch.progress import Progress


def spec(method, number):
    return SimpleNamespace(definition=SimpleNamespace(name="toy"), method=method, number=number)


RS, BO = spec("RS", 0), spec("BO", 1)


def progress(clock=lambda: 0.0):
    stream = io.StringIO()
    return CrewProgress(Progress(stream), 3, clock), stream


def test_each_line_of_a_text_says_whose_it_is():
    crew, stream = progress()
    crew.say("refused\n  why", RS)
    crew.say("winding down")
    assert stream.getvalue() == "toy RS 0 | refused\ntoy RS 0 |   why\nwinding down\n"


def test_what_one_has_said_no_other_says_again():
    crew, stream = progress()
    crew.say_once(["a", "b"], RS)
    crew.say_once(["b", "c"], BO)
    assert stream.getvalue().splitlines() == ["toy RS 0 |   a", "toy RS 0 |   b", "toy BO 1 |   c"]


def test_the_panel_shows_how_each_stands_and_how_many_are_over():
    now = [10.0]
    crew, _ = progress(lambda: now[0])
    crew.stands(RS, Stage.PREPARES)
    crew.stands(BO, Stage.WAITS)
    now[0] = 75.0
    assert crew.text().splitlines() == ["65 s | 0/3 experiments over | 2 at once", "toy BO 1 | waits for cores", "toy RS 0 | begins"]
    crew.stands(RS, Stage.RUNS, "12 s | 1 trials done\n  trial 1 running")
    crew.over(BO)
    crew.over()
    assert crew.text().splitlines()[1:] == ["toy RS 0 | 12 s | 1 trials done", "  trial 1 running"]
    assert "2/3 experiments over | 1 at once" in crew.text()
    crew.stands(BO, Stage.RUNS)
    crew.stands(spec("TPE", 0), Stage.RUNS)
    assert "  trial 1 running" not in crew.text()  # with three there is no room for each trial
