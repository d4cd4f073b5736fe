from benchmarking.figures.load_calls import load_calls_figure
from tests.benchmarking.figures.made_details import experiment, trial


def served(number, platform, call_ms, overhead_ms):
    service = {name: {"mean": mean, "count": 10.0} for name, mean in (("model_ms", 3.0), ("overhead_ms", overhead_ms))}
    service["loading_wait_ms"] = {"mean": 4.0, "count": 5.0}
    return trial(number, {"platform": platform, "copies": 4}, {"call_mean_ms": call_ms}, usage={"service": service})


def test_parts_of_the_mean_call_lie_upon_each_other():
    one = experiment([served(0, "onnx", 8.0, 2.5), served(1, "pt", 12.0, 4.0), trial(2, {"platform": "trt"}, {"loss": 1.0})])
    (panel,) = load_calls_figure([one]).panels
    assert list(panel.bars.categories) == ["platform onnx", "platform pt"]
    stacks = {stack.name: list(stack.values) for stack in panel.stacks}
    assert stacks == {"model": [3.0, 3.0], "model is loaded": [2.0, 2.0], "service": [0.5, 2.0], "network, client": [2.5, 5.0]}


def test_where_no_service_says_there_is_a_reason():
    assert load_calls_figure([experiment([trial(0, {"x": 1}, {"loss": 1.0})])]).notes == (
        "No service says where the time of its calls went.",
    )
