"""Several experiments as one study: what study.json says, in which order they run, and what goes on when one of them does not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3

import pytest

from benchmarking.archive.folder_lock import locked
from benchmarking.report.text import dollars
from benchmarking.studies.files import read_study
from benchmarking.studies.standing import spent_usd
from launch.comparison_flags import question_for
from launch.planning import plan
from launch.request import RunRequest

pytestmark = pytest.mark.slow

WORDS = ("--benchmark", "toy.yaml", "--experiment_tag", "s", "--max_num_trials", "1")
TWO = (*WORDS, "--method", "RS", "GRID", "--num_seeds", "2")


def study_of(toy, tag="s"):
    return json.loads((toy.results / tag / "study.json").read_text())


def titles(err):
    """Return (method, seed) of each experiment in the order in which it was begun."""
    found = [line.split(" x ") for line in err.splitlines() if line.startswith("[") and " x seed " in line]
    return [(words[1], int(words[2].split()[1])) for words in found]


def test_the_study_is_written_down_and_runs_seed_by_seed_in_an_order_that_the_seed_draws(toy, run):
    code, out, err = run(*TWO)
    assert code in (0, 4)
    study = study_of(toy)
    assert study["schema_version"] == 1
    order = [(one["method"], one["number"]) for one in sorted(study["experiments"], key=lambda one: one["order"])]
    assert titles(err) == order
    assert [number for _, number in order] == [0, 0, 1, 1]
    folder = toy.experiment("s")
    known = json.loads((folder / "experiment.json").read_text())
    assert known["hash"] in {one["hash"] for one in study["experiments"]}
    assert study["flags"]["order"] == "seeds"
    assert "results: results/s" in out


def test_a_resume_that_changes_nothing_leaves_the_file_and_where_each_value_is_from(toy, run):
    run(*WORDS, "--num_seeds", "2")
    path = toy.results / "s" / "study.json"
    before = path.read_bytes()
    assert "# toy.yaml:" in study_of(toy)["definitions"]["toy"]
    run("--resume", "s")
    assert path.read_bytes() == before


def test_a_single_experiment_is_no_study(toy, run):
    run(*WORDS)
    assert not (toy.results / "s" / "study.json").exists()


def test_resume_finishes_what_never_began_in_the_order_of_the_study(toy, controller, run, gate):
    one = controller(*TWO)
    one.until("starts:")
    one.send(signal.SIGKILL)
    one.finish()
    gate.open()
    order = [(known["method"], known["number"]) for known in study_of(toy)["experiments"]]
    begun = [path.parent.name for path in (toy.results / "s").glob("*/*/experiment.json")]
    assert len(begun) < len(order)
    (toy.folder / "toy.yaml").unlink()
    code, _, err = run("--resume", "s")
    assert code in (0, 4)
    assert titles(err) == order
    assert len([*(toy.results / "s").glob("*/*/trials.csv")]) == 4
    code, _, err = run("--resume", "s")
    assert titles(err) == []  # nothing is left to do


def test_one_that_another_process_runs_does_not_end_the_others(toy, run):
    planned = plan(RunRequest(("toy.yaml",), ("RS",), num_seeds=3, experiment_tag="s", settings=("budget.max_num_trials=1",)))
    with locked(planned.specs[1].folder):
        code, out, _ = run(*WORDS, "--num_seeds", "3")
    assert code == 2
    assert "1 of 3 experiments did not come to a good end:" in out
    assert "toy x RS x seed 1 on local: in use: process" in out
    assert len([*(toy.results / "s").glob("*/*/trials.csv")]) == 2


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="of one core the second has none before the first is through")
def test_two_processes_at_one_study_take_what_the_other_does_not_hold(toy, controller, run):
    # Neither goes on before the other has begun, however long that takes.
    script = (toy.folder / "toy.py").read_text()
    meet = (
        "import os, pathlib, time\nbegun = pathlib.Path(__file__).parent / 'begun'\nbegun.mkdir(exist_ok=True)\n"
        "(begun / str(os.getppid())).touch()\nend = time.monotonic() + 60\n"
        "while len(os.listdir(begun)) < 2 and time.monotonic() < end:\n    time.sleep(0.02)\n"
    )
    (toy.folder / "toy.py").write_text(meet + script)
    words = (*WORDS[:-1], "2", "--n_workers", "1", "--method", "RS", "TPE", "--num_seeds", "4")
    ended = [one.finish() for one in (controller(*words), controller(*words))]
    for code, out, err in ended:
        assert code in (0, 2), err
        assert code == 0 or ": in use: process" in out, err
        assert "starts:" in err  # each had a part in it
    folders = sorted((toy.results / "s").glob("*/*/journal.sqlite"))
    assert len(folders) == 8
    for path in folders:
        with contextlib.closing(sqlite3.connect(path)) as journal:
            kinds = [kind for (kind,) in journal.execute("SELECT kind FROM records WHERE kind IN ('start', 'end')")]
        assert kinds == ["start", "start", "end"]
    code, _, err = run("--resume", "s")
    assert code == 0
    assert "starts:" not in err


def test_one_that_is_refused_does_not_end_the_others(toy, run):
    run(*WORDS, "--num_seeds", "3")
    (toy.experiment("s", seed=0) / "experiment.json").unlink()
    code, out, err = run("--resume", "s", "--max_num_trials", "2")
    assert code == 2
    assert "seed 0 on local: refused: tag 's':" in out
    assert err.count("starts:") == 2


def test_damaged_ones_do_not_end_the_others_and_a_dry_run_names_them(toy, run):
    run(*WORDS, "--num_seeds", "4")
    (toy.experiment("s", seed=0) / "experiment.json").write_text("{")
    torn = toy.experiment("s", seed=1) / "journal.sqlite"
    torn.write_bytes(torn.read_bytes()[:9000])
    (toy.experiment("s", seed=2) / "journal.sqlite").write_text("")
    code, out, _ = run("--resume", "s", "--max_num_trials", "2", "--dry_run")
    assert (code, out.count("left out, as a run will: toy x RS x seed ")) == (0, 3)
    code, out, err = run("--resume", "s", "--max_num_trials", "2")
    assert code == 2
    assert "3 of 4 experiments did not come to a good end:" in out
    for words in ("seed 0 on local: refused: ", "seed 1 on local: refused: ", "seed 2 on local: refused: tag 's': "):
        assert words in out
    assert err.count("starts:") == 1
    assert (toy.experiment("s", seed=2) / "trials.csv").is_file()


def test_resume_extends_and_refuses_by_name_what_contradicts(toy, run):
    run(*WORDS, "--num_seeds", "2")
    code, _, err = run("--resume", "s", "--num_seeds", "3", "--method", "GRID", "--max_num_trials", "1")
    assert code in (0, 4)
    assert sorted(titles(err)) == [("GRID", 0), ("GRID", 1), ("GRID", 2), ("RS", 2)]
    before = study_of(toy)
    refused = {
        ("--backend", "simulated"): "backend simulated: it has local",
        ("--start_seed", "5"): "start_seed 5: its first is 0",
        ("--random_seed", "7"): "random_seed 7: it has 0",
        ("--num_seeds", "1"): "num_seeds 1: it has 3",
        ("--method_args", "points=3"): "method_args {'points': 3}: it has none",
        ("--set", "arguments.seconds=1"): "arguments.seconds: 0.0, now 1",
        ("--n_workers", "9"): "n_workers 9: it has none given, which is ",
    }
    for words, said in refused.items():
        code, _, err = run("--resume", "s", *words)
        assert code == 2
        assert said in err
        assert "starts:" not in err
    assert study_of(toy) == before


def test_shares_that_allow_no_trial_are_called_shares_and_what_a_trial_may_cost_can_be_asked(toy, run):
    code, out, err = run(*WORDS, "--num_seeds", "2", "--max_cost", "0.002")
    assert code == 4
    assert out.count("$0 spent); that is its share of $0.002 for 2 experiments") == 2
    assert "a trial may cost more than that; `" in err
    code, _, err = run("--resume", "s", "--dry_run")
    assert code == 2
    assert "its share of $0.002 for 2 experiments, allows no trial" in err


def test_a_tag_holds_one_definition_of_a_benchmark(toy, run):
    run(*WORDS)
    toy.define(arguments="{seconds: 0.01, fail_above: 9.0}")
    code, _, err = run(*WORDS, "--start_seed", "3")
    assert code == 2
    assert "arguments.seconds: 0.0, now 0.01" in err
    assert not toy.experiment("s", seed=3).exists()


def test_a_study_that_is_damaged_or_of_a_later_version_is_refused_and_without_one_the_folders_go_on(toy, run):
    run(*WORDS, "--num_seeds", "2")
    path = toy.results / "s" / "study.json"
    text = path.read_text()
    for broken, said in (
        (text[: len(text) // 2], "is damaged"),
        (text.replace('"schema_version":1', '"schema_version":9'), "has version 9"),
    ):
        path.write_text(broken)
        code, _, err = run("--resume", "s")
        assert code == 2
        assert said in err
    path.unlink()
    code, _, err = run("--resume", "s", "--max_num_trials", "2")
    assert code == 0
    assert "s has no study.json: it goes on with the 2 experiments that have a folder" in err
    assert err.count("starts:") == 2
    assert len(read_study(toy.results / "s").experiments) == 2


def test_the_first_experiments_of_different_methods_failing_alike_stop_the_study(toy, run):
    code, out, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "f", "--method", "RS", "GRID", "--num_seeds", "3",
                       "--set", "arguments.fail_above=-1")  # fmt: skip
    assert code == 3
    assert out.count(": not begun: the first 2 experiments of toy fail alike") == 1
    assert out.startswith("6 of 6 experiments did not come to a good end:")
    assert len([*(toy.results / "f").glob("*/*/journal.sqlite")]) == 2


def test_pairs_that_cannot_be_are_all_named_before_anything_starts(toy, run):
    text = (toy.folder / "toy.yaml").read_text()
    (toy.folder / "other.yaml").write_text(
        "\n".join(line for line in text.replace("toy", "other", 1).splitlines() if "fidelity" not in line)
    )
    words = ("--benchmark", "toy.yaml", "other.yaml", "--method", "RS", "ASHA", "MSR", "--experiment_tag", "p")
    code, _, err = run(*words)
    assert code == 2
    assert "2 of 6 pairs of benchmark and method cannot be" in err
    assert "other x ASHA: " in err
    assert "other x MSR: " in err
    assert not (toy.results / "p").exists()


def test_missing_scripts_and_lacking_room_are_named_with_the_other_refusals_and_left_out_together(toy, run):
    text = (toy.folder / "toy.yaml").read_text()
    made = {
        "flat": "\n".join(line for line in text.splitlines() if "fidelity" not in line),
        "gone": text.replace("script: toy.py", "script: nowhere.py"),
        "large": text.replace("arguments: {", "arguments: {instance_type: local.9000cpu, "),
    }
    for name, lines in made.items():
        (toy.folder / f"{name}.yaml").write_text(lines.replace("name: toy", f"name: {name}"))
    words = ("--benchmark", "toy.yaml", "flat.yaml", "gone.yaml", "large.yaml", "--method", "RS", "ASHA", "--experiment_tag", "p")
    for more in ((), ("--dry_run",)):
        code, _, err = run(*words, *more)
        assert code == 2
        assert "5 of 8 pairs of benchmark and method cannot be" in err
        for pair, why in (
            ("flat x ASHA", "fidelity"),
            ("gone x RS", "there is no file 'nowhere.py'"),
            ("gone x ASHA", "there is no file 'nowhere.py'"),
            ("large x RS", "local.9000cpu does not fit here"),
            ("large x ASHA", "local.9000cpu does not fit here"),
        ):
            assert any(pair in line and why in line for line in err.splitlines()), (pair, err)
        assert not (toy.results / "p").exists()
    code, _, err = run(*words, "--skip_unfit", "--max_num_trials", "1")
    assert code in (0, 4)
    assert err.count("left out, as it cannot be: ") == 5
    assert sorted(path.parent.name for path in (toy.results / "p").glob("*/*")) == ["flat", "toy", "toy"]
    (toy.folder / "gone.yaml").write_text("name: gone\nscript: nowhere.py\nspace: 3\n")
    code, _, err = run(*words)
    assert code == 2
    assert "gone.yaml:3: space" in err


def test_what_earlier_controllers_spent_and_the_worst_case_together_are_the_limit(toy, run):
    words = ("--benchmark", "toy.yaml", "--num_seeds", "4", "--max_run", "3595", "--n_workers", "1", "--experiment_tag", "s")
    run(*words, "--max_cost", "0.4", "--max_num_trials", "1")
    folders = [toy.experiment("s", seed=seed) for seed in range(4)]
    for folder, usd in zip(folders[:2], (0.025, 0.05), strict=True):
        with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as journal, journal:
            journal.execute("UPDATE records SET body = json_set(body, '$.cost_usd', ?) WHERE kind = 'settle'", (usd,))
    spent = sum(map(spent_usd, folders))
    assert spent == pytest.approx(0.075, abs=1e-3)
    code, out, _ = run("--resume", "s", "--max_num_trials", "9", "--dry_run")
    assert code == 0
    assert f"worst case of all: {dollars(0.4 - spent)} (nominal prices), beside {dollars(spent)} that were spent before" in out
    # What is over costs nothing more.
    code, out, _ = run("--resume", "s", "--dry_run")
    assert f"worst case of all: $0.00 (nominal prices), beside {dollars(spent)} that" in out
    assert out.count(" over ") == 4


def test_compare_is_printed_at_the_end_and_looks_before_an_extension_are_counted(toy, run):
    _, out, _ = run(*WORDS, "--num_seeds", "2")
    assert "baseline" in out
    assert [look["experiments"] for look in study_of(toy)["looks"]] == [2]
    run("--resume", "s")
    assert read_study(toy.results / "s").looks_before_extension == 0
    run("--resume", "s", "--num_seeds", "3")
    assert [look["experiments"] for look in study_of(toy)["looks"]] == [2, 3]
    assert read_study(toy.results / "s").looks_before_extension == 1
    # From the next look on the comparison is judged by the level of two.
    assert question_for(["s"], toy.results, "compare", {}).looks == 1
    (toy.results / "s" / "study.json").write_text("{", encoding="utf-8")
    assert question_for(["s"], toy.results, "compare", {}).looks == 0


@pytest.mark.parametrize("name", ["../../../x", "A/B", "x" * 41, "..", ""])
def test_a_method_that_could_not_be_a_folder_is_an_error_of_the_definition_with_its_line(toy, run, name):
    toy.define(methods=f"{{{json.dumps(name)}: {{base: RS}}}}")
    line = next(number for number, text in enumerate((toy.folder / "toy.yaml").read_text().splitlines(), 1) if text.startswith("methods"))
    code, _, err = run("--benchmark", "toy.yaml", "--method", name)
    assert code == 2
    assert f"toy.yaml:{line}: methods.{name}: a method's name has letters" in err
    assert not toy.results.exists()


def test_the_worst_case_of_all_is_never_above_the_limit_and_each_has_an_equal_share(toy, run):
    words = ("--benchmark", "toy.yaml", "--num_seeds", "5", "--max_run", "3595", "--experiment_tag", "s")
    code, out, _ = run(*words, "--max_cost", "0.4", "--dry_run")
    assert code == 0
    assert "worst case of all: $0.40 (nominal prices)" in out
    assert not toy.results.exists()
    run(*words, "--max_cost", "0.4", "--max_num_trials", "1")
    assert [one["share_usd"] for one in study_of(toy)["experiments"]] == [pytest.approx(0.08)] * 5
    code, _, err = run("--resume", "s", "--num_seeds", "6")
    assert code == 2
    assert "give --max_cost 0.48 or more" in err
    code, _, err = run("--resume", "s", "--max_cost", "0.3")
    assert code == 2
    assert "max_cost 0.3: it has 0.4, and budgets may only be raised" in err
