from types import SimpleNamespace

from backends.emulator.faults.injector import FaultInjector
from backends.emulator.logs.delivery import LineFaults, LogDelivery, metric_finder


class Kept:
    def __init__(self):
        self.lines = []

    def append(self, stream, arrived):
        self.lines += [text for _, text in arrived]


def delivery(limit_bytes=100):
    kept, seen = Kept(), []
    loop = SimpleNamespace(clock=SimpleNamespace(now=lambda: 0.0))
    made = LogDelivery("s", kept, loop, FaultInjector([], 0, lambda: 0.0), LineFaults(), seen.append, 0.0, limit_bytes)
    return made, kept, seen


def test_control_characters_arrive_as_the_service_writes_them():
    made, kept, seen = delivery()
    made.feed(b"[0]\ttrain:0.5\r\n\x1b[31mred\x1b[0m\x00\x7f\n\nplain # 1\xff")
    made.end()
    assert kept.lines == ["[0]#011train:0.5#015", "#033[31mred#033[0m#000#177", " ", "plain # 1\ufffd"]
    assert seen[0] == "[0]#011train:0.5#015"


def test_metrics_are_looked_for_in_what_arrives():
    find = metric_finder([{"Name": "rmse", "Regex": "#011rmse:([0-9.]+)"}, {"Name": "tab", "Regex": "\trmse:([0-9.]+)"}])
    assert find("[0]#011rmse:0.25") == {"rmse": 0.25}


def test_a_line_of_megabytes_is_cut_into_events():
    made, kept, _ = delivery(limit_bytes=1 << 18)
    made.feed(b"x" * (5 << 20))
    made.feed(b"\nnext\n")
    assert [len(line) for line in kept.lines] == [*[1 << 18] * 20, 4]
