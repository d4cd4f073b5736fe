import dataclasses

from backends.tracked import KnownRun, Point, RunStatus, TrackedExperiment, TrackedRun, changes


def run(job, sequence, status=RunStatus.FINISHED):
    points = [Point("loss", 1.0 / number, number, float(number), number) for number in range(1, sequence + 1)]
    ended_at = None if status is RunStatus.RUNNING else 9.0
    return TrackedRun(job, job, status, 0.0, ended_at, {"x": 1}, {"cause": "none", "name": job}, points, sequence)


def wanted(*trials):
    return TrackedExperiment("t", "b", run("whole", 4), trials)


def known(one):
    return KnownRun("key", one.sequence, one.status, one.ended_at is not None, dict(one.tags))


def test_what_is_not_there_lacks_everything_the_whole_first():
    found = changes(wanted(run("a", 3)), {})
    assert [change.run.job for change in found] == ["whole", "a"]
    assert [len(change.points) for change in found] == [4, 3]
    assert all(change.settles and change.known is None for change in found)


def test_what_is_there_is_not_told_again():
    trial = run("a", 3)
    assert changes(wanted(trial), {"whole": known(run("whole", 4)), "a": known(trial)}) == []


def test_only_what_came_since_is_told():
    before, trial = run("a", 1, RunStatus.RUNNING), run("a", 3)
    (change,) = changes(wanted(trial), {"whole": known(run("whole", 4)), "a": known(before)})
    assert [point.step for point in change.points] == [2, 3]
    assert change.settles
    assert change.tags == {}


def test_a_tag_that_changed_is_told_alone():
    trial = run("a", 3)
    there = dataclasses.replace(known(trial), tags={"cause": "spot", "name": "a", "theirs": "x"})
    (change,) = changes(wanted(trial), {"whole": known(run("whole", 4)), "a": there})
    assert (dict(change.tags), change.points, change.settles) == ({"cause": "none"}, [], False)


def test_tags_are_compared_as_the_tracker_keeps_them():
    trial = run("a", 3)
    there = {"whole": dataclasses.replace(known(run("whole", 4)), tags={"CAUSE": "none", "NAME": "whole"})}
    there["a"] = dataclasses.replace(known(trial), tags={"CAUSE": "none", "NAME": "a"})
    assert changes(wanted(trial), there, lambda tags: {name.upper(): text for name, text in tags.items()}) == []


def test_a_run_without_its_parameters_is_told_anew():
    trial = run("a", 0)
    there = {"whole": known(run("whole", 4)), "a": dataclasses.replace(known(trial), sequence=-1)}
    assert [change.run.job for change in changes(wanted(trial), there)] == ["a"]
