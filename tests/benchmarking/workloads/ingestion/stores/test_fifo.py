import os
import threading

import pytest

from benchmarking.workloads.ingestion.stores.fifo import Fifo, NoWriterError


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def sleep(self, seconds):
        self.now_s += seconds


def opened(fifo, clock, epoch=0):
    return fifo.open(epoch, lambda: clock.now_s, clock.sleep)


def test_a_fifo_without_a_writer_is_given_up(tmp_path):
    os.mkfifo(tmp_path / "train_0")
    clock = Clock()
    with pytest.raises(NoWriterError, match=r"train_0: nobody writes into this FIFO after 5 s"):
        opened(Fifo(str(tmp_path / "train")), clock)
    assert clock.now_s == pytest.approx(5, abs=0.1)


def test_a_fifo_that_is_not_there_is_said_with_what_is(tmp_path):
    (tmp_path / "other").touch()
    with pytest.raises(NoWriterError, match=r"train_3: there is no such FIFO after 5 s; .* holds other;"):
        opened(Fifo(str(tmp_path / "train")), Clock(), 3)


def test_a_silent_writer_is_waited_for(tmp_path):
    path = tmp_path / "train_0"
    os.mkfifo(path)
    kept = os.open(path, os.O_RDWR)  # a writer that is there and says nothing yet
    clock = Clock()
    with opened(Fifo(str(tmp_path / "train")), clock) as stream:
        assert clock.now_s == 0
        os.write(kept, b"abc")
        os.close(kept)
        assert stream.read() == b"abc"


def test_all_that_was_written_is_read_also_of_a_writer_that_is_gone(tmp_path):
    path = tmp_path / "train_0"
    os.mkfifo(path)
    content = os.urandom(300_000)

    def write():
        with path.open("wb") as target:
            target.write(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    with Fifo(str(tmp_path / "train"), wait_s=30).open(0) as stream:
        assert stream.read() == content
    writer.join(90)


def test_a_writer_that_comes_late_is_found(tmp_path):
    path = tmp_path / "train_0"
    os.mkfifo(path)
    clock = Clock()
    kept = []

    def sleep(seconds):
        clock.sleep(seconds)
        if clock.now_s > 2 and not kept:
            kept.append(os.open(path, os.O_WRONLY))

    with Fifo(str(tmp_path / "train")).open(0, lambda: clock.now_s, sleep) as stream:
        os.write(kept[0], b"x")
        os.close(kept[0])
        assert stream.read() == b"x"
