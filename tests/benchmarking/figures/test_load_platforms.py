from benchmarking.figures.load_platforms import load_platforms_figure
from tests.benchmarking.figures.made_details import experiment, trial


def test_the_best_of_each_platform_side_by_side():
    """The notebooks' chart knows pt and trt, and ends with a KeyError where one is missing."""
    one = experiment(
        [
            trial(0, {"platform": "onnx", "copies": 1}, {"max_rate_per_s": 142.0, "latency_p50_ms": 9.0, "error_share": 0.0}),
            trial(1, {"platform": "onnx", "copies": 4}, {"max_rate_per_s": 150.0, "latency_p50_ms": 7.0, "error_share": 0.0}),
            trial(2, {"platform": "pt", "copies": 1}, {"max_rate_per_s": 120.0, "latency_p50_ms": 11.0}),
            trial(3, {"platform": "pt", "copies": 4}, {"max_rate_per_s": 900.0, "latency_p50_ms": 1.0, "error_share": 0.4}),
            trial(4, {"platform": "torch_tensorrt", "copies": 1}, {"max_models": 23}),
        ]
    )
    panels = {panel.value.title: panel for panel in load_platforms_figure([one]).panels}
    rate = panels["largest rate within the limit"]
    assert list(rate.bars.categories) == ["onnx", "pt", "torch_tensorrt"]
    assert list(rate.stacks[0].values) == [150.0, 120.0, None]
    assert list(panels["least median latency"].stacks[0].values) == [7.0, 11.0, None]
    assert list(panels["copies loaded at once"].stacks[0].values) == [None, None, 23]
    assert "cost of a million requests" not in panels


def test_where_no_platform_is_named_there_is_a_reason():
    assert load_platforms_figure([experiment([trial(0, {"x": 1}, {"loss": 1.0})])]).notes == ("No trial names a platform.",)
