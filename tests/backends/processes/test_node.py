"""The process that runs jobs for a controller elsewhere: what it is told, what it tells, and what is left of it."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backends.common import process_tree
from backends.events import Accepted, Closed, Ended, Noted, Reported, Started
from backends.failures import Cause, Outcome
from backends.job_input import JobInput
from backends.job_spec import JobSpec
from backends.processes.node_messages import (
    FinishJobs,
    FrameBuffer,
    NodeBatch,
    NodeSettings,
    StartJob,
    StopJob,
    batch_of,
    framed,
)

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
REPORTS = "from outrider_report import report\nprint('hello')\nfor k in (1, 2):\n    report(epoch=k)\n"
ENDLESS = "import signal, time\nfrom outrider_report import report\n{}report(epoch=1)\nwhile True:\n    time.sleep(60)\n"


class Node:
    """One such process."""

    def __init__(self, folder: Path, preload: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "backends.processes.node"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.batches: list[NodeBatch] = []
        self.frames = FrameBuffer()
        self.tell(NodeSettings(str(folder / "node"), "token-of-a-test-node", grace_s=2.0, preload=preload))

    def tell(self, message) -> None:
        self.process.stdin.write(framed(message))
        self.process.stdin.flush()

    def until(self, done) -> list[NodeBatch]:
        """Read batches until a condition on all of them holds."""
        while not done(self.batches):
            piece = self.process.stdout.read1()
            assert piece, self.batches
            self.batches.extend(map(batch_of, self.frames.feed(piece)))
        return self.batches

    def events(self, kind):
        return [event for batch in self.batches for event in batch.events if isinstance(event, kind)]

    def job(self, name: str, code: str, **fields) -> JobSpec:
        script = self.folder / f"{name}.py"
        script.write_text(code)
        return JobSpec(name=name, trial=0, attempt=1, script=str(script), instance_type="some.1cpu", **fields)


@pytest.fixture
def node(tmp_path, request):
    made = Node(tmp_path, getattr(request, "param", ()))
    yield made
    made.process.stdin.close()
    made.process.wait(30)
    made.process.stdout.close()


def has(kind, count=1):
    return lambda batches: sum(isinstance(event, kind) for batch in batches for event in batch.events) >= count


def test_a_job_is_run_and_told_of_with_what_it_printed(node):
    node.tell(StartJob(node.job("one", REPORTS), cores=1))
    node.until(has(Closed))
    kinds = [type(event) for batch in node.batches for event in batch.events]
    assert kinds == [Accepted, Started, Reported, Reported, Ended, Closed]
    assert node.events(Closed)[0].outcome is Outcome.COMPLETED
    said = b"".join(piece.text for batch in node.batches for piece in batch.logs if piece.job == "one")
    assert said == (node.folder / "node" / "logs" / "one.log").read_bytes()
    assert said.startswith(b"hello\n")
    assert all(batch.is_urgent for batch in node.batches if any(isinstance(event, Closed) for event in batch.events))


def test_a_job_finds_its_source_where_it_was_put(node, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "main.py").write_text(
        "import sys, helper\nfrom outrider_report import report\nreport(epoch=helper.VALUE, said=sys.argv[1])\n"
    )
    (tmp_path / "there" / "helper.py").write_text("VALUE = 7\n")
    spec = JobSpec("one", 0, 1, "/gone/main.py", ("/gone/main.py",), instance_type="some.1cpu", source_dir="/gone")
    node.tell(StartJob(spec, cores=1, source=str(tmp_path / "there")))
    node.until(has(Closed))
    assert node.events(Reported)[0].metrics == {"epoch": 7, "said": str(tmp_path / "there" / "main.py")}


def test_data_that_are_not_on_the_machine_are_said(node):
    channel = JobInput("train", "images", "files", "local", "files", "/nowhere/images")
    node.tell(StartJob(node.job("one", REPORTS, inputs=(channel,)), cores=1))
    node.until(has(Closed))
    end = node.events(Closed)[0]
    assert (end.outcome, end.cause) == (Outcome.FAILED, Cause.BAD_REQUEST)
    assert "train (/nowhere/images)" in end.message


def test_a_stop_ends_a_script_that_takes_no_notice(node):
    node.tell(StartJob(node.job("one", ENDLESS.format("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n")), cores=1))
    node.until(has(Reported))
    node.tell(StopJob("one", Cause.SCHEDULER))
    node.tell(StopJob("unknown", Cause.SCHEDULER))
    node.until(has(Closed))
    assert (node.events(Closed)[0].outcome, node.events(Closed)[0].cause) == (Outcome.STOPPED, Cause.SCHEDULER)


@pytest.mark.parametrize("node", [("wave",)], indirect=True)
def test_jobs_are_forked_where_modules_are_preloaded_and_it_is_said_what_is_not(node):
    node.tell(StartJob(node.job("one", "import sys\nfrom outrider_report import report\nreport(epoch='wave' in sys.modules)\n"), cores=1))
    node.until(has(Closed))
    assert node.events(Noted) == []
    assert node.events(Reported)[0].metrics == {"epoch": True}
    shell = node.folder / "two.sh"
    shell.write_text("echo '[tune-metric]: {\"epoch\": 1}'\n")
    node.tell(StartJob(JobSpec("two", 0, 1, "", command=("sh", str(shell)), instance_type="some.1cpu"), cores=1))
    node.until(has(Closed, 2))
    assert "sh is no Python script or module that could be forked" in node.events(Noted)[0].text


def pid_of(node: Node) -> int:
    return int((node.folder / "pid").read_text())


def writes_its_number(folder: Path) -> str:
    return ENDLESS.format(f"import os\nopen({str(folder / 'pid')!r}, 'w').write(str(os.getpid()))\n")


@pytest.mark.parametrize("end", ["told", "input"])
def test_its_end_is_that_of_its_jobs(node, tmp_path, end):
    node.tell(StartJob(node.job("one", writes_its_number(tmp_path)), cores=1))
    node.until(has(Reported))
    if end == "told":
        node.tell(FinishJobs(1.0))
    else:
        node.process.stdin.close()
    node.until(lambda batches: batches[-1].survivors is not None)
    assert node.batches[-1].survivors == ()
    assert node.events(Closed)[0].cause is Cause.INTERRUPTED
    assert process_tree.read_process(pid_of(node)) is None


def test_its_death_is_that_of_its_jobs(node, tmp_path):
    node.tell(StartJob(node.job("one", writes_its_number(tmp_path)), cores=1))
    node.until(has(Reported))
    descriptor = os.pidfd_open(pid_of(node))
    node.process.send_signal(signal.SIGKILL)
    assert select.select([descriptor], [], [], 60)[0]
    os.close(descriptor)


def test_messages_are_put_together_from_pieces():
    content = framed(FinishJobs(1.0)) + framed(StopJob("one", Cause.BUDGET))
    frames = FrameBuffer()
    found = [one for at in range(0, len(content), 7) for one in frames.feed(content[at : at + 7])]
    assert [pickle.loads(one) for one in found] == [FinishJobs(1.0), StopJob("one", Cause.BUDGET)]
