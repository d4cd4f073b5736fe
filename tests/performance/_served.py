"""A real ONNX Runtime behind the front, under loads of the load script, on cores of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
from _common import ROOT
from load_generators import package_of, targets_file

from backends.common.child_process import affinity
from tests.backends.serving.front_bench import FrontBench
from tests.backends.serving.onnx_packages import archive


class LoadedFront:
    """A front with copies of one model, and loads on it; where there are two cores, each has its own, as in jobs of a local back-end."""

    def __init__(self, folder, files, columns, copies=1, answers=0, **settings):
        self.folder, self.copies = folder, copies
        one = archive(folder / "model.tar.gz", files)
        (folder / "targets").mkdir()
        for number in range(copies):
            (folder / "targets" / f"m-v{number}.tar.gz").hardlink_to(one)
        cores = sorted(os.sched_getaffinity(0))
        first, self.client_core = cores[0], cores[-1]
        with affinity((first,)):
            self.bench = FrontBench(folder, server="ort", folder=str(folder / "targets"), threads=1, cores=[first], **settings)
        assert self.bench.said["ready"], self.bench.said
        told = json.loads(targets_file(folder, columns).read_text())
        told["targets"] = [{"target": f"m-v{number}.tar.gz", "package": "m"} for number in range(copies)]
        if answers:
            told["packages"]["m"] |= {"outputs": [{"name": "y", "datatype": "FP32", "shape": [answers]}], "reference": None}
        self.targets = folder / "told.json"
        self.targets.write_text(json.dumps(told))

    def load(self, *words):
        """The last report of a load."""
        port = self.bench.said["port"]
        environ = {
            **os.environ, "OUTRIDER_ENDPOINT_URL": f"http://127.0.0.1:{port}/endpoints/endpoint/invocations", "OUTRIDER_SAMPLING": "0",
            "OUTRIDER_ENDPOINT_TARGETS": str(self.targets), "PYTHONPATH": str(ROOT / "backends" / "reporter"),
        }  # fmt: skip
        command = [sys.executable, str(ROOT / "benchmarking" / "workloads" / "endpoint_load.py"), *map(str, words)]
        with affinity((self.client_core,)):
            done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        said = [json.loads(line) for line in re.findall(r"^\[tune-metric\]: (.*)$", done.stdout, re.MULTILINE)]
        said = [one for one in said if "probe_rate_per_s" not in one]
        assert said, done.stdout + done.stderr
        return said[-1]


def chain_of(layers, columns=512):
    """The files of a model of so many products of matrices: every row takes the same time."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.eye(columns, dtype="float32")
    names = ["x", *(f"h{number}" for number in range(layers))]
    nodes = [helper.make_node("MatMul", [a, "weights"], [b]) for a, b in pairwise(names)]
    nodes.append(helper.make_node("ReduceMean", [names[-1]], ["y"], axes=[1], keepdims=1))
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", columns])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 1])],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return package_of(columns) | {"m/1/model.onnx": bytes(model.SerializeToString())}
