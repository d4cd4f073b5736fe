"""A study from a definition's block or a file of its own: what it says, that flags win, and what is wrong with it."""

from __future__ import annotations

import json
import pickle
import re
import signal

import pytest

import outrider
from benchmarking.studies.files import read_study
from definitions.errors import UserError
from launch.planning import plan
from launch.request import RunRequest
from launch.study_request import with_study
from tests.launch.conftest import ROOT, rows

BLOCK = "{methods: [GRID, RS], seeds: 2, start_seed: 3, order: methods, set: {max_num_trials: 1}, compare: {x: trials, aggregate: median}}"


@pytest.fixture
def studied(toy):
    toy.define(study=BLOCK)
    return toy


def test_the_block_says_what_is_not_said_otherwise(studied):
    request = with_study(RunRequest(("toy.yaml",), study=True))
    assert (request.method, request.num_seeds, request.start_seed, request.study_order) == (("GRID", "RS"), 2, 3, "methods")
    assert request.settings == ("max_num_trials=[1]",)
    flags = RunRequest(("toy.yaml",), ("RS",), num_seeds=3, start_seed=0, study_order="seeds", settings=("max_num_trials=2",), study=True)
    request = with_study(flags)
    assert (request.method, request.num_seeds, request.start_seed, request.study_order) == (("RS",), 3, 0, "seeds")
    assert plan(request).specs[0].definition.budget.max_num_trials == 2


def test_settings_may_change_the_block(studied):
    assert with_study(RunRequest(("toy.yaml",), settings=("study.seeds=5",), study=True)).num_seeds == 5


@pytest.mark.slow
def test_the_block_runs_and_is_kept_so_that_a_resume_goes_by_it(studied, run):
    code, out, err = run("--benchmark", "toy.yaml", "--study", "--experiment_tag", "s")
    assert code == 4  # GRID was not finished
    ran = re.findall(r"^\[\d of 4\] toy x (\w+) x seed (\d)", err, re.M)
    assert ran == [("GRID", "3"), ("GRID", "4"), ("RS", "3"), ("RS", "4")]
    assert "not used" not in err
    assert "after 1 trial" in out
    study = read_study(studied.results / "s")
    assert (study.flags.order, study.flags.compare) == ("methods", {"x": "trials", "aggregate": "median"})
    code, out, err = run("--resume", "s", "--num_seeds", "3")
    assert re.findall(r"toy x (\w+) x seed (\d) on local: results", err) == [("GRID", "5"), ("RS", "5")]
    assert "after 1 trial" in out
    code, _, err = run("--resume", "s", "--study_order", "seeds")
    assert code == 2
    assert "order seeds: it has methods" in err


@pytest.mark.slow
def test_a_block_that_is_not_used_is_said_in_one_line(studied, run):
    line = (studied.folder / "toy.yaml").read_text().splitlines().index(f"study: {BLOCK}") + 1
    for words in (("--max_num_trials", "1"), ("--num_seeds", "2", "--max_num_trials", "1"), ("--num_seeds", "2", "--dry_run")):
        _, _, err = run("--benchmark", "toy.yaml", *words)
        assert err.count(f"toy.yaml:{line}: the `study:` block of toy is not used: --study takes it") == 1
    studied.define(study="{methods: [], seeds: 8}")  # as `outrider show` prints one where there is none
    assert "not used" not in run("--benchmark", "toy.yaml", "--dry_run")[2]


def test_a_block_that_is_missing_or_differs_is_told(studied):
    with pytest.raises(UserError, match="--study without --benchmark"):
        with_study(RunRequest(resume="s", study=True))
    text = (studied.folder / "toy.yaml").read_text()
    (studied.folder / "other.yaml").write_text(text.replace("name: toy", "name: other").replace("seeds: 2", "seeds: 4"))
    with pytest.raises(UserError, match="the `study:` blocks of toy and other differ"):
        with_study(RunRequest(("toy.yaml", "other.yaml"), study=True))
    studied.define()
    with pytest.raises(UserError, match="no benchmark that is named has a `study:` block"):
        with_study(RunRequest(("toy.yaml",), study=True))
    assert with_study(RunRequest(("toy.yaml", "other.yaml"), study=True)).num_seeds == 4


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("{seeds: 0}", "study.seeds: must be above 0; 0 was given"),
        ("{methods: [RSS]}", "study.methods.0: there is no method 'RSS'"),
        ("{backend: loacl}", "study.backend: there is no back-end 'loacl'; did you mean 'local'?"),
        ("{compare: {objective: lss}}", "study.compare.objective: there is no objective 'lss'; did you mean 'loss'?"),
        ("{benchmarks: [toy]}", "study.benchmarks: unknown key"),
        ("{set: {max_num_trial: 1}}", "study.set.max_num_trial: there is no key 'max_num_trial'"),
        ("{set: {n_workers: many}}", "study.set.n_workers: n_workers: needs a whole number; 'many' was given"),
    ],
)
def test_what_is_wrong_in_a_block_is_told_with_its_line(toy, block, said):
    toy.define(study=block)
    line = next(number for number, text in enumerate((toy.folder / "toy.yaml").read_text().splitlines(), 1) if text.startswith("study"))
    with pytest.raises(UserError, match=re.escape(f"toy.yaml:{line}: {said}")):
        plan(with_study(RunRequest(("toy.yaml",), study=True)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "study.yaml:1: this file is empty"),
        ("# to be written\n", "study.yaml:1: this file is empty"),
        ("\n- digits\n", "study.yaml:2: this is a list\n  a mapping (lines of `key: value`) is needed at the top of the file"),
    ],
)
def test_a_file_without_anything_is_answered_with_what_a_study_needs(tmp_path, text, said):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        with_study(RunRequest(study=str(path)))
    assert str(caught.value) == f"{tmp_path}/{said}\n" + (
        "  a study's file is a mapping: benchmarks, and what is wanted of backend, compare, max_cost, methods, order, parallel, remote, "
        "seeds, set, shared_start, shares, skip_unfit, start_seed"
    )


def test_python_takes_a_study_as_a_block_a_file_or_a_mapping(studied, capsys):
    assert outrider.run("toy.yaml", study=True, dry_run=True) is None
    assert capsys.readouterr().out.count("toy        ") == 4
    outrider.run("toy.yaml", study={"methods": ["RS"], "seeds": 3}, max_num_trials=1, dry_run=True)
    assert capsys.readouterr().out.count("RS") == 3
    with pytest.raises(UserError, match=re.escape("python: seeds: must be above 0")):
        outrider.run("toy.yaml", study={"seeds": 0})
    with pytest.raises(UserError, match=re.escape("study=3\n  it is True for the `study:` block")):
        outrider.run("toy.yaml", study=3)
    with pytest.raises(UserError, match=re.escape("study_order: ")):
        outrider.run("toy.yaml", study_order="random")
    with pytest.raises(UserError, match=re.escape("shares: ")):
        outrider.run("toy.yaml", shares="half")


FILE = """\
benchmarks: [../toy.yaml]
methods: [RS, GRID]
seeds: 2
parallel: 2
max_cost: 0.5
shares: first_come
set:
  max_num_trials: 1
  x: {uniform: [0.5, 1]}
"""


@pytest.fixture
def study_file(toy):
    path = toy.folder / "studies" / "mine.yaml"
    path.parent.mkdir()
    path.write_text(FILE, encoding="utf-8")
    return path


def test_a_file_is_a_study_of_its_own(toy, study_file):
    planned = plan(with_study(RunRequest(study=str(study_file), experiment_tag="s")))
    assert sorted((spec.method, spec.number) for spec in planned.specs) == [("GRID", 0), ("GRID", 1), ("RS", 0), ("RS", 1)]
    flags = planned.study.flags
    assert (flags.shares, flags.max_cost, flags.order) == ("first_come", 0.5, "seeds")
    definition = planned.specs[0].definition
    assert (definition.budget.max_num_trials, definition.space["x"]) == (1, {"uniform": [0.5, 1]})
    assert [one.share_usd for one in planned.study.experiments] == [None] * 4


def test_values_that_a_study_sets_say_where_they_were_written(toy, study_file):
    request = with_study(RunRequest(study=str(study_file), settings=("n_workers=2",)))
    found = plan(request).specs[0].resolved.origins
    keys = ("budget.max_num_trials", "space.x", "budget.max_cost", "n_workers", "objectives.loss")
    assert [found[key] for key in keys] == ["mine.yaml:8 (study)", "mine.yaml:9 (study)", "mine.yaml:5 (study)", "--set", "toy.yaml:7"]
    # Another process of the study is told the same.
    assert [pickle.loads(pickle.dumps(one)).place for one in request.settings[:3]] == [one.place for one in request.settings[:3]]
    toy.define(study=BLOCK)
    block = plan(with_study(RunRequest(("toy.yaml",), study=True))).specs[0].resolved.origins
    line = (toy.folder / "toy.yaml").read_text().splitlines().index(f"study: {BLOCK}") + 1
    assert block["budget.max_num_trials"] == f"toy.yaml:{line} (study)"


def test_flags_win_over_a_file_and_its_benchmarks(toy, study_file):
    text = (toy.folder / "toy.yaml").read_text()
    (toy.folder / "other.yaml").write_text(text.replace("name: toy", "name: other"))
    given = RunRequest(("other.yaml",), ("RS",), num_seeds=1, shares="equal", settings=("budget.max_cost=0.25",), study=str(study_file))
    request = with_study(given)
    assert (request.parallel, with_study(RunRequest(parallel=3, study=str(study_file))).parallel) == (2, 3)
    assert (request.benchmark[0].data["name"], request.method, request.num_seeds, request.shares) == ("other", ("RS",), 1, "equal")
    assert plan(request).specs[0].definition.budget.max_cost == 0.25


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("seeds: 2", "seeds: two", "mine.yaml:3: seeds: needs a whole number; 'two' was given"),
        ("seeds: 2", "seed: 2", "mine.yaml:3: seed: unknown key; did you mean 'seeds'?"),
        ("seeds: 2", "name: x", "mine.yaml:3: name: unknown key; known: backend, benchmarks"),
        ("[RS, GRID]", "[RS, GRIDD]", "mine.yaml:2: methods.1: there is no method 'GRIDD'; did you mean 'GRID'?"),
        ("../toy.yaml", "../tyo.yaml", "mine.yaml:1: benchmarks.0: "),
        ("[../toy.yaml]", "[digits, digits]", "mine.yaml:1: benchmarks.1: 'digits' is named twice"),
        ("[../toy.yaml]", "[digit]", "mine.yaml:1: benchmarks.0: there is no benchmark 'digit'"),
        ("benchmarks: [../toy.yaml]", "", "benchmarks: is missing, and no --benchmark is given"),
        ("max_num_trials: 1", "max_num_trails: 1", "mine.yaml:8: set.max_num_trails: there is no key 'max_num_trails'"),
        ("seeds: 2", "seeds: [", "mine.yaml"),
        ("first_come", "first", "mine.yaml:6: shares: must be one of equal, first_come; 'first' was given"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(toy, study_file, was, now, said):
    study_file.write_text(FILE.replace(was, now), encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(said)):
        plan(with_study(RunRequest(study=str(study_file))))


def test_a_definition_is_no_study(toy):
    with pytest.raises(UserError, match="this is the definition of a benchmark"):
        with_study(RunRequest(study="toy.yaml"))
    with pytest.raises(UserError, match="there is no such file"):
        with_study(RunRequest(study="nothere.yaml"))


@pytest.mark.slow
def test_pairs_that_cannot_be_are_left_out_where_that_is_asked_for(toy, run):
    text = (toy.folder / "toy.yaml").read_text()
    (toy.folder / "other.yaml").write_text(
        "\n".join(line for line in text.replace("toy", "other", 1).splitlines() if "fidelity" not in line)
    )
    words = ("--benchmark", "toy.yaml", "other.yaml", "--method", "RS", "ASHA", "--max_num_trials", "1", "--experiment_tag", "s")
    code, _, err = run(*words)
    assert code == 2
    assert "leave out those that cannot be with --skip_unfit" in err
    code, _, err = run(*words, "--skip_unfit")
    assert code == 0
    assert re.findall(r"^left out, as it cannot be: other x ASHA: method ASHA needs a fidelity; it decides", err, re.M)
    known = json.loads((toy.results / "s" / "study.json").read_text())
    assert known["flags"]["skip_unfit"] is True
    assert [(one["benchmark"], one["method"]) for one in known["left_out"]] == [("other", "ASHA")]
    code, _, err = run("--resume", "s", "--num_seeds", "2", "--method", "MSR")
    assert code == 0
    assert {(one["benchmark"], one["method"]) for one in json.loads((toy.results / "s" / "study.json").read_text())["left_out"]} == {
        ("other", "ASHA"),
        ("other", "MSR"),
    }


@pytest.mark.slow
def test_with_a_shared_start_all_methods_of_a_seed_begin_alike_also_after_a_kill(toy, run, controller):
    (toy.folder / "mine.yaml").write_text(
        "benchmarks: [toy.yaml]\nmethods: [RS, TPE, BO, ASHA]\nseeds: 2\nshared_start: 3\nset: {n_workers: 1, max_num_trials: 4}\n"
    )
    one = controller("--study", "mine.yaml", "--experiment_tag", "s", "--set", "arguments.seconds=0.05")
    one.until("trial 1 starts", 3)  # in the middle of the third experiment's shared start
    one.send(signal.SIGKILL)
    one.finish()
    code, _, _ = run("--resume", "s")
    assert code == 0
    first = {}
    for seed in (0, 1):
        for method in ("RS", "TPE", "BO", "ASHA"):
            values = [float(row["x"]) for row in rows(toy.experiment("s", method, seed) / "trials.csv")]
            assert len(values) == 4
            first.setdefault(seed, []).append(values[:3])
    assert all(found == [found[0]] * 4 for found in first.values())
    assert first[0][0] != first[1][0]
    fourth = [rows(toy.experiment("s", method) / "trials.csv")[3]["x"] for method in ("RS", "TPE")]
    assert fourth[0] != fourth[1]
    assert json.loads((toy.results / "s" / "study.json").read_text())["flags"]["method_args"] == {"shared_start": 3}


@pytest.mark.slow
def test_a_shared_start_is_a_flag_that_wins_and_who_has_none_is_named(toy, run):
    toy.define(study="{methods: [RS, GRID], seeds: 2, shared_start: 2}")
    code, _, err = run("--benchmark", "toy.yaml", "--study", "--dry_run")
    assert code == 2
    assert "toy x GRID: method GRID: shared_start; it does not begin with configurations that are drawn at random" in err
    assert run("--benchmark", "toy.yaml", "--study", "--shared_start", "0", "--dry_run")[0] == 0
    code, _, err = run("--benchmark", "toy.yaml", "--study", "--skip_unfit", "--shared_start", "1", "--experiment_tag", "s")
    assert code == 0
    assert read_study(toy.results / "s").flags.method_args == {"shared_start": 1}
    assert read_study(toy.results / "s").methods == {"toy": ("RS",)}


def test_the_shipped_study_is_four_methods_on_two_benchmarks_but_for_the_pair_that_cannot_be(monkeypatch):
    monkeypatch.chdir(ROOT)
    planned = plan(with_study(RunRequest((), study="docs/examples/methods.yaml")))
    pairs = [(spec.definition.name, spec.method) for spec in planned.specs]
    assert len(pairs) == 8 * 7
    assert {name for name, method in pairs if method == "ASHA"} == {"digits"}
    assert {pairs.count(pair) for pair in pairs} == {8}
    assert {spec.definition.budget.max_wallclock_time for spec in planned.specs} == {45}
    short = plan(with_study(RunRequest((), study="docs/examples/methods.yaml", num_seeds=2, settings=("max_wallclock_time=12",))))
    assert (len(short.specs), short.specs[0].definition.budget.max_wallclock_time) == (14, 12)


@pytest.mark.slow
def test_a_file_that_grew_extends_the_study_and_one_that_shrank_or_differs_is_refused(toy, run):
    path = toy.folder / "mine.yaml"
    text = "benchmarks: [toy.yaml]\nmethods: [RS]\nseeds: 2\norder: methods\nset: {max_num_trials: 1}\n"
    path.write_text(text)
    assert run("--study", "mine.yaml", "--experiment_tag", "s")[0] == 0
    text = text.replace("[RS]", "[RS, TPE]").replace("seeds: 2", "seeds: 3")
    path.write_text(text)
    code, _, err = run("--study", "mine.yaml", "--resume", "s")
    assert code == 0, err
    assert re.findall(r"toy x (\w+) x seed (\d) on local: results", err) == [("RS", "2"), ("TPE", "0"), ("TPE", "1"), ("TPE", "2")]
    before = (toy.results / "s" / "study.json").read_text()
    for was, now, said in (
        ("seeds: 3", "seeds: 1", "num_seeds 1: it has 3"),
        ("order: methods", "order: seeds", "order seeds: it has methods"),
        ("order: methods", "shared_start: 2", "method_args {'shared_start': 2}: it has none"),
        ("max_num_trials: 1", "arguments.seconds: 1", "arguments.seconds: 0.0, now 1"),
        ("seeds: 3", "seeds: 3\nstart_seed: 4", "start_seed 4: its first is 0"),
    ):
        path.write_text(text.replace(was, now))
        code, _, err = run("--study", "mine.yaml", "--resume", "s")
        assert code == 2
        assert said in err
        assert "starts:" not in err
    path.write_text(text.replace("seeds: 3\n", ""))  # without a number of seeds it keeps what there is
    assert run("--study", "mine.yaml", "--resume", "s")[0] == 0
    assert (toy.results / "s" / "study.json").read_text() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": ["x", "tagg"]}, "(?s)compare.by: nothing has a key 'tagg'.*configurations x.*did you mean 'tag'"),
        ({"facet_by": ["bakend"]}, "(?s)compare.facet_by: nothing has a key 'bakend'.*did you mean 'backend'"),
        ({"at": -1}, "--at -1"),
    ],
)
def test_what_the_comparison_will_not_find_is_refused_before_anything_starts(toy, options, said):
    toy.define(study=BLOCK.replace("compare: {x: trials", "compare: {" + ", ".join(f"{k}: {json.dumps(v)}" for k, v in options.items())))
    with pytest.raises(UserError, match=said):
        plan(with_study(RunRequest(("toy.yaml",), study=True)))


def test_a_baseline_that_flags_left_out_is_refused_before_anything_starts(toy):
    toy.define(study=BLOCK.replace("x: trials", "baseline: GRID"))
    with pytest.raises(UserError, match=r"(?s)compare\.baseline: there is no 'GRID'.*there are RS"):
        plan(with_study(RunRequest(("toy.yaml",), ("RS",), study=True)))
    assert len(plan(with_study(RunRequest(("toy.yaml",), study=True))).specs) == 4


@pytest.mark.parametrize("options", [{"by": ["x", "tag"]}, {"facet_by": ["benchmark", "x"]}, {"by": ["x"], "baseline": "x=1"}])
def test_keys_that_there_are_may_be_asked_for(toy, options):
    toy.define(study=BLOCK.replace("compare: {x: trials", "compare: {" + ", ".join(f"{k}: {json.dumps(v)}" for k, v in options.items())))
    assert len(plan(with_study(RunRequest(("toy.yaml",), study=True))).specs) == 4
