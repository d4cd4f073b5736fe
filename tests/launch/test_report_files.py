"""figures.json beside a report has the numbers that `outrider compare --format csv` prints."""

from __future__ import annotations

import csv
import io
import json

import pytest

from launch.verbs.compare import main as compare
from launch.verbs.report import main as report

_CELL = {"better": "1, 0, 0", "tie": "0, 1, 0", "worse": "0, 0, 1", "not decided": "0, 0, 0 (1)", "one run only": "0, 0, 0 (1)"}


def number(text):
    return float(text) if text else None


def check_agreement(rows, figures):
    """Assert that figures have the numbers of a comparison by trials.

    Args:
        rows: of the CSV.
        figures: key -> figure, of figures.json.
    """
    wanted = {(row["benchmark"], row["method"]): tuple(number(row[name]) for name in ("value", "low", "high")) for row in rows}
    points = {}
    for panel in figures["final_values"]["panels"]:
        benchmark = panel["title"].partition(":")[0]
        for group in panel["points"]:
            if group["kind"] == "aggregate":
                points[benchmark, group["name"]] = (group["y"][0], group["y_low"][0], group["y_high"][0])
    assert points == wanted
    lines = {}
    for panel in figures["best_so_far_trials"]["panels"]:
        (budget,) = [line["at"] for line in panel["references"] if line["name"] == "compared here"]
        for curve in panel["curves"]:
            at = curve["x"].index(budget)
            lines[panel["title"], curve["name"]] = (curve["y"][at], *(curve[end][at] if curve[end] else None for end in ("low", "high")))
    assert lines == wanted
    for row in rows:
        seeds = [
            group
            for panel in figures["final_values"]["panels"]
            for group in panel["points"]
            if panel["title"].startswith(f"{row['benchmark']}:") and group["kind"] == "result" and group["group"] == row["method"]
        ]
        assert [len(group["y"]) for group in seeds] == [int(row["seeds"])]
        # Each seed's own curve ends at the point that it has among the final values.
        ends = {
            curve["name"]: curve["y"][-1]
            for panel in figures["seeds_trials"]["panels"]
            for curve in panel["curves"]
            if panel["title"] == row["benchmark"] and curve["group"] == row["method"]
        }
        assert ends == dict(zip(seeds[0]["texts"], seeds[0]["y"], strict=True))


@pytest.mark.slow
def test_the_figures_of_a_study_have_the_numbers_of_its_comparison(toy, run, capfd):
    words = ("--benchmark", "toy.yaml", "--method", "RS", "TPE", "--num_seeds", "3", "--max_num_trials", "3", "--experiment_tag", "c")
    code, _, err = run(*words, "--n_workers", "1", "--yes")
    assert code == 0, err
    assert report(["c", "--results_dir", str(toy.results)]) == 0
    capfd.readouterr()
    assert compare(["c", "--results_dir", str(toy.results), "--format", "csv", "--x", "trials"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert [(row["method"], row["seeds"], row["budget"]) for row in rows] == [
        ("RS", "3", "after 3 trials"),
        ("TPE", "3", "after 3 trials"),
    ]
    known = json.loads((toy.results / "c" / "figures.json").read_text(encoding="utf-8"))
    figures = {figure["key"]: figure for figure in known["figures"]}
    check_agreement(rows, figures)
    (matrix,) = figures["matrix"]["panels"]
    assert matrix["texts"][1][0] == _CELL[rows[1]["verdict"]]
    # Every job of the first seeds is on the time line, though the shortest only start, and every trial's two epochs on the learning curves.
    told = [{span["text"][:7] for span in panel["spans"] if span["text"]} for panel in figures["time_line"]["panels"]]
    assert told == [{"trial 0", "trial 1", "trial 2"}] * 2
    assert [[curve["x"] for curve in panel["curves"]] for panel in figures["learning_curves"]["panels"]] == [[[1.0, 2.0]] * 3] * 2
    assert figures["failures"]["notes"] == ["None of 18 jobs failed."]
