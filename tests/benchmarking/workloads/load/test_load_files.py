import json

from benchmarking.workloads.load.histogram import LatencyHistogram
from benchmarking.workloads.load.load_files import LoadFiles
from benchmarking.workloads.load.tally import LoadTally


def tally(latencies):
    made = LoadTally(0.1, 5.0)
    for latency_s in latencies:
        made.sends(0, 0.0)
        made.answers(0, 0, latency_s, latency_s)
    return made


def test_files_of_parts_hold_their_counts_whole(tmp_path):
    environ = {"SM_OUTPUT_DATA_DIR": str(tmp_path)}
    files = LoadFiles.of_job(environ, {"platform": "onnx"})
    files.write("probe", {"rate": 5.0, "more_s": float("inf")}, {"latency_p50_ms": 1.0}, tally([0.01, 0.02]))
    LoadFiles.of_job(environ, {"platform": "onnx"}).write("probe", {"rate": 10.0}, {}, tally([0.03]))  # the next incarnation
    paths = sorted((tmp_path / "load").iterdir())
    assert [path.name for path in paths] == ["part-0001.json", "part-0002.json"]
    held = [json.loads(path.read_text()) for path in paths]
    assert (held[0]["platform"], held[0]["rate"], held[0]["more_s"]) == ("onnx", 5.0, None)
    merged = LatencyHistogram()
    for one in held:
        merged.merge(LatencyHistogram.from_dict(one["counts"]["latency"]["warm"]))
    assert merged.as_dict() == tally([0.01, 0.02, 0.03]).latency["warm"].as_dict()


def test_where_no_files_are_wanted_or_can_be_there_are_none(tmp_path):
    LoadFiles.of_job({}, {}).write("open", {}, {}, tally([0.01]))
    (tmp_path / "load").write_text("a file in the way")
    LoadFiles.of_job({"SM_OUTPUT_DATA_DIR": str(tmp_path)}, {}).write("open", {}, {}, tally([0.01]))
    assert (tmp_path / "load").read_text() == "a file in the way"
