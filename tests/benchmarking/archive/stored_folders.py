"""Folders of experiments as they were left, copied for a test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

VERSION_1 = Path(__file__).parent / "fixtures" / "version_1"
"""Folders as the first version left them, `canary` and `repeated` by a controller that was killed, with the CSV files that it wrote."""

METHODS = {"canary": "CANARY", "race": "RACE", "repeated": "GRID"}


def copied(tmp_path: Path, name: str) -> Path:
    """A copy of a stored folder under the tag and the results that it was made for; its script is elsewhere now."""
    folder = tmp_path / "results" / name / "stored" / f"{METHODS[name]}-simulated-0"
    shutil.copytree(VERSION_1 / name, folder)
    path = folder / "definition.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("/data/code", str(tmp_path)), encoding="utf-8")
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    return folder


def change_identity(folder: Path, **changes: object) -> None:
    """Let experiment.json say something else."""
    path = folder / "experiment.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def present(folder: Path) -> Path:
    """Let nothing that is written into it go by the first version's names."""
    change_identity(folder, real_money=False)
    return folder


def of_plugins(folder: Path, *, options: bool = True) -> Path:
    """Turn a folder into one of the present version whose method and back-end came from plug-ins that are not installed."""
    change_identity(folder, schema_version=2, method="SPLINES", backend="mesh", hears_levels=False, repeats=1)
    path = folder / "definition.yaml"
    head, _, _ = path.read_text(encoding="utf-8").partition("simulated:\n")
    block = "mesh:\n  address: auto\n  per_node: {gpus: 2}\n" if options else "mesh: {}\n"
    path.write_text(head + block, encoding="utf-8")
    return folder.rename(folder.with_name("SPLINES-mesh-0"))
