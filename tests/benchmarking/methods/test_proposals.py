"""When a searcher is asked, and what is proposed in its place."""

import pytest

from benchmarking.controller.method import MethodContext
from benchmarking.methods import proposals
from benchmarking.methods.proposals import Proposals
from definitions.space import SearchSpace
from definitions.valid import parse_rule

SPACE = {"n": {"randint": [1, 1000]}, "c": 7}


class Host:
    """Proposes what it is given, and remembers what it was asked."""

    busy = False

    def __init__(self, answers=(), is_ready=False):
        self.answers, self.is_ready, self.asked, self.observed = list(answers), is_ready, [], []

    def observe(self, observation):
        self.observed.append((observation.evaluation, observation.value, observation.level))

    def ready(self, number, pending):
        self.asked.append(("ready", number, [one["n"] for one in pending]))
        return self.is_ready

    def answer(self, number, pending):
        self.asked.append(("answer", number, [one["n"] for one in pending]))
        return [{"c": 7, "n": n} for n in self.answers]

    def close(self): ...


def proposing(monkeypatch, host, space=SPACE, points=(), rules=(), **options):
    monkeypatch.setattr(proposals, "InProcess", lambda spec: host)
    parsed = SearchSpace.parse(space)
    context = MethodContext(parsed, (), {"loss": "min"}, None, 0, {"points_to_evaluate": points}, rules, region="us-east-1")
    return Proposals("it", context, parsed, searcher="GP", **options)


def test_a_searcher_is_asked_when_points_are_used_up_and_enough_is_observed(monkeypatch):
    host = Host([5])
    made = proposing(monkeypatch, host, points=({"n": 3},), initial=2)
    assert made.ready()
    assert dict(made.next()) == {"n": 3, "c": 7}
    made.added(0, {"n": 3, "c": 7})
    made.observed(0, {"n": 3, "c": 7}, 0.5, 1.0)
    assert made.ready()
    drawn = made.next()["n"]
    made.added(1, {"n": drawn, "c": 7})
    made.observed(1, {"n": drawn, "c": 7}, 0.25, 3.0)
    made.over(0)
    assert host.asked == []
    assert host.observed == [(0, 0.5, 1.0), (1, 0.25, 3.0)]
    assert not made.ready()
    assert list(made.next().items()) == [("n", 5), ("c", 7)]
    assert host.asked == [("ready", 2, [drawn]), ("answer", 2, [drawn])]


def test_an_evaluation_observed_twice_counts_once(monkeypatch):
    host = Host([5])
    made = proposing(monkeypatch, host, initial=2)
    for level in (1.0, 2.0, 3.0):
        made.observed(0, {"n": 3, "c": 7}, 0.5, level)
    assert made.ready()
    made.next()
    assert host.asked == []


def test_points_come_before_a_searcher_that_could_be_asked(monkeypatch):
    host = Host([5])
    made = proposing(monkeypatch, host, points=({"n": 3}, {"n": 4}))
    assert made.ready()
    assert [made.next()["n"], made.next()["n"]] == [3, 4]
    assert host.asked == []
    assert not made.ready()


def test_the_first_proposal_that_is_new_and_may_run_is_taken(monkeypatch):
    made = proposing(monkeypatch, Host([3, 4, 9, 11]), points=({"n": 3},))
    made.next()
    made.refuse = lambda configuration: "even" if configuration["n"] % 2 == 0 else None
    assert made.next()["n"] == 9


def test_without_a_proposal_something_is_drawn_that_is_new_and_may_run(monkeypatch):
    made = proposing(monkeypatch, Host(), {"n": {"randint": [1, 6]}, "c": 7}, rules=(parse_rule("n > 2"),))
    made.refuse = lambda configuration: "even" if configuration["n"] % 2 == 0 else None
    found = []
    for number in range(2):
        found.append(made.next())
        made.added(number, found[-1])
    assert sorted(one["n"] for one in found) == [3, 5]
    assert not made.exhausted
    assert made.next() is None
    assert made.exhausted
    made.refuse = lambda configuration: None  # what was refused may run now
    assert made.next()["n"] in (4, 6)
    assert not made.exhausted


def test_skipped_proposals_are_not_made_again(monkeypatch):
    host = Host([5], is_ready=True)
    made = proposing(monkeypatch, host, points=({"n": 3}, {"n": 4}))
    made.skip(1)
    assert made.next()["n"] == 4
    made.skip(3)
    assert made.ready()
    assert host.asked == [("ready", 5, [])]


@pytest.mark.parametrize("searcher", [None, "GP"])
def test_only_a_searchers_proposals_need_not_be_asked_for_again_on_resume(monkeypatch, searcher):
    monkeypatch.setattr(proposals, "InProcess", lambda spec: Host())
    parsed = SearchSpace.parse(SPACE)
    made = Proposals("it", MethodContext(parsed, (), {"loss": "min"}, None, 0, region="us-east-1"), parsed, searcher=searcher)
    assert made.replays_without_asking is (searcher is not None)
    assert not made.exhausted
