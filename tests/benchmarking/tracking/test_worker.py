import io
import json

from benchmarking.tracking.worker import tell
from tests.benchmarking.tracking.told import MemoryTracker, finished


def ordered(tracker, *orders, **options):
    output = io.StringIO()
    code = tell(lambda: tracker, "the tracker", io.StringIO("".join(json.dumps(order) + "\n" for order in orders)), output, **options)
    return code, [json.loads(line) for line in output.getvalue().splitlines()]


def test_the_end_of_its_orders_is_that_of_all_controllers(tmp_path):
    folder = finished(tmp_path)
    tracker = MemoryTracker()
    assert ordered(tracker, {"follow": str(folder)}) == (0, [{"left": [], "error": ""}])
    assert len(tracker.runs) == 4


def test_a_tracker_that_is_down_at_the_end_is_not_waited_for(tmp_path):
    folder = finished(tmp_path)
    tracker = MemoryTracker(dict.fromkeys(range(1, 100), "down"))
    code, said = ordered(tracker, {"follow": str(folder)})
    assert (code, tracker.calls, said[-1]) == (1, 1, {"left": [str(folder)], "error": "down"})


def test_once_is_tried_several_times(tmp_path, monkeypatch):
    folder = finished(tmp_path)
    tracker = MemoryTracker({1: "down"})
    code, said = ordered(tracker, {"follow": str(folder)}, {"once": True})
    assert code == 0
    assert [line.get("say", "").startswith("the tracker") for line in said] == [True, True, False]
