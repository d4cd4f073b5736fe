"""How much of the disk checkpoints and models take while a run goes on, and what is left of them."""

import csv

import pytest

SCRIPT = """\
import argparse, os, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
given = parser.parse_args()
from outrider_report import checkpoint_dir, report
(checkpoint_dir() / "model.bin").write_bytes(b"x")
pathlib.Path(os.environ["SM_MODEL_DIR"], "final.bin").write_bytes(b"x")
results = checkpoint_dir().parents[1]
report(
    loss=(given.x - 0.3) ** 2,
    checkpoints=len(list(results.glob("checkpoints/*/model.bin"))),
    models=len(list(results.glob("jobs/*/model/final.bin"))),
)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("keep", "most", "left"), [("1", 1, 1), ("2", 2, 2), ("none", 0, 0), ("all", 11, 12)])
def test_files_of_trials_that_are_over_go_while_the_run_goes_on(toy, run, keep, most, left):
    (toy.folder / "kept.py").write_text(SCRIPT, encoding="utf-8")
    (toy.folder / "kept.yaml").write_text(
        "name: kept\nscript: kept.py\nspace: {x: {uniform: [0, 1]}}\n"
        f"objectives: {{loss: min}}\nn_workers: 1\nexclusive: false\nkeep: {keep}\n",
        encoding="utf-8",
    )
    code, _, err = run("--benchmark", "kept.yaml", "--experiment_tag", "kept", "--max_num_trials", "12")
    assert code == 0, err
    (folder,) = (toy.folder / "results" / "kept" / "kept").iterdir()
    with (folder / "reports.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # Its own are there as well, one of each.
    assert max(int(row["checkpoints"]) for row in rows) == most + 1
    assert max(int(row["models"]) for row in rows) == most + 1
    assert len(list(folder.glob("checkpoints/*/model.bin"))) == len(list(folder.glob("jobs/*/model/final.bin"))) == left
    assert len(list((folder / "logs").iterdir())) == 12
