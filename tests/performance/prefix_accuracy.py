"""Scores prefix canaries against finished jobs: what CANARY says of each of fourteen real jobs, and what it then takes. Prints a table.

python tests/performance/prefix_accuracy.py FOLDER                       # all jobs, about ten minutes on a quiet machine
python tests/performance/prefix_accuracy.py FOLDER --kinds forest lstm   # some of them
python tests/performance/prefix_accuracy.py FOLDER --set second          # thirteen others, which no law or rule was chosen by
python tests/performance/prefix_accuracy.py FOLDER --ladder              # the ladder alone on the same jobs, as a peer
python tests/performance/prefix_accuracy.py FOLDER --show                # the table of what was run
Each job is a definition of its own, run by CANARY and then in full, on one core of this machine; errors are of processor time and memory,
and of wall time, which other work on the machine disturbs. Spent is the processor time of all canaries over that of the full job.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _prefix_jobs
import _second_jobs

from benchmarking.forecasting.data.canary import CanaryTable
from benchmarking.forecasting.data.results_folder import read_measured
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question

ROOT = Path(__file__).resolve().parents[2]
SETS = {"first": _prefix_jobs, "second": _second_jobs}
METRICS = ("cpu_s", "total_s", "rss_bytes")


def definition(kind: str) -> str:
    (script,) = [jobs.__name__ for jobs in SETS.values() if kind in jobs.KINDS]
    return f"""name: prefix-{kind.replace("_", "-")}
script: {ROOT / "tests" / "performance" / f"{script}.py"}
space: {{kind: {{choice: [{kind}]}}}}
objectives: {{duration_s: min}}
exclusive: false
fidelity: {{kind: per_job, argument: fraction, ladder: [0.01, 0.03]}}
"""


def run(file: Path, results: Path, tag: str, *more: str) -> Path:
    command = [
        sys.executable,
        str(ROOT / "hpo_main.py"),
        "--benchmark",
        str(file),
        "--results_dir",
        str(results),
        "--experiment_tag",
        tag,
        *more,
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    return next(results.glob(f"{tag}/*/*/experiment.json")).parent


def measure(kind: str, folder: Path, *, ladder: bool) -> None:
    """Run the canaries of one job, and the job, unless they have been run."""
    how = ["--method_args", "prefix=false", "ladder=[0.01,0.03,0.1]"] if ladder else []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "job.yaml"
    file.write_text(definition(kind))
    for tag, more in (("ladder" if ladder else "prefix", ["--method", "CANARY", *how]), ("full", ["--method", "GRID"])):
        if not (folder / tag).exists():
            run(file, folder, tag, *more)


def scored(kind: str, folder: Path, how: str) -> list[dict[str, object]]:
    """Return a row for each metric of one job."""
    canaries, full = (read_measured(next(folder.glob(f"{tag}/*/*/experiment.json")).parent) for tag in (how, "full"))
    if canaries is None or full is None or not full.full.canaries:
        return []  # it is still running
    (whole,) = full.full.canaries
    found = {one.metric: one for one in forecast(CanaryTable(canaries.canaries.canaries), Question(Billing("us-east-1")))}
    spent = sum(one.cpu_s or 0.0 for one in canaries.canaries.canaries) / (whole.cpu_s or 1.0)
    rows: list[dict[str, object]] = []
    for metric in METRICS:
        one = found.get(metric)
        quantiles = {name: getattr(one, name, None) for name in ("median", "lo80", "hi80", "lo90", "hi90")}
        status, why = (str(one.status), one.why) if one else ("none", "")
        rows.append(
            {
                "kind": kind,
                "how": how,
                "metric": metric,
                "actual": getattr(whole, metric),
                **quantiles,
                "status": status,
                "spent": spent,
                "why": why,
            }
        )
    return rows


def show(rows: list[dict[str, object]]) -> None:
    """Print how far off each forecast was, and the sums."""
    for how in sorted({str(row["how"]) for row in rows}):
        for metric in METRICS:
            mine = [row for row in rows if row["how"] == how and row["metric"] == metric and row["median"] and row["actual"]]
            if mine:
                _show_metric(f"{how}, {metric}", mine)


def _show_metric(title: str, rows: list[dict[str, object]]) -> None:
    print(f"\n{title}:")
    errors, decided, held, below = [], [], 0, 0
    for row in rows:
        actual, median, low, high = (float(str(row[name])) for name in ("actual", "median", "lo90", "hi90"))
        errors.append(abs(median / actual - 1))
        decided += errors[-1:] if row["status"] in ("ok", "wide") else []
        held, below = held + (low <= actual <= high), below + (actual <= high)
        said = f"forecast {median:11.4g} ({low:.4g} to {high:.4g})"
        print(f"  {row['kind']!s:17} {actual:11.4g}  {said:48} {median / actual - 1:+7.1%}  {row['status']:12} spent {row['spent']:.2f}")
    spent = statistics.median(float(str(row["spent"])) for row in rows)
    print(f"  all {len(rows)}: median {statistics.median(errors):.1%}, p90 {p90(errors):.1%}; 90 % held {held}, 95 % bound {below}")
    if decided:
        print(f"  decided {len(decided)}: median {statistics.median(decided):.1%}, p90 {p90(decided):.1%}; spent {spent:.2f} at the median")


def p90(values: list[float]) -> float:
    values, at = sorted(values), 0.9 * (len(values) - 1)
    low = int(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", help="some of the jobs (default all)")
    parser.add_argument("--set", choices=list(SETS), default="first", help="which jobs (default first)")
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    kinds = given.kinds or SETS[given.set].KINDS
    for kind in () if given.show else kinds:
        measure(kind, given.folder / kind, ladder=given.ladder)
        print(f"{kind}: done", flush=True)
    places = [(kind, how) for kind in kinds for how in ("ladder", "prefix")]
    show([row for kind, how in places if all((given.folder / kind / one).exists() for one in (how, "full"))
          for row in scored(kind, given.folder / kind, how)])  # fmt: skip


if __name__ == "__main__":
    main()
