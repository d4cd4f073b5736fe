"""Several processes share one schedule."""

import asyncio
import json

import pytest

from benchmarking.workloads.load.open_loop import OpenPlan
from benchmarking.workloads.load.options import parse_options
from benchmarking.workloads.load.processes import ClientProcesses
from benchmarking.workloads.load.tally import LEVELS, LoadTally
from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, load, targets_document


def sent_by(tmp_path, processes):
    words = ("--load", "open", "--rate", 100, "--duration_s", 2, "--client_processes", processes)
    with FakeEndpoint(lambda asked: Reply()) as server:
        (found,) = load(server, tmp_path, *words, targets=targets_document(4))
        sent = [asked.target for asked in server.asked[4:]]
    assert found["requests"] == len(sent)
    assert found["error_share"] == 0.0
    # Those of warming too, by whatever process.
    assert found["calls"] == len(server.asked)
    assert found["call_mean_ms"] > 0
    return {target: sent.count(target) for target in sorted(set(sent))}


@pytest.mark.slow
def test_together_they_send_the_one_schedule(tmp_path):
    alone = sent_by(tmp_path, 1)
    assert sent_by(tmp_path, 3) == alone
    assert sum(alone.values()) == 181  # by the seed
    assert len(alone) == 4


class Worker:
    """A process of the client that is none: what it tells is written down, step by step; told to stop, it ends."""

    returncode = None

    def __init__(self, pid, told):
        self.pid, self._told, self._lines = pid, list(told), asyncio.Queue()
        self.heard = []
        self.stdin = self.stdout = self

    def write(self, line):
        message = json.loads(line)
        self.heard.append(message.get("do", "arguments"))
        if "arguments" in message:
            self.tell({"ready": True})
        elif message["do"] == "stop":
            tally = LoadTally(0.1, 10.0)
            tally.sends(0, 0.0)
            tally.answers(0, 0, 0.05, 0.05)
            client = {"cpu_share": 0.1 * self.pid, "sockets": self.pid, "socket_limit": 100}
            took = {"answered": {"calls": self.pid, "seconds": 0.5}, "seconds": 1.0 * self.pid}
            self.tell({"done": tally.as_dict(), "client": client, **took})

    def tell(self, message):
        self._lines.put_nowait(json.dumps(message).encode() + b"\n")

    async def readline(self):
        return await self._lines.get()

    def goes_on(self):
        at_s, counts = self._told.pop(0)
        self.tell({"at_s": at_s, "blocks": {"0": [*counts, *[0] * len(LEVELS)]}, "lag": None})

    def kill(self):
        self.returncode = -9

    async def wait(self):
        return self.returncode


def test_a_search_is_decided_by_all_of_them(monkeypatch):
    """Looked at is what all have told, up to where the slowest has come; what is enough stops each, once."""
    workers = [Worker(1, [(1.0, (2, 2)), (3.0, (4, 4))]), Worker(2, [(0.8, (3, 3)), (2.0, (5, 5))])]
    waiting = iter(workers)
    looks = []

    async def start(*words, **options):
        return next(waiting)

    async def settled():
        for _ in range(20):
            await asyncio.sleep(0)

    async def search():
        options = parse_options(["--slo_ms", "100", "--client_processes", "2"])
        client = ClientProcesses([], options, {})
        await client.start()

        def look(at_s, tally):
            looks.append((at_s, tally.settled_blocks(1)[0][0]))
            return looks[-1][1] >= 7

        load = asyncio.ensure_future(client.open_load(10.0, OpenPlan(0.0, 60.0, 1.0), look))
        await settled()
        for number in (0, 1, 0, 1):
            workers[number].goes_on()
            await settled()
        result = await load
        answered = client.answered
        await client.close()
        return result, answered

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    result, answered = asyncio.run(asyncio.wait_for(search(), 60))
    # Who is ahead is not looked at before the other has told: 2 and 3 up to 0.8 s are not enough, 4 and 5 up to 2 s are.
    assert looks == [(0.8, 5), (2.0, 9)]
    assert [worker.heard for worker in workers] == [["arguments", "open", "stop"]] * 2
    assert [worker.returncode for worker in workers] == [-9, -9]
    assert (result.tally.sent, result.tally.answered, result.seconds) == (2, 2, 2.0)
    assert (result.client.cpu_share, result.client.sockets, result.client.socket_limit) == (0.2, 3, 200)
    assert (answered.calls, answered.seconds) == (3, 1.0)
