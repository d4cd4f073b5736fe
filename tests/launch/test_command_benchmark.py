"""A benchmark from the command line alone."""

import pytest

from definitions.errors import UserError
from launch.command_benchmark import command_benchmark


def test_a_command_with_what_varies_is_a_benchmark_of_its_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, rest = command_benchmark("./my prog --threads ${threads}", [], ["threads=1,2,4", "max_num_trials=3", "repeats=2"])
    assert (made.name, made.command, made.source_dir) == ("my", ("./my", "prog", "--threads", "${threads}"), str(tmp_path))
    assert (made.space, made.objectives, made.method) == ({"threads": {"choice": [1, 2, 4]}}, {"duration_s": "min"}, "GRID")
    assert (rest, made.is_silent, made.is_exclusive) == (("max_num_trials=3", "repeats=2"), True, True)


def test_a_key_that_the_command_names_is_its_own_whatever_else_is_called_so():
    made, rest = command_benchmark("p ${repeats} ${arguments}", ["loss=max"], ["repeats=1,2", "lr=loguniform(1e-4,1e-1)"])
    assert (made.space, rest) == ({"repeats": {"choice": [1, 2]}, "lr": {"loguniform": [1e-4, 0.1]}}, ())
    assert (made.objectives, made.method, made.is_silent) == ({"loss": "max"}, None, False)


@pytest.mark.parametrize(
    ("command", "objectives", "settings", "said"),
    [
        ("p ${a", [], [], "a placeholder has no end"),
        ("p 'x", [], [], "no closing quotation"),
        ("p ${treads}", [], ["threads=1,2"], "did you mean 'threads'"),
        ("p", [], ["threads=1,2"], "'threads' would not reach the script"),
        ("p", ["loss"], [], "--objective loss: this is not name=min or name=max"),
    ],
)
def test_what_cannot_be(command, objectives, settings, said):
    with pytest.raises(UserError) as caught:
        command_benchmark(command, objectives, settings)
    assert said in str(caught.value)


def test_several_problems_are_counted_and_one_is_told_in_a_line():
    with pytest.raises(UserError) as caught:
        command_benchmark("echo ${a} ${b}", [], ["a={nope: 1}"])
    assert str(caught.value).startswith("--command 'echo ${a} ${b}': space.a: there is no domain kind 'nope'")
    with pytest.raises(UserError) as caught:
        command_benchmark("echo ${a} ${b}", [], ["a={nope: 1}", "b={nope: 1}"])
    lines = str(caught.value).splitlines()
    assert lines[0] == "--command 'echo ${a} ${b}' has 2 problems:"
    assert [line.partition(": ")[2].partition(":")[0] for line in lines[1:]] == ["space.a", "space.b"]
