"""What lies on a node between Ray and the process that runs jobs; here without Ray."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from pathlib import Path

import pytest

from backends.events import Closed, Reported
from backends.failures import Outcome
from backends.job_spec import JobSpec
from backends.processes.node_messages import FinishJobs, NodeSettings, StartJob, batch_of, framed
from backends.ray.agent import NodeAgent

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


@pytest.fixture
def agent(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return NodeAgent("scratch", str(ROOT))


def archive(**files: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"{name}.py")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def test_messages_come_in_order_and_batches_once_until_they_are_settled(agent):
    code = archive(main="from outrider_report import report\nreport(epoch=1)\n")
    spec = JobSpec("one", 0, 1, "/gone/main.py", instance_type="ray.1cpu", source_dir="/gone")
    agent.tell(3, framed(FinishJobs(5.0)))
    agent.tell(2, framed(StartJob(spec, 1, source="content/abc")), "abc", code)
    agent.tell(1, framed(NodeSettings("experiments/toy", "token-of-an-agents-test", 5.0)))
    agent.tell(2, framed(StartJob(spec, 1, source="content/abc")))
    batches, taken = [], 0
    while not batches or batches[-1].survivors is None:
        found = agent.take(0, taken, 60.0)
        assert found, "nothing came in a minute"
        batches += [batch_of(content) for _, content in found]
        taken = found[-1][0]
    ends = [event for batch in batches for event in batch.events if isinstance(event, Closed)]
    assert [end.job for end in ends] == ["one"]
    # A connection that was lost asks again: nothing of what is not settled is missing, nothing of what is comes again.
    assert [number for number, _ in agent.take(0, 0, 0.0)] == list(range(1, taken + 1))
    with pytest.raises(RuntimeError, match="has ended"):
        agent.take(taken, taken, 60.0)
    assert not any(isinstance(event, Reported) and event.sequence > 0 for batch in batches for event in batch.events)


def test_a_disk_without_room_is_told(agent, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(agent, "put", full)
    agent.tell(1, b"", "abc", b"")
    with pytest.raises(RuntimeError, match="No space left on device"):
        agent.take(0, 0, 60.0)
    monkeypatch.undo()
    agent.tell(1, framed(NodeSettings("experiments/toy", "token-of-an-agents-test", 5.0)))
    agent.tell(2, framed(FinishJobs(0.0)))


def test_what_could_not_be_unpacked_leaves_nothing(agent, tmp_path, monkeypatch):
    def full(self, path, **_):
        Path(path, "half").write_text("x")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tarfile.TarFile, "extractall", full)
    with pytest.raises(OSError, match="No space left on device"):
        agent.put("abc", archive(main="x = 1\n"))
    monkeypatch.undo()
    assert [*(tmp_path / f"scratch-{os.getuid()}" / "content").iterdir()] == []
    agent.tell(1, framed(NodeSettings("experiments/toy", "token-of-an-agents-test", 5.0)))
    agent.tell(2, framed(FinishJobs(0.0)))


def test_what_its_process_says_at_its_end_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "old" / "backends").mkdir(parents=True)
    (tmp_path / "old" / "backends" / "__init__.py").write_text("raise ImportError('of another version')\n")
    agent = NodeAgent("scratch", str(tmp_path / "old"))
    with pytest.raises(RuntimeError, match=r"has ended: .*of another version"):
        agent.take(0, 0, 60.0)


def test_whoever_leaves_the_scratch_folder_last_deletes_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    agents = [NodeAgent("shared", str(ROOT)) for _ in range(2)]
    (scratch,) = [path for path in tmp_path.iterdir() if path.name.startswith("shared-")]
    for number, agent in enumerate(agents):
        agent.tell(1, framed(NodeSettings(f"experiments/toy/node{number}", f"token-of-an-agents-test-{number}", 5.0)))
        assert agent.take(0, 0, 60.0), "it said nothing in a minute"
    assert (scratch / "experiments" / "toy" / "node0").is_dir()
    for agent, left in ((agents[0], ["node1"]), (agents[1], None)):
        agent.tell(2, framed(FinishJobs(0.0)))
        with pytest.raises(RuntimeError, match="has ended"):
            agent.take(9, 9, 60.0)
        assert left == ([path.name for path in (scratch / "experiments" / "toy").iterdir()] if scratch.exists() else None)


def test_a_scratch_folder_that_is_a_link_to_another_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "mine").mkdir()
    (tmp_path / f"scratch-{os.getuid()}").symlink_to(tmp_path / "mine")
    with pytest.raises(RuntimeError, match="belongs to another user of this node, or is no folder"):
        NodeAgent("scratch", str(ROOT))
    assert [*(tmp_path / "mine").iterdir()] == []


def test_a_folder_is_unpacked_while_others_are_answered(agent, monkeypatch):
    put, may_go_on = agent.put, threading.Event()

    def slow(digest: str, archive: bytes) -> str:
        assert may_go_on.wait(60.0)
        return put(digest, archive)

    monkeypatch.setattr(agent, "put", slow)
    agent.tell(1, framed(NodeSettings("experiments/toy", "token-of-an-agents-test", 5.0)))
    telling = threading.Thread(target=agent.tell, args=(3, framed(FinishJobs(0.0)), "abc", archive(main="")))
    telling.start()
    assert agent.take(0, 0, 60.0), "it said nothing in a minute"
    may_go_on.set()
    telling.join()
    agent.tell(2, framed(FinishJobs(0.0)))
    with pytest.raises(RuntimeError, match="has ended"):
        agent.take(9, 9, 60.0)


def test_a_nodes_own_path_of_modules_is_kept_after_ours(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("backends.ray.agent.environment_of_node", lambda: {**os.environ, "PYTHONPATH": str(tmp_path / "own")})
    (tmp_path / "own" / "backends").mkdir(parents=True)
    (tmp_path / "own" / "backends" / "__init__.py").write_text("raise ImportError('of the node')\n")
    (tmp_path / "own" / "of_the_node.py").write_text("")
    (tmp_path / "main.py").write_text("import of_the_node\nfrom outrider_report import report\nreport(epoch=1)\n")
    agent = NodeAgent("scratch", str(ROOT))
    agent.tell(1, framed(NodeSettings("experiments/toy", "token-of-an-agents-test", 5.0)))
    agent.tell(2, framed(StartJob(JobSpec("one", 0, 1, str(tmp_path / "main.py"), instance_type="ray.1cpu"), 1)))
    ends, taken = [], 0
    while not ends:
        found = agent.take(0, taken, 60.0)
        assert found, "nothing came in a minute"
        ends = [event for _, content in found for event in batch_of(content).events if isinstance(event, Closed)]
        taken = found[-1][0]
    assert ends[0].outcome is Outcome.COMPLETED, ends
    agent.tell(3, framed(FinishJobs(0.0)))
    with pytest.raises(RuntimeError, match="has ended"):
        agent.take(99, 99, 60.0)
