"""Scores forecasts against what the full job took: ours, a straight line, canary_training's method, Ernest's NNLS. Prints tables.

python tests/performance/forecast_accuracy.py --simulate 400            # known truth, drawn widely
python tests/performance/forecast_accuracy.py --memory 600              # peak memory with known truth, some with a hidden square
python tests/performance/forecast_accuracy.py --race 100                # RACE on simulated configurations
python tests/performance/forecast_accuracy.py --table jobs.csv          # canaries and full runs, e.g. by forecast_jobs.py
python tests/performance/forecast_accuracy.py --c3o sort.tsv grep.tsv   # github.com/dos-group/c3o-experiments
python tests/performance/forecast_accuracy.py --published canary.csv    # figures that canary_training published
Nothing is asserted. Intervals of coverage are Clopper-Pearson at 95 %, over jobs x designs as if independent.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import math
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from _forecasters import OTHERS, ols

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.data.table import read_table
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import Status

DESIGNS = {
    "1,2,3 % x3": {0.01: 3, 0.02: 3, 0.03: 3},
    "1 % x2, 3 % x2": {0.01: 2, 0.03: 2},
    "1 % x2, 3 % x2, 10 %": {0.01: 2, 0.03: 2, 0.1: 1},
    "1,3,10 % x3": {0.01: 3, 0.03: 3, 0.1: 3},
}
OURS = "ours"


class Score:
    """Errors and coverage of one method in one design and metric."""

    def __init__(self):
        self.errors, self.inside80, self.inside90, self.below95, self.decided, self.floor = [], [], [], [], [], []
        self.by_job = {}

    def add(self, job, actual, median, interval, decided=True, floor=None):
        # A negative or missing prediction counts as 100 %.
        error = 1.0 if median is None or not math.isfinite(median) or median <= 0 else abs(median - actual) / actual
        self.errors.append(error)
        self.by_job[job] = error
        self.decided.append(decided)
        if floor:
            self.floor.append(error / floor)
        if interval is not None:
            self.inside80.append(interval[0] <= actual <= interval[1])
            self.inside90.append(interval[2] <= actual <= interval[3])
            self.below95.append(actual <= interval[3])

    def row(self):
        errors = np.array(self.errors) * 100
        decided = errors[np.array(self.decided, bool)]
        settled = f"{np.median(decided):.0f} / {np.quantile(decided, 0.9):.0f} % of {len(decided)}" if len(decided) else "none"
        cells = [f"{np.median(errors):.1f}", f"{np.quantile(errors, 0.9):.0f}", coverage(self.inside80), coverage(self.inside90),
                 coverage(self.below95), settled]  # fmt: skip
        return [*cells, f"{np.median(self.floor):.1f}" if self.floor else "-"]


def coverage(inside):
    if not inside:
        return "-"
    from scipy.special import betaincinv

    k, n = sum(inside), len(inside)
    low = 0.0 if k == 0 else betaincinv(k, n - k + 1, 0.025)
    high = 1.0 if k == n else betaincinv(k + 1, n - k, 0.975)
    return f"{k / n:.2f} ({low:.2f}-{high:.2f})"


HEADER = ["method", "median %", "p90 %", "80 % holds", "90 % holds", "95 % bound", "median / p90 where decided", "/ floor"]


def show(title, scores):
    print(f"\n{title}")
    rows = [HEADER, *([name, *score.row()] for name, score in scores.items())]
    widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for name, score in scores.items():
        if name != OURS and OURS in scores:
            print(f"  ours against {name}: {paired(scores[OURS].by_job, score.by_job)}")


def paired(ours, theirs):
    """Return wins and the two-sided p of the sign test."""
    pairs = [(ours[job], theirs[job]) for job in ours if job in theirs]
    wins, losses = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    n, k = wins + losses, min(wins, losses)
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0
    return f"smaller error in {wins} of {n}, sign test p = {p:.2g}"


def compare(scores, job, canaries, column, metric, actual, floor=None, question=None):
    """Score all methods on one job."""
    table = CanaryTable(tuple(canaries))
    found = next((one for one in forecast(table, question or Question(Billing("us-east-1"))) if one.metric == metric), None)
    if found is None:
        return
    interval = None if found.lo80 is None else (found.lo80, found.hi80, found.lo90, found.hi90)
    scores.setdefault(OURS, Score()).add(job, actual, found.median, interval, found.status in (Status.OK, Status.WIDE), floor)
    x = np.array([canary.fraction for canary in canaries])
    y = np.array([getattr(canary, column) for canary in canaries])
    for name, method in OTHERS.items():
        median, bounds = method(x, y)
        scores.setdefault(name, Score()).add(job, actual, median, bounds, True, floor)


def simulate(jobs, noise, seed=0):
    """Jobs with known truth: start-up 10-90 % of a 2 % canary, growths n, n log n, n^1.15, n^.85, n^1.5; phases timed."""
    rng = np.random.default_rng(seed)
    for design in DESIGNS:
        by_metric = defaultdict(dict)
        for number in range(jobs):
            share = rng.uniform(0.1, 0.9)
            kind = rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05])
            rows = 10 ** rng.uniform(4, 7)
            full_s = 10 ** rng.uniform(2, 4.5)

            def grown(x, kind=kind, rows=rows):
                exponent = {0: 1.0, 2: 1.15, 3: 0.85, 4: 1.5}.get(kind)
                return x**exponent if exponent else x * (math.log(x * rows) / math.log(rows))

            startup_s = share / (1 - share) * full_s * grown(0.02)
            canaries = []
            for fraction, repeats in DESIGNS[design].items():
                for repeat in range(repeats):
                    e = rng.normal(0, noise, 2)
                    started, trained = startup_s * math.exp(e[0]), full_s * grown(fraction) * math.exp(e[1])
                    canaries.append(Canary(f"job{number}", fraction, repeat, startup_s=started, train_s=trained, total_s=started + trained))
            e = rng.normal(0, noise, 2)
            actual_train = full_s * math.exp(e[1])
            actual = startup_s * math.exp(e[0]) + actual_train
            compare(by_metric["total, phases timed"], number, canaries, "total_s", "total_s", actual)
            compare(by_metric["fit phase"], number, canaries, "train_s", "train_s", actual_train)
            bare = [dataclasses.replace(canary, startup_s=None, train_s=None) for canary in canaries]
            compare(by_metric["total, no phases"], number, bare, "total_s", "total_s", actual)
        for what, scores in by_metric.items():
            show(f"simulated, {noise:.0%} noise, {design}: {what} ({jobs} jobs)", scores)


MEMORY = {"unknown": ("", 0.15), "unknown, none with a square": ("", 0.0), "kernel": ("kernel", 0.6), "linear": ("linear", 0.0)}
"""Family, and the share of jobs whose memory has a part that grows with the square of the data."""


def simulate_memory(jobs, seed=0):
    """Peaks with known truth: 80-400 MiB of imports, half of them letting go of up to a tenth; 10 MiB to 20 GiB that grow with the data;
    a square of 0.03-10 % of the imports at a tenth of the data in some; steps of 0.2 % by size, noise of 0.2 % by run."""
    for title, (family, squares) in MEMORY.items():
        for design in ("1,2,3 % x3", "1 % x2, 3 % x2, 10 %"):
            rng, scores = np.random.default_rng(seed), {}
            for number in range(jobs):
                imports, data = 2**20 * 10 ** rng.uniform(math.log10(80), math.log10(400)), 2**20 * 10 ** rng.uniform(1, 4.3)
                square = imports * 10 ** rng.uniform(-3.5, -1) * 100 if rng.random() < squares else 0.0
                rest = imports * (rng.uniform(0.9, 1) if rng.random() < 0.5 else 1.0)

                def peak(x, imports=imports, data=data, square=square, rest=rest):
                    return max(imports, rest + data * x + square * x * x)

                canaries = []
                for fraction, repeats in DESIGNS[design].items():
                    step = math.exp(rng.normal(0, 0.002))
                    for repeat in range(repeats):
                        rss = peak(fraction) * step * math.exp(rng.normal(0, 0.002))
                        canaries.append(Canary(f"job{number}", fraction, repeat, rss_bytes=rss, family=family))
                compare(scores, number, canaries, "rss_bytes", "rss_bytes", peak(1.0) * math.exp(rng.normal(0, 0.002)))
            show(f"simulated peak memory, family {title}, {squares:.0%} with a square, {design} ({jobs} jobs)", scores)


def measured(path, families):
    """Real jobs of a table with full runs: wall time, CPU time, peak RSS; the full job is the mean of its repeats."""
    table = read_table(path)
    with path.open(newline="") as file:
        extra = {(row["configuration"], float(row["fraction"]), int(row["repeat"])): row for row in csv.DictReader(file)}
    jobs = defaultdict(list)
    for canary in table.canaries:
        if canary.status == "completed":
            row = extra[canary.configuration, canary.fraction, canary.repeat]
            about = {name: float(row[name]) for name in row if name.endswith("_cpu_s") and row[name]}
            jobs[canary.configuration].append(dataclasses.replace(canary, about=about, family=canary.family if families else ""))
    for design, repeats in DESIGNS.items():
        for metric in ("total_s", "cpu_s", "rss_bytes"):
            for timed in (True, False) if metric != "rss_bytes" else (True,):
                scores, spend = {}, []
                for job, canaries in jobs.items():
                    full = [getattr(canary, metric) for canary in canaries if canary.fraction == 1.0]
                    chosen = [canary for canary in canaries if canary.repeat < repeats.get(canary.fraction, 0)]
                    if len(full) < 2 or len(chosen) < sum(repeats.values()):
                        continue
                    actual = float(np.mean(full))
                    floors = [abs(value - np.mean([v for k, v in enumerate(full) if k != n])) / actual for n, value in enumerate(full)]
                    if not timed:
                        bare = dict.fromkeys(("startup_s", "load_s", "train_s"))
                        chosen = [dataclasses.replace(canary, **bare, about={}) for canary in chosen]
                    spend.append(sum(canary.cpu_s for canary in chosen) / np.mean([c.cpu_s for c in canaries if c.fraction == 1.0]))
                    compare(scores, job, chosen, metric, metric, actual, max(float(np.median(floors)), 1e-3))
                if scores:
                    kind = "" if metric == "rss_bytes" else (", phases timed" if timed else ", no phases")
                    family = "known" if families else "unknown"
                    show(f"measured, families {family}, {design}: {metric}{kind} ({len(scores[OURS].errors)} jobs; "
                         f"canaries take {np.median(spend):.0%} of the full job)", scores)  # fmt: skip
                    print("  ours by job: " + ", ".join(f"{job} {error:.0%}" for job, error in scores[OURS].by_job.items()))


def c3o(paths):
    """Spark jobs: the largest of at least three data sizes is forecast from the smaller ones."""
    scores, out = {}, {}
    for path in paths:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        fixed = [name for name in rows[0] if name not in ("data_size_MB", "gross_runtime", "lines")]
        series = defaultdict(lambda: defaultdict(list))
        for row in rows:
            series[tuple(row[name] for name in fixed)][float(row["data_size_MB"])].append(float(row["gross_runtime"]))
        for key, sizes in series.items():
            # Two sizes of the sort data differ by 1 % and come from other files.
            levels = sorted(size for size in sizes if size != 9530)
            if len(levels) < 4:
                continue
            full, used = levels[-1], levels[:-2]
            canaries = [
                Canary("job", level / full, repeat, total_s=value) for level in used for repeat, value in enumerate(sizes[level][:3])
            ]
            compare(scores, (path.name, key), canaries, "total_s", "total_s", float(np.median(sizes[full])))
        counts = defaultdict(lambda: defaultdict(list))
        others = [name for name in fixed if name not in ("instance_count", "slots", "memory")] + ["data_size_MB"]
        for row in rows:
            counts[tuple(row[name] for name in others)][int(row["instance_count"])].append(float(row["gross_runtime"]))
        scale_out(path.name, counts, out)
    show("C3O, one data size to 1.2-2 times it", scores)
    for title, found in out.items():
        show(f"C3O, scale-out {title}", found)


def scale_out(name, counts, out):
    from benchmarking.forecasting.model.scale_out import scale_out_draws

    for key, by_count in counts.items():
        levels = sorted(by_count)
        if len(levels) < 5:
            continue
        known, asked = levels[:3], levels[3:]
        machines = np.array([m for m in known for _ in by_count[m]], float)
        seconds = np.array([v for m in known for v in by_count[m]], float)
        for target in asked:
            draws = scale_out_draws(machines, seconds, target, 4000, np.random.default_rng(0))
            actual = float(np.median(by_count[target]))
            q = np.quantile(draws, (0.1, 0.9, 0.05, 0.95))
            title = f"{known[0]}-{known[-1]} machines to more"
            out.setdefault(title, {}).setdefault(OURS, Score()).add((name, key, target), actual, float(np.median(draws)), tuple(q))
            ideal = float(np.mean([v * m for v, m in zip(seconds, machines, strict=True)])) / target
            out[title].setdefault("divided by m", Score()).add((name, key, target), actual, ideal, None)


def race(runs, noise, seed=0):
    """RACE against 1, 2, 3 % x3 everywhere with a straight line: spend, and how often the choice is within 5 % of the best."""
    from benchmarking.forecasting.ladder.race import race_status
    from benchmarking.forecasting.ladder.race_status import TIME, RaceDecision, RaceSettings

    for k in (8, 16):
        within, spend, verdicts, sure, lines = [], [], defaultdict(int), [], []
        for number in range(runs):
            rng = np.random.default_rng((seed, k, number))
            share, exponent, full_s = rng.uniform(0.2, 0.7), rng.choice([1.0, 1.0, 1.08, 1.15, 0.85]), 10 ** rng.uniform(2.5, 4.5)
            speed = np.exp(rng.normal(0, 0.35, k))
            startup_s = share / (1 - share) * full_s * 0.02**exponent

            def run(name, fraction, repeat, rng=rng, exponent=exponent, full_s=full_s, speed=speed, startup_s=startup_s):
                e = rng.normal(0, noise, 2)
                started, trained = startup_s * math.exp(e[0]), full_s * speed[int(name)] * fraction**exponent * math.exp(e[1])
                return Canary(name, fraction, repeat, startup_s=started, train_s=trained, total_s=started + trained)

            settings = RaceSettings(objectives=(TIME,), billing=Billing("us-east-1"))
            groups = {str(j): [] for j in range(k)}
            while (found := race_status(groups, (), settings, number)).next is not None:
                name, level, repeat = found.next
                groups[name].append(run(name, level, repeat))
            truth = startup_s + full_s * speed
            fixed = {str(j): [run(str(j), f, r) for f in (0.01, 0.02, 0.03) for r in range(3)] for j in range(k)}
            predicted = [ols(np.array([c.fraction for c in g]), np.array([c.total_s for c in g]))[0] for g in fixed.values()]
            total = {name: sum(c.total_s for g in one.values() for c in g) for name, one in (("race", groups), ("fixed", fixed))}
            within.append(truth[int(found.winner)] <= 1.05 * truth.min())
            lines.append(truth[int(np.argmin(predicted))] <= 1.05 * truth.min())
            spend.append(total["race"] / total["fixed"])
            verdicts[str(found.decision)] += 1
            if found.decision in (RaceDecision.DECIDED, RaceDecision.TIED):
                sure.append(within[-1])
        print(f"\nRACE, {k} configurations, {noise:.0%} noise, {runs} runs: within 5 % of the best {coverage(within)}"
              f" (where decided {coverage(sure)}); straight line through 1, 2, 3 % x3 {coverage(lines)}; spend {np.median(spend):.0%},"
              f" mean {np.mean(spend):.0%}"
              f" of that (p90 {np.quantile(spend, 0.9):.0%}); {dict(verdicts)}")  # fmt: skip


def published(path):
    """canary_training's own canaries and full runs: time only, as no repeat of a full run and no phases are published."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for job in dict.fromkeys(row["experiment"] for row in rows):
        mine = [row for row in rows if row["experiment"] == job]
        canaries = []
        for row in mine:
            if row["kind"] == "canary" and row["metric"] == "training_time_s":
                status = "stopped" if "Stopped" in row["note"] else "completed"
                canaries.append(Canary(job, float(row["fraction"]), int(row["row"]), total_s=float(row["value"]), status=status))
        actual = [row["value"] for row in mine if row["kind"] == "actual" and row["metric"] == "training_time_s"]
        theirs = [row["value"] for row in mine if row["kind"] == "predicted" and row["metric"] == "training_time_s"]
        if not canaries:
            continue
        found = forecast(CanaryTable(tuple(canaries)), Question(Billing("us-east-1")))[0]
        print(f"\n{job} ({mine[0]['workload']}): actual {', '.join(actual)} s; canary_training predicted {', '.join(theirs)} s")
        print(f"  ours {found.median:.0f} s, 80 % {found.lo80:.0f}-{found.hi80:.0f}, 90 % {found.lo90:.0f}-{found.hi90:.0f}: "
              f"{found.status}; {found.why}")  # fmt: skip
        used = [canary for canary in canaries if canary.status == "completed"]
        x, y = np.array([c.fraction for c in used]), np.array([c.total_s for c in used])
        print("  " + "; ".join(f"{name} {method(x, y)[0]:.0f} s" for name, method in OTHERS.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulate", type=int, metavar="JOBS")
    parser.add_argument("--memory", type=int, metavar="JOBS")
    parser.add_argument("--race", type=int, metavar="RUNS")
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--c3o", type=Path, nargs="*", default=[])
    parser.add_argument("--published", type=Path)
    given = parser.parse_args()
    if given.simulate:
        simulate(given.simulate, given.noise)
    if given.memory:
        simulate_memory(given.memory)
    if given.race:
        race(given.race, given.noise)
    if given.table:
        measured(given.table, families=False)
        measured(given.table, families=True)
    if given.c3o:
        c3o(given.c3o)
    if given.published:
        published(given.published)


if __name__ == "__main__":
    main()
