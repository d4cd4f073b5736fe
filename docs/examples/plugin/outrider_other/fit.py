"""The script of other_demo: any program that can print a line. It finds its data where the back-end says."""

import argparse
import os
from pathlib import Path

from outrider_report import report

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
given = parser.parse_args()
sizes = sorted(path.stat().st_size for path in Path(os.environ["OUTRIDER_CHANNEL_TRAIN"]).rglob("*.jpg"))
mean, guess = sum(sizes) / len(sizes), 0.0
for step in range(1, given.steps + 1):
    guess += 0.5 * (mean - guess)
    report(step=step, files=len(sizes), loss=abs(mean - guess) / mean)
