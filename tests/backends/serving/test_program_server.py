"""Servers that are one program: what is said of one that ends, or is never ready, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from backends.serving.base import ServerFailedError, ServerOptions
from backends.serving.program import ServerProgram
from backends.serving.program_server import ProgramServer

pytestmark = pytest.mark.slow


def failing(tmp_path, code, start_s):
    """Return the server of a program that serves nothing, and what was said of it."""

    class Fake(ProgramServer):
        name, health = "fake", "/ping"
        started = ()
        load = unload = resident = invoke = None

        async def begin(self, options):
            program = ServerProgram([sys.executable, "-u", "-c", code], dict(os.environ), options)
            self.started = program.pids()
            return program, 1  # a port at which nobody listens

    server = Fake()
    options = ServerOptions(folder=tmp_path / "server", log=tmp_path / "server.log", start_s=start_s)
    with pytest.raises(ServerFailedError) as caught:
        asyncio.run(server.start(options))
    return server, str(caught.value)


def test_one_that_ends_is_told_with_its_last_words(tmp_path):
    server, said = failing(tmp_path, "print('no such library')", 60.0)
    assert said.startswith("the server fake did not start: ")
    assert "no such library" in said
    assert server.has_ended()
    assert not server.pids()


def test_one_that_is_never_ready_is_ended(tmp_path):
    server, said = failing(tmp_path, "import time; time.sleep(600)", 1.0)
    assert said.startswith("the server fake was not ready within 1 s: ")
    assert server.has_ended()
    (pid,) = server.started
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_one_that_was_not_started_says_so_and_is_stopped_as_it_is(tmp_path):
    class Fake(ProgramServer):
        name = "fake"
        load = unload = resident = invoke = None

    server = Fake()
    with pytest.raises(ServerFailedError, match="the server fake was not started"):
        asyncio.run(server.ready())
    asyncio.run(server.stop())
    assert server.has_ended()
