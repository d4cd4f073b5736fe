"""Stands in for NVIDIA's trtexec in jobs of the emulator: reads its arguments and the ONNX file, and writes a file that is no engine.

A program of its own, which needs the standard library alone. Nothing can serve what it writes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

MARK = "outrider: stands in for a TensorRT engine"
_FLAGS = ("fp16", "bf16", "int8", "best", "verbose", "skipInference", "explicitBatch", "stronglyTyped")
_SHAPES = ("minShapes", "optShapes", "maxShapes")
_VALUES = ("onnx", "saveEngine", "memPoolSize", "workspace", "builderOptimizationLevel", "timingCacheFile", *_SHAPES)
_SHAPE = re.compile(r"[^:,]+:\d+(x\d+)*(,[^:,]+:\d+(x\d+)*)*")


def main(arguments: Sequence[str]) -> int:
    """Do what is asked as far as a stand-in can; returns 0, or 1 with what is wrong on standard error, as trtexec does."""
    given: dict[str, str] = {}
    for word in arguments:
        name, _, value = word.removeprefix("--").partition("=")
        known = name in _VALUES if value else name in _FLAGS
        if not word.startswith("--") or not known:
            return _fail(f"Unknown option: {word}")
        if name in _SHAPES and not _SHAPE.fullmatch(value):
            return _fail(f"{word}: needs name:1x3x224x224, ...")
        given[name] = value
    if "onnx" not in given or "saveEngine" not in given:
        return _fail("needs --onnx and --saveEngine")
    shapes = [name for name in _SHAPES if name in given]
    if shapes and len(shapes) < len(_SHAPES):
        return _fail(f"{shapes[0]} is given alone: minShapes, optShapes and maxShapes go together")
    try:
        content = Path(given["onnx"]).read_bytes()
    except OSError as error:
        return _fail(f"Could not open file {given['onnx']}: {error}")
    if len(content) < 16:
        return _fail(f"Failed to parse ONNX model {given['onnx']}: {len(content)} bytes")
    written = {"engine": MARK, "onnx_sha256": hashlib.sha256(content).hexdigest(), "arguments": sorted(set(given) - {"onnx", "saveEngine"})}
    written |= {name: given[name] for name in shapes}
    Path(given["saveEngine"]).write_text(json.dumps(written, indent=1), encoding="utf-8")
    sys.stdout.write(f"trtexec is stood in for here: {given['saveEngine']} is no engine, and nothing can serve it\n")
    return 0


def _fail(text: str) -> int:
    sys.stderr.write(f"[E] {text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
