from __future__ import annotations

import dataclasses

from benchmarking.archive.identity import ExperimentSpec
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.launching.sources import outgoing_data


def test_finished_files_of_models_travel_with_the_study(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"weights")
    resolved = resolve(Registry().find("endpoint"), "local")
    models = {"net": {"type": "onnx", "path": str(path)}}
    definition = type(resolved.definition).model_validate({**resolved.definition.model_dump(exclude_unset=True), "models": models})
    one = ExperimentSpec(dataclasses.replace(resolved, definition=definition), "GRID", 0, "t", tmp_path, hears_levels=False, repeats=1)
    (sent,) = outgoing_data([one]).values()
    assert (sent.sent.source_dir, [entry.name for entry in sent.package.entries]) == (str(path), ["net.onnx"])
