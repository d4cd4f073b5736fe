"""A job's output: copied to its log whole, and searched for reports."""

import os

import pytest

from backends.common.job_output import CHUNK_BYTES, Output

REPORT = b'[outrider-report] {"loss": 1.5}\n'


@pytest.fixture
def pipe(tmp_path):
    """The pipe's writing end, and what reads it into a log."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    return writing, Output(reading, tmp_path / "log"), tmp_path / "log"


def values(reports):
    return [dict(report.metrics) for report in reports]


def test_what_is_there_is_taken_and_nothing_is_waited_for(pipe):
    writing, output, log = pipe
    assert output.take() == []
    os.write(writing, b'one\n[tune-metric]: {"loss": 1.5}\n')
    assert values(output.take()) == [{"loss": 1.5}]
    assert log.read_bytes() == b'one\n[tune-metric]: {"loss": 1.5}\n'
    assert not output.at_end


def test_so_many_chunks_are_taken_at_a_time(pipe):
    writing, output, log = pipe
    os.set_blocking(writing, False)
    text = b"x" * CHUNK_BYTES
    assert os.write(writing, text) == CHUNK_BYTES  # a pipe holds one chunk
    output.take(0)
    assert log.stat().st_size == 0
    output.take()
    assert log.stat().st_size == CHUNK_BYTES


def test_the_end_gives_a_last_line_without_an_end_once(pipe):
    writing, output, _ = pipe
    os.write(writing, b'[tune-metric]: {"loss": 2.5}')
    assert output.take() == []
    os.close(writing)
    assert values(output.take(3)) == [{"loss": 2.5}]
    assert output.at_end
    assert output.take() == []
    assert output.close() == []


def test_closing_before_the_end_gives_the_last_line_too(pipe):
    writing, output, _ = pipe
    os.write(writing, b'[tune-metric]: {"loss": 2.5}')
    output.take()
    assert values(output.close()) == [{"loss": 2.5}]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(output.descriptor)
    os.close(writing)


def test_a_log_that_cannot_be_written_costs_its_bytes_and_no_report(tmp_path):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    output = Output(reading, tmp_path)  # a folder
    os.write(writing, b'[tune-metric]: {"loss": 1.5}\n')
    assert values(output.take()) == [{"loss": 1.5}]
    assert output.log.lost_bytes == len(b'[tune-metric]: {"loss": 1.5}\n')
    os.close(writing)
    output.close()


def test_a_full_disk_is_counted(tmp_path):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    (tmp_path / "log").symlink_to("/dev/full")
    output = Output(reading, tmp_path / "log")
    os.write(writing, b"lost\n")
    output.take()
    assert output.log.lost_bytes == 5
    os.close(writing)
    output.close()


def test_a_log_is_appended_to(tmp_path):
    (tmp_path / "log").write_text("before\n")
    reading, writing = os.pipe()
    output = Output(reading, tmp_path / "log")
    os.write(writing, b"after\n")
    os.close(writing)
    output.take()
    assert (tmp_path / "log").read_text() == "before\nafter\n"
    output.close()


def test_a_pipe_that_cannot_be_read_is_at_its_end(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    output = Output(os.open(tmp_path, os.O_RDONLY), tmp_path / "log")  # reading a folder fails
    assert output.take() == []
    assert output.at_end
