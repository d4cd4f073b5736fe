from benchmarking.figures.load_curves import load_curves_figure
from benchmarking.figures.load_reports import load_point
from tests.benchmarking.figures.made_details import experiment, trial


def probe(rate, achieved, p99, errors=0.0, verdict="passed"):
    values = {"achieved_per_s": achieved, "latency_p50_ms": p99 / 4, "latency_p99_ms": p99, "error_share": errors}
    return load_point({"probe_rate_per_s": rate, "probe_verdict": verdict, **{f"probe_{name}": value for name, value in values.items()}})


def stage(users, achieved, p99):
    return load_point(
        {"stage": 1, "users": users, "achieved_per_s": achieved, "latency_p50_ms": 1.0, "latency_p99_ms": p99, "error_share": 0.0}
    )


def under_load(loads, configurations):
    trials = [trial(number, configuration, {}) for number, configuration in enumerate(configurations)]
    return experiment(trials, loads=loads)


def test_a_line_for_each_deployment_in_order_of_load():
    one = under_load(
        {0: [probe(100, 99, 8), probe(400, 210, 900, 0.25, "failed"), probe(200, 199, 20)], 1: [probe(100, 100, 4)]},
        [{"platform": "onnx", "copies": 4}, {"platform": "pt", "copies": 4}],
    )
    rate, latency, errors = load_curves_figure([one]).panels
    assert [curve.name for curve in rate.curves] == ["platform onnx", "platform pt"]
    assert (list(rate.curves[0].x), list(rate.curves[0].y)) == ([100, 200, 400], [99, 199, 210])
    assert [(curve.name, list(curve.y)) for curve in latency.curves if curve.name.endswith("onnx, p99")] == [
        ("platform onnx, p99", [8, 20, 900])
    ]
    assert latency.y.log
    assert list(errors.curves[0].y) == [0, 0, 25]
    assert (rate.x.title, rate.x.unit) == ("rate asked for", "1/s")


def test_users_have_panels_of_their_own_and_a_probe_that_was_repeated_is_its_last():
    one = under_load({0: [stage(10, 30, 5), probe(50, 20, 3), probe(50, 49, 3)]}, [{"platform": "onnx"}])
    figure = load_curves_figure([one])
    assert [panel.x.title for panel in figure.panels] == ["users"] * 3 + ["rate asked for"] * 3
    assert list(figure.panels[3].curves[0].y) == [49]


def test_many_deployments_are_cut_and_none_has_a_reason():
    loads = {number: [probe(10, 10, 1)] for number in range(20)}
    figure = load_curves_figure([under_load(loads, [{"copies": number} for number in range(20)])])
    assert len(figure.panels[0].curves) == 12
    assert "the first 12 of 20" in figure.notes[0]
    assert load_curves_figure([experiment()]).notes == ("No trial put load on an endpoint.",)


def test_other_reports_are_no_points():
    assert load_point({"rung": 1, "max_rate_per_s": 5.0, "achieved_per_s": 4.9}) is None
    assert load_point({"epoch": 1, "users": "many", "achieved_per_s": 3.0}) is None
