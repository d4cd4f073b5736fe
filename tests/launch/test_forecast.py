"""`outrider forecast`: forms of the answer, sources, and wrong use."""

import csv
import io
import json

import pytest

from benchmarking.forecasting.model.billing import tables
from definitions.errors import UserError
from launch.verbs.forecast import _region_of, main, make_parser

HEADER = "configuration,fraction,repeat,startup_s,train_s,total_s,rss_bytes,instance_type\n"
FIELDS = ["configuration", "metric", "median", "lo80", "hi80", "lo90", "hi90", "status", "why"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "canaries.csv"
    rows = [
        f"{name},{f},{r},{20 + r},{k * f * (1 + 0.02 * r)},{20 + r + k * f * (1 + 0.02 * r)},{int(1e9 + 2e9 * f)},ml.m5.large"
        for name, k in (("small", 1000), ("large", 500))
        for f, r in ((0.01, 0), (0.01, 1), (0.03, 0), (0.03, 1), (0.1, 0))
    ]
    path.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_json_is_a_list_of_forecasts_with_exactly_these_fields(table, capsys):
    assert main([str(table), "--at", "1.0", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(list(one) == sorted(FIELDS) or set(one) == set(FIELDS) for one in found)
    totals = {one["configuration"]: one for one in found if one["metric"] == "total_s"}
    assert totals["small"]["median"] == pytest.approx(1030, rel=0.05)
    assert totals["large"]["median"] == pytest.approx(527, rel=0.05)
    assert totals["small"]["status"] == "ok"
    assert {one["metric"] for one in found} == {"total_s", "train_s", "rss_bytes", "cost_usd"}


def test_prices_are_those_of_the_region_that_the_environment_names(table, capsys, monkeypatch, tmp_path):
    (tmp_path / "prices.csv").write_text(
        "instance_type,region,usd_per_hour,date,source\nml.m5.large,us-east-1,4,2030-01-01,t\nml.m5.large,eu-north-1,0.4,2030-01-01,t\n"
    )
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "prices.csv"))
    tables.cache_clear()

    def usd(*words):
        main([str(table), "--format", "json", *words])
        found = json.loads(capsys.readouterr().out)
        return next(one["median"] for one in found if (one["configuration"], one["metric"]) == ("small", "cost_usd"))

    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    north = usd()
    assert usd("--region", "us-east-1") == pytest.approx(10 * north)
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert usd() == pytest.approx(north)
    tables.cache_clear()


def test_it_says_whether_it_is_calibrated(table, capsys, tmp_path):
    main([str(table), "--explain", "--results_dir", str(tmp_path / "nothing")])
    assert "not calibrated: no job has been run in full" in capsys.readouterr().err


def test_csv_has_the_same_columns(table, capsys):
    main([str(table), "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == FIELDS
    assert len(rows) == 8


def test_the_table_is_readable_and_half_the_job_is_half_the_work(table, capsys):
    main([str(table), "--at", "0.5"])
    text = capsys.readouterr().out
    assert "80 % interval" in text
    assert "GiB" in text
    main([str(table), "--at", "0.5", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert next(one for one in found if one["metric"] == "train_s")["median"] == pytest.approx(505, rel=0.06)


def test_explain_says_what_drives_the_width_and_what_a_canary_buys(table, capsys):
    main([str(table), "--explain"])
    said = capsys.readouterr().out
    assert "small: the width of its time comes from" in said
    assert "small: the width of its memory comes from" in said
    assert "small: the width of its cost comes from" in said
    assert "one run at fraction 0.333333" in said
    assert "80 % interval from x/" in said
    assert "$" in said


def test_explanations_are_in_json_and_csv_too(table, capsys):
    main([str(table), "--explain", "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    memory = next(one for one in found if (one["configuration"], one["metric"]) == ("small", "rss_bytes"))
    assert sum(memory["width_from"].values()) == pytest.approx(1.0)
    assert memory["next_half_after"] < 0.9 * memory["next_half_before"]
    assert memory["next_s"] > 20
    assert memory["next_usd"] == pytest.approx(memory["next_s"] / 3600 * 0.115, rel=0.01)
    main([str(table), "--explain", "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    explained = [
        "width_from",
        "prefix_share",
        "prefix_s",
        "next_kind",
        "next_fraction",
        "next_s",
        "next_usd",
        "next_half_before",
        "next_half_after",
    ]
    assert list(rows[0]) == [*FIELDS, *explained]
    again = next(one for one in rows if (one["configuration"], one["metric"]) == ("small", "rss_bytes"))
    assert float(again["next_half_after"]) == pytest.approx(memory["next_half_after"])
    assert again["width_from"].startswith("memory that must still grow ")


def test_prices_are_those_of_the_region_that_the_runs_were_of(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("launch.verbs.forecast._results_of", lambda source, results_dir: tmp_path)
    monkeypatch.setattr("benchmarking.forecasting.data.results_folder.regions_of", lambda folder: regions)
    asked = make_parser().parse_args([str(tmp_path)])
    regions = ["eu-west-1"]
    assert asked.region is None
    assert _region_of(asked) == "eu-west-1"
    regions = ["eu-west-1", "us-east-1"]
    assert _region_of(asked) is None
    assert "--region names" in capsys.readouterr().err


def test_prices_can_be_given(table, capsys):
    main([str(table), "--format", "json", "--price", "ml.m5.large=3.6"])
    found = json.loads(capsys.readouterr().out)
    assert next(one for one in found if one["metric"] == "cost_usd")["median"] == pytest.approx(1.03, rel=0.05)


def test_scale_out_needs_two_numbers_of_instances(tmp_path, capsys):
    path = tmp_path / "scale.csv"
    rows = [f"a,{f},0,{20 + 2400 * f / m + 5 * m},{m}" for m in (1, 2, 4) for f in (0.1, 0.2)]
    path.write_text("configuration,fraction,repeat,total_s,instance_count\n" + "\n".join(rows) + "\n", encoding="utf-8")
    main([str(path), "--instances", "8", "--format", "json"])
    total = next(one for one in json.loads(capsys.readouterr().out) if one["metric"] == "total_s")
    assert "Ernest" in total["why"]
    assert total["lo90"] < 20 + 2400 / 8 + 40 < total["hi90"]
    path.write_text("configuration,fraction,total_s,instance_count\na,0.1,20,1\n", encoding="utf-8")
    with pytest.raises(UserError, match="measured on 1 only"):
        main([str(path), "--instances", "8"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "0"], "above 0"),
        (["--at", "nan"], "above 0"),
        (["--price", "ml.m5.large"], "TYPE=USD"),
        (["--price", "ml.m5.large=-1"], "TYPE=USD"),
        (["--instances", "0"], "nothing would run"),
        (["--billed_startup", "-1"], "0 or more"),
    ],
)
def test_wrong_use_is_told(table, words, message):
    with pytest.raises(UserError, match=message):
        main([str(table), *words])


def test_a_table_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        main([str(tmp_path / "none.csv")])
    with pytest.raises(UserError, match="there are no results"):
        main([str(tmp_path)])


@pytest.mark.slow
def test_a_tag_and_a_file_of_an_experiment_are_understood(toy, run, capfd):
    toy.define(fidelity="{kind: per_job, argument: epochs, ladder: [2, 4], full: 8}", space="{x: {choice: [0.1, 0.2]}}")
    code, _, _ = run("--benchmark", "toy.yaml", "--method", "CANARY", "--experiment_tag", "ladder", "--max_num_trials", "9")
    assert code == 0
    capfd.readouterr()
    folder = toy.experiment("ladder", "CANARY")
    answers = set()
    for source in ("ladder", str(folder), f"{folder}/trials.csv", f"{folder}/forecasts.csv"):
        main([source, "--format", "json"])
        answers.add(capfd.readouterr().out)
    (answer,) = answers
    assert {one["configuration"] for one in json.loads(answer)} == {"x=0.1", "x=0.2"}


def test_a_name_that_is_no_tag_is_said_to_be_none(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(UserError, match="there is no tag nothere in results either"):
        main(["nothere"])


BAD = {
    "one fraction only": ["a,0.02,0,20,20,40,,", "a,0.02,1,20,21,41,,"],
    "all repeats equal": [f"a,{f},{r},20,{1000 * f},{20 + 1000 * f},," for f in (0.01, 0.03) for r in (0, 1)],
    "times that fall": ["a,0.01,0,,,300,,", "a,0.02,0,,,200,,", "a,0.03,0,,,150,,"],
    "a single row": ["a,0.05,0,20,50,70,,"],
    "NaN": ["a,0.01,0,nan,10,30,nan,", "a,0.03,0,20,nan,50,,"],
    "a train phase longer than its total": ["a,0.01,0,20,500,30,,", "a,0.03,0,20,30,50,,"],
    "duplicated rows": ["a,0.01,0,20,10,30,,"] * 3,
    "an unknown instance type": [f"a,{f},0,20,{1000 * f},{20 + 1000 * f},1e9,ml.zz9.xlarge" for f in (0.01, 0.03, 0.1)],
    "no instance type": [f"a,{f},0,20,{1000 * f},{20 + 1000 * f},1e9," for f in (0.01, 0.03, 0.1)],
}


@pytest.mark.parametrize("rows", BAD.values(), ids=list(BAD))
def test_poor_tables_are_answered_in_strict_json_and_with_a_status(tmp_path, capsys, rows):
    path = tmp_path / "poor.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    assert main([str(path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    total = next(one for one in found if one["metric"] == "total_s")
    assert total["status"] in ("ok", "wide", "not decided", "does not fit")
    assert total["lo90"] <= total["lo80"] <= total["median"] <= total["hi80"] <= total["hi90"]
    cost = [one for one in found if one["metric"] == "cost_usd"]
    assert all(one["median"] is None and one["status"] == "not decided" for one in cost)
    assert bool(cost) == any("zz9" in row for row in rows)


def test_stopped_rows_alone_are_not_decided(tmp_path, capsys):
    path = tmp_path / "stopped.csv"
    path.write_text("configuration,fraction,total_s,status\na,0.01,1,Stopped\na,0.02,2,Failed\n", encoding="utf-8")
    assert main([str(path), "--format", "json"]) == 0
    (only,) = json.loads(capsys.readouterr().out)
    assert (only["median"], only["status"]) == (None, "not decided")
