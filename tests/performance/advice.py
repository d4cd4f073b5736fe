"""Advice on input pipelines: the gain that is predicted of a change beside the gain that is measured, over all pairs that a grid has.

python tests/performance/advice.py [--repeats N] [--results DIR TAG]

Runs a grid of ways of reading, data sets, workers and threads on this machine (some ten minutes), repeats in turn, from an S3 server that
answers 10 ms late; the model waits, and the images are small but for one set. A pair is a configuration and one that differs by a change
whose gain is predicted from what the first one, or another, measured of the parts. With --results an earlier run is judged.

pairs      a change and its outcome, both measured; decided where the repeats say which of the two is faster
off by     |predicted / measured - 1|; beside it that of whoever predicts that no change gains anything
sign       of the decided pairs, how many are predicted to change in the direction in which they do, how many in the other, and of how many
           a change of less than a twentieth is predicted, which is advised to nobody
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _common import ROOT

from benchmarking.analysis.verdict import Measured, judge
from benchmarking.archive.stored import experiments_of, load
from benchmarking.report.pipeline_advice import WORTH, options_for, outcome_of
from benchmarking.report.pipelines import MeasuredPipeline, PipelineOption, measured_pipeline

GRID = """\
name: advice
script: image_ingestion.py
source_dir: {source}
arguments: {{instance_type: local.2cpu, model: sleep, compute_s: 0.05, batch_size: 16, image_size: 64, epochs: 1, min_window_s: 0.5}}
space:
  ingestion: {{choice: [local, s3_iterable]}}
  dataset: {{choice: [files, shards, large]}}
  loader_workers: {{choice: [0, 1, 2]}}
  threads_per_worker: {{choice: [1, 4]}}
valid: ["not (dataset == 'large' and (ingestion != 'local' or threads_per_worker > 1))"]
inputs: {{train: {{}}}}
datasets:
  files: &images {{type: images, format: jpg, samples: 400, image_size: 64}}
  shards: {{<<: *images, format: tar, samples_per_shard: 10}}
  large: {{<<: *images, image_size: 320}}
method: GRID
repeats: {repeats}
order: interleave
objectives: {{samples_per_s: max}}
budget: {{max_num_trials: 1000, max_failures: 5, max_run: 300}}
preload: [torch, s3torchconnector, numpy, PIL.Image]
local:
  store_faults: [{{kind: slow, latency_s: 0.01}}]
"""


def main() -> None:
    """Run the grid, or take one that ran, and print how far predictions were off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--results", nargs=2, metavar=("DIR", "TAG"), help="of an earlier run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        results, tag = (Path(given.results[0]), given.results[1]) if given.results else (Path(scratch), "advice")
        if not given.results:
            file = Path(scratch) / "advice.yaml"
            file.write_text(GRID.format(source=ROOT / "benchmarking" / "workloads", repeats=given.repeats))
            run = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", str(file), "--experiment_tag", tag]
            subprocess.run([*run, "--results_dir", scratch], check=True, stdout=subprocess.DEVNULL)
        (folder,) = experiments_of(results / tag)
        judged(folder)


def judged(folder: Path) -> None:
    """Print the pairs of an experiment and what they come to."""
    stored = load(folder)
    definition = stored.spec.definition
    with stored.journal() as journal:
        state = stored.state(journal)
    groups: dict[int, list] = {}
    for trial in state.trials.values():
        groups.setdefault(trial.evaluation, []).append(trial)
    found = [measured_pipeline(evaluation, trials, definition.arguments) for evaluation, trials in groups.items()]
    measured = [one for one in found if one is not None and one.rates]
    errors, idle, signs, inside = [], [], [], []
    for one in measured:
        for option in options_for(one, measured, definition, lambda configuration: ""):
            outcome = outcome_of(one, option.change, measured)
            if outcome is None:
                continue
            other = next(two for two in measured if two.evaluation == outcome.evaluation)
            sign = decided_sign(one, other)
            errors.append(option.gain / outcome.gain - 1)
            idle.append(1 / outcome.gain - 1)
            inside.append(option.low <= outcome.gain <= option.high)
            signs += [] if sign is None else [(sign, option.gain)]
            show(one, option, outcome.gain, sign)
    load_1, disturbed = os.getloadavg()[0], sum(one.disturbed for one in measured)
    logs = [math.log1p(error) for error in errors]
    none = sum(1 / WORTH < gain < WORTH for _, gain in signs)
    right = sum(gain >= WORTH if sign > 0 else gain <= 1 / WORTH for sign, gain in signs)
    print(f"\n{len(measured)} configurations, {disturbed} of them measured beside other load; load now {load_1:.1f}")
    late, root = sorted(map(abs, errors))[int(0.9 * len(errors))], math.sqrt(statistics.fmean(x * x for x in logs))
    print(
        f"{len(errors)} pairs: off by {100 * statistics.median(map(abs, errors)):.1f} % at the median, {100 * late:.1f} % at 90 %;", end=" "
    )
    print(f"root mean square {root:.3f}")
    print(f"who predicts no gain is off by {100 * statistics.median(map(abs, idle)):.1f} % at the median")
    print(
        f"sign of {len(signs)} decided pairs: right in {right}, wrong in {len(signs) - right - none}, no change predicted in {none};",
        end=" ",
    )
    print(f"outcome within the interval in {sum(inside)} of {len(inside)}")


def decided_sign(one: MeasuredPipeline, other: MeasuredPipeline) -> int | None:
    """Return 1 where the other is faster, -1 where it is slower, None where the repeats do not say."""
    entries = [Measured(two.evaluation, {}, [*two.rates.values()], [*two.rates]) for two in (one, other)]
    ranking = judge(entries, "max", paired=True)
    if ranking is None or not ranking.comparisons[0].decided:
        return None
    return 1 if ranking.leader.evaluation == other.evaluation else -1


def show(one: MeasuredPipeline, option: PipelineOption, gain: float, sign: int | None) -> None:
    """Print one pair."""
    name = " ".join(str(value) for value in one.configuration.values())
    change = " ".join(f"{key}={value}" for key, value in option.change.items())
    word = {None: "open", 1: "faster", -1: "slower"}[sign]
    print(f"{name:<26} {one.bound_by:<16} {change:<34} predicted {option.gain:5.2f} measured {gain:5.2f} {word}")


if __name__ == "__main__":
    main()
