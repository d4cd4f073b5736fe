"""Scripts that report nothing and print or write their metrics in ways of their own, with what is right: the same wherever they run."""

from __future__ import annotations

import base64
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from definitions.file_source import FileSource
from definitions.metrics import NO_SOURCES, MetricSources

WRITTEN = Path(__file__).parent / "metrics" / "files" / "written"
RECORDED = Path(__file__).parent / "metrics" / "recorded"
LOSS = MetricSources((("loss", r"loss[=:] ?(nan|[0-9.]+)"),))
LEVELS = MetricSources((("epoch", r"Epoch (\d+)"), ("loss", r"loss[=:] ?(nan|[0-9.]+)")), (), "epoch", ("loss",))


@dataclass(frozen=True)
class MetricCase:
    """A script and the reports that are right; `metrics`, `files` as a job has them."""

    code: str
    expected: list[dict[str, Any]]
    metrics: MetricSources = NO_SOURCES
    files: tuple[FileSource, ...] = ()

    @property
    def script(self) -> str:
        """The whole script."""
        return textwrap.dedent(self.code)


def sorted_items(reports: list[Any]) -> list[Any]:
    """Return what reports say, whatever the order of their names."""
    return [sorted(report.items()) for report in reports]


def _writes(path: Path, name: str) -> str:
    """Return code that writes a recorded file."""
    content = base64.b64encode(path.read_bytes()).decode()
    folder = f"os.makedirs(os.path.dirname({name!r}) or '.', exist_ok=True)"
    return f"import base64, os\n{folder}\nopen({name!r}, 'wb').write(base64.b64decode({content!r}))\n"


def _prints(path: Path) -> str:
    """Return code that prints a recorded output."""
    content = base64.b64encode(path.read_bytes()).decode()
    return f"import base64, sys\nsys.stdout.buffer.write(base64.b64decode({content!r}))\n"


CASES = {
    "lines of a level": MetricCase(
        "for e in (1, 2):\n    print('Epoch', e)\n    print('loss:', e / 4, flush=True)",
        [{"epoch": 1, "loss": 0.25}, {"epoch": 2, "loss": 0.5}],
        LEVELS,
    ),
    "a bar with carriage returns and colours, and no end of the last line": MetricCase(
        """
        import sys
        for epoch in (1, 2):
            for loss in (3, epoch):
                sys.stdout.write(f"\\r\\x1b[32mEpoch {epoch}\\x1b[0m: 50%|##  | loss={loss}")
                sys.stdout.flush()
        """,
        [{"epoch": 1, "loss": 1}, {"epoch": 2, "loss": 2}],
        LEVELS,
    ),
    "ranks in one line and in many": MetricCase(
        """
        import sys
        sys.stdout.write("[rank0]: loss: 0.5[rank1]: loss: 0.9\\n[rank1]: loss: 0.8\\n[rank0]: loss: 0.25\\n")
        """,
        [{"loss": 0.5}, {"loss": 0.25}],
        LOSS,
    ),
    "latin-1": MetricCase(
        "import sys\nsys.stdout.buffer.write('größe loss: 0.5\\n'.encode('latin-1') + b'loss: 0.25')",
        [{"loss": 0.5}, {"loss": 0.25}],
        LOSS,
    ),
    "a library's own words": MetricCase(
        "print('[0]\\ttrain-rmse:0.5\\tval-rmse:0.6')\nprint('[1]\\ttrain-rmse:0.4\\tval-rmse:0.5')",
        [{"round": 1, "train-rmse": 0.5, "val-rmse": 0.6}, {"round": 2, "train-rmse": 0.4, "val-rmse": 0.5}],
        MetricSources((), ("xgboost",)),
    ),
    "utf-16, as some consoles write it": MetricCase(
        "import sys\nsys.stdout.buffer.write('größe loss: 0.5\\nloss: 0.25\\n'.encode('utf-16-le'))",
        [{"loss": 0.5}, {"loss": 0.25}],
        LOSS,
    ),
    "line ends as on Windows": MetricCase(
        "import sys\nsys.stdout.buffer.write(b'Epoch 1\\r\\nloss: 0.5\\r\\nEpoch 2\\r\\nloss: 0.25\\r\\n')",
        [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}],
        LEVELS,
    ),
    "two processes that print at the same time": MetricCase(
        """
        import os
        rank = 0 if os.fork() else 1
        for step in range(50):
            os.write(1, f"[rank{rank}]: loss: {step}\\n".encode())
        if rank == 1:
            os._exit(0)
        os.wait()
        """,
        [{"loss": step} for step in range(50)],
        LOSS,
    ),
    "lines wrapped to a terminal's width": MetricCase(
        """
        for epoch in (1, 2):
            print("x" * 60, "this is Epoch\\n" + str(epoch), "of two, and what was measured at its end with the weights of then is loss:")
            print("   ", epoch / 4)
        """,
        [{"epoch": 1, "loss": 0.25}, {"epoch": 2, "loss": 0.5}],
        LEVELS,
    ),
    "a library that wraps its lines": MetricCase(
        _prints(RECORDED / "lightning_rich.log"),
        [{"epoch": 2, "train_loss": 0.006, "val_loss": 0.009}],
        MetricSources((), ("lightning",), None, ("val_loss",)),
    ),
    "a library's bars": MetricCase(
        _prints(RECORDED / "lightning_tqdm.log"),
        [{"epoch": 1, "train_loss": 0.0328, "val_loss": 0.0281}, {"epoch": 2, "train_loss": 0.0037, "val_loss": 0.00442}],
        MetricSources((), ("lightning",), None, ("val_loss",)),
    ),
    "a reporter's lines beside": MetricCase(
        "print('loss: 0.5')\nprint('[tune-metric]: {\"acc\": 1, \"st_worker_iter\": 0}')\nprint('loss: 0.25')",
        [{"loss": 0.5}, {"acc": 1}, {"loss": 0.25}],
        LOSS,
    ),
    "csv rewritten for a new column": MetricCase(
        """
        import os, time
        os.makedirs("logs/version_0")
        rows = []
        for epoch in range(3):
            for new in ({"train": 1 / (epoch + 1)}, {"val": epoch / 4}):
                rows.append({"epoch": epoch, **new})
                names = list(dict.fromkeys(name for row in rows for name in row))
                with open("logs/version_0/metrics.csv", "w") as file:
                    file.write(",".join(names) + "\\n")
                    for row in rows:
                        file.write(",".join(str(row.get(name, "")) for name in names) + "\\n")
                time.sleep(0.15)
        """,
        [
            {"epoch": 1, "train": 1.0, "val_loss": 0.0},
            {"epoch": 2, "train": 0.5, "val_loss": 0.25},
            {"epoch": 3, "train": 1 / 3, "val_loss": 0.5},
        ],
        files=(FileSource("logs/*/metrics.csv", "csv", "epoch", "epoch", 0, {"val": "val_loss"}, ("val_loss",)),),
    ),
    "json lines of two ranks, the last without an end": MetricCase(
        """
        with open("log.jsonl", "w") as file:
            file.write('{"epoch": 1, "rank": 0, "loss": 0.5}\\n{"epoch": 1, "rank": 1, "loss": 0.9}\\n{"epoch": 2, "rank": 0, "loss": NaN}')
        """,
        [{"epoch": 1, "rank": 0, "loss": 0.5}, {"epoch": 2, "rank": 0, "loss": float("nan")}],
        files=(FileSource("log.jsonl", "jsonl", "epoch", "epoch"),),
    ),
    "a final metrics.json in the folder for output": MetricCase(
        "import json, os\njson.dump({'test': {'acc': 0.9}}, open(os.path.join(os.environ['SM_OUTPUT_DATA_DIR'], 'metrics.json'), 'w'))",
        [{"test_acc": 0.9}],
        files=(FileSource("${output}/metrics.json", "json", names={"test.acc": "test_acc"}),),
    ),
    "event files of training and validation": MetricCase(
        "".join(
            _writes(next((WRITTEN / "tensor_form" / name).iterdir()), f"logs/{name}/events.out.tfevents.1")
            for name in ("train", "validation")
        ),
        [
            {"epoch": 1, "train/epoch_loss": 1.0, "val_loss": 2.0},
            {"epoch": 2, "train/epoch_loss": 0.5, "val_loss": 1.0},
            {"epoch": 3, "train/epoch_loss": 0.3333333432674408, "val_loss": 0.6666667},
        ],
        files=(FileSource("logs", "tensorboard", None, "epoch", 0, {"validation/epoch_loss": "val_loss"}, ("val_loss",)),),
    ),
}  # fmt: skip
"""By what is peculiar about them."""
