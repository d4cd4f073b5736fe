import fcntl
import json
import threading

from benchmarking.workloads.measuring.ceiling_file import CeilingFiles, key_of


def test_what_was_measured_is_not_measured_again(tmp_path):
    measured = []

    def measure():
        measured.append(1)
        return {"samples_per_s": 5.0}

    for _ in range(2):
        assert CeilingFiles(tmp_path / "ceilings").get("compute", {"batch_size": 32}, measure) == {"samples_per_s": 5.0}
    assert len(measured) == 1
    CeilingFiles(tmp_path / "ceilings").get("compute", {"batch_size": 64}, measure)
    CeilingFiles(tmp_path / "ceilings").get("decode", {"batch_size": 32}, measure)
    CeilingFiles(None).get("compute", {"batch_size": 32}, measure)
    assert len(measured) == 4


def test_a_ceiling_is_known_by_all_that_it_depends_on():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})


def test_a_torn_file_is_measured_anew(tmp_path):
    files = CeilingFiles(tmp_path)
    files.get("compute", {}, lambda: {"samples_per_s": 1.0})
    (path,) = tmp_path.glob("*.json")
    path.write_text(path.read_text()[:10])
    assert files.get("compute", {}, lambda: {"samples_per_s": 2.0}) == {"samples_per_s": 2.0}
    assert json.loads(path.read_text())["found"] == {"samples_per_s": 2.0}


def test_what_could_not_be_measured_is_tried_again(tmp_path):
    files = CeilingFiles(tmp_path)
    assert files.get("reader", {}, lambda: None) is None
    assert files.get("reader", {}, lambda: {"x": 1}) == {"x": 1}


def test_two_that_need_one_ceiling_measure_it_once(tmp_path):
    measuring, go_on, measured = threading.Event(), threading.Event(), []

    def slowly():
        measuring.set()
        assert go_on.wait(90)
        measured.append("first")
        return {"by": "first"}

    first = threading.Thread(target=lambda: CeilingFiles(tmp_path).get("store", {}, slowly))
    first.start()
    assert measuring.wait(90)
    # The second one waits; its first nap lets the first finish.
    second = CeilingFiles(tmp_path, sleep=lambda seconds: (go_on.set(), first.join(90)))
    assert second.get("store", {}, lambda: measured.append("second")) == {"by": "first"}
    assert measured == ["first"]


def test_one_that_hangs_is_not_waited_for(tmp_path):
    lock = (tmp_path / f"store-{key_of({})}.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    naps = []
    assert CeilingFiles(tmp_path, sleep=naps.append).get("store", {}, lambda: {"x": 1}) == {"x": 1}
    assert 119 < sum(naps) < 121
    lock.close()


def test_a_folder_that_cannot_be_made_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    assert CeilingFiles(tmp_path / "file").get("store", {}, lambda: {"x": 1}) == {"x": 1}
