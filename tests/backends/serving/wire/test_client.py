"""Client and listener over the loopback: kept connections, answers that are late or cut off, requests that are none."""

from __future__ import annotations

import asyncio

import pytest

from backends.serving.wire.client import LoopbackClient, NoAnswerError, status_of
from backends.serving.wire.listener import HttpReply, listen, port_of

pytestmark = pytest.mark.slow


async def echo(method, path, message):
    if path == "/fault":
        raise KeyError("lost")
    return HttpReply(200, message.body, "text/plain", {"X-Path": path})


def with_server(handler, use):
    async def run():
        server = await listen(handler, 0, 1000)
        try:
            return await use(port_of(server))
        finally:
            server.close()

    return asyncio.run(run())


def test_one_connection_serves_one_request_after_another():
    peers = set()

    async def use(port):
        client = LoopbackClient(port)
        found = [await client.ask("POST", "/a", bytes([65 + number]) * number) for number in range(3)]
        found += await asyncio.gather(*(client.ask("POST", "/b", b"x") for _ in range(3)))
        peers.add(len(client._idle))  # noqa: SLF001 (how many connections were made shows nowhere else)
        client.close()
        return found

    found = with_server(echo, use)
    assert [message.body for message in found] == [b"", b"B", b"CC", b"x", b"x", b"x"]
    assert found[0].headers["x-path"] == "/a"
    assert peers == {3}


def test_a_fault_of_the_handler_is_an_answer():
    async def use(port):
        client = LoopbackClient(port)
        found = await client.ask("GET", "/fault"), await client.ask("GET", "/")
        client.close()
        return found

    fault, after = with_server(echo, use)
    assert (status_of(fault), b"KeyError" in fault.body, status_of(after)) == (500, True, 200)


def test_no_answer_in_time_and_none_at_all_are_said():
    async def never(method, path, message):
        await asyncio.sleep(60)
        return HttpReply(200)

    async def use(port):
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.05 s"):
            await LoopbackClient(port).ask("GET", "/", timeout_s=0.05)

    with_server(never, use)
    with pytest.raises(NoAnswerError, match="GET /"):
        asyncio.run(LoopbackClient(1).ask("GET", "/"))


def raw(answer):
    async def run():
        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        try:
            return await LoopbackClient(server.sockets[0].getsockname()[1]).ask("GET", "/")
        finally:
            server.close()

    return asyncio.run(run())


def test_an_answer_that_is_cut_off_is_none():
    with pytest.raises(NoAnswerError, match="cut off"):
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
    with pytest.raises(NoAnswerError, match="before the answer"):
        raw(b"")
    assert raw(b"HTTP/1.0 200 OK\r\n\r\nabc").body == b"abc"


def test_what_is_no_request_is_refused_and_the_connection_closed():
    async def use(port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"nonsense\r\nnonsense\r\n\r\n")
        said = await reader.read()
        writer.close()
        return said

    assert with_server(echo, use).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_a_body_above_the_limit_reaches_the_handler_as_such():
    async def measured(method, path, message):
        return HttpReply(413 if message.is_too_large else 200, str(message.body_bytes).encode())

    async def use(port):
        client = LoopbackClient(port)
        found = await client.ask("POST", "/", b"x" * 1001), await client.ask("POST", "/", b"x" * 1000)
        client.close()
        return found

    large, small = with_server(measured, use)
    assert (status_of(large), large.body, status_of(small)) == (413, b"1001", 200)
