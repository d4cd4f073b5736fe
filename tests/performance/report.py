"""The report of a study: how long it takes to make, how large it is, how long until a browser has drawn it.

  ours     `outrider report` of a simulated study: two benchmarks, RS and ASHA, five seeds each; verdicts, sortable tables and all figures
  plotly   one of the figures alone, as plotly writes it into a file that needs no network (`write_html`)

The last two columns are processor seconds of the page's main thread, which say the same on a machine that others use.

Made is the whole command in a process of its own. Drawn is from the request until what a window of 1280 by 900 pixels shows is drawn; the
other figures are drawn as one comes to them, and `all` is until that was done from the top of the page to its end, folded ones too.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from _common import ROOT, cost_of, in_turn, load_line, median, run_side, show, temporary_folder

RATES = [10 ** (-4 + 0.2 * number) for number in range(20)]
WIDTHS = [8, 16, 32, 64, 128, 256]
FULL = 9
SEEDS = 5
METHODS = ("RS", "ASHA")
DEFINITION = """
name: {name}
script: job.py
space:
  rate: {{choice: {rates}}}
  width: {{choice: {widths}}}
  act: {{choice: [relu, tanh]}}
objectives: {{accuracy: max}}
fidelity: {{kind: progressive, argument: epochs, reported_as: epoch, full: {full}}}
simulated: {{table: {table}}}
budget: {{max_num_trials: {trials}}}
"""


def make_study(folder: Path, trials: int) -> None:
    """Leave a study of so many trials in the folder: measured runs are made up, and replayed by the simulated back-end."""
    table = folder / "runs.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["trial", "repeat", "attempt", "incarnation", "sequence", "elapsed_s", "rate", "width", "act", "accuracy", "epoch"])
        runs = [(rate, width, act) for rate in RATES for width in WIDTHS for act in ("relu", "tanh")]
        for trial, (rate, width, act) in enumerate(runs):
            best = 0.95 - 0.05 * abs(math.log10(rate) + 2) - 0.02 * abs(math.log2(width) - 6) - (0.01 if act == "tanh" else 0.0)
            for epoch in range(1, FULL + 1):
                place = [trial, 0, 1, 0, epoch - 1, epoch * (1 + width / 256)]
                writer.writerow([*place, rate, width, act, best * (1 - math.exp(-epoch / 3)), epoch])
    (folder / "job.py").write_text("")
    names = ("first", "second")
    for name in names:
        text = DEFINITION.format(
            name=name, rates=RATES, widths=WIDTHS, full=FULL, table=table, trials=trials // (len(names) * len(METHODS) * SEEDS)
        )
        (folder / f"{name}.yaml").write_text(text)
    words = [
        "hpo_main.py",
        "--benchmark",
        *(str(folder / f"{name}.yaml") for name in names),
        "--method",
        *METHODS,
        "--backend",
        "simulated",
    ]
    words += ["--num_seeds", str(SEEDS), "--experiment_tag", "study", "--results_dir", str(folder / "results")]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        raise SystemExit(done.stderr[-3000:])


def ours(folder: Path) -> dict[str, float]:
    """Return what our report takes."""
    page = folder / "report.html"
    words = ["hpo_main.py", "report", "study", "--results_dir", str(folder / "results"), "-o", str(page)]
    cost = cost_of(lambda: subprocess.run([sys.executable, *words], cwd=ROOT, env={**os.environ}, stdout=subprocess.DEVNULL, check=True))
    return {"made": cost.wall_s, "cpu": cost.cpu_s, "megabytes": page.stat().st_size / 1e6, **_drawn(page, "html[data-ready=yes]")}


def plotly(folder: Path) -> dict[str, float]:
    """Return what a file of plotly's own takes: the process that writes it too, as of ours."""
    page = folder / "plotly.html"
    cost = cost_of(lambda: run_side(__file__, "--side", "plotly", "--folder", str(folder)))
    return {"made": cost.wall_s, "cpu": cost.cpu_s, "megabytes": page.stat().st_size / 1e6, **_drawn(page, ".main-svg")}


def write_plotly(folder: Path) -> None:
    """Write the first figure as plotly does."""
    import plotly.graph_objects as go

    figures = json.loads((folder / "figures.json").read_text())["figures"]
    panel = next(panel for figure in figures if figure["key"] == "best_so_far_trials" for panel in figure["panels"])
    drawn = go.Figure([go.Scatter(x=curve["x"], y=curve["y"], name=curve["name"]) for curve in panel["curves"]])
    drawn.write_html(folder / "plotly.html", include_plotlyjs=True)


def _drawn(page: Path, ready: str) -> dict[str, float]:
    """Return seconds until a browser has drawn a page: what is seen first, and all of it."""
    from tests.benchmarking.page.browsing import browser, marks

    with browser() as chromium:
        shown = chromium.new_page(viewport={"width": 1280, "height": 900})
        tools = shown.context.new_cdp_session(shown)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        began = time.perf_counter()
        shown.goto(page.as_uri(), wait_until="commit")
        shown.wait_for_selector(ready, state="attached", timeout=60_000)
        first, first_cpu_s = time.perf_counter() - began, _thread_s(tools)
        empty = [name for name, count in marks(shown).items() if count == 0]
        if empty:
            raise SystemExit(f"not drawn: {empty}")
        return {"drawn": first, "all": time.perf_counter() - began, "drawn_cpu": first_cpu_s, "all_cpu": _thread_s(tools)}


def _thread_s(tools: Any) -> float:
    """Return the processor seconds of the thread of a page that runs scripts and lays out, which is what a reader waits for."""
    return next(float(one["value"]) for one in tools.send("Performance.getMetrics")["metrics"] if one["name"] == "ThreadTime")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        write_plotly(given.folder)
        given.out.write_text("null")
        return
    with temporary_folder() as folder:
        make_study(folder, given.trials)
        ours(folder)  # the peer draws one of its figures
        found = in_turn(given.rounds, {"ours": partial(ours, folder), "plotly": partial(plotly, folder)})
        figures = json.loads((folder / "figures.json").read_text())["figures"]
        counts = sum(len(figure["panels"]) for figure in figures)
    columns = ("made", "cpu", "megabytes", "drawn", "all", "drawn_cpu", "all_cpu")
    medians: dict[str, dict[str, Any]] = {
        side: {name: median([one[name] for one in costs]) for name in columns} for side, costs in found.items()
    }
    show(
        f"report of {given.trials} trials, {counts} panels, against one figure ({load_line()})",
        ["", "made s", "cpu s", "MB", "drawn s", "all drawn s", "drawn cpu s", "all drawn cpu s"],
        [[side, *values.values()] for side, values in medians.items()],
    )
    mine, theirs = medians["ours"], medians["plotly"]
    print(
        f"\ntargets: made in 10 s, under 5 MB, drawn in 3 s; ours {mine['made']:.1f} s, {mine['megabytes']:.1f} MB, {mine['drawn']:.1f} s"
    )
    print("ratio ours / plotly's one figure: " + ", ".join(f"{name} {mine[name] / theirs[name]:.2f}" for name in columns))


if __name__ == "__main__":
    main()
