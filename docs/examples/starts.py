"""A training script that takes a few seconds: gradient descent on a quadratic, one report an epoch."""

import argparse
import time

from outrider_report import phase, report

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float)
parser.add_argument("--epochs", type=int)
given = parser.parse_args()

guess = 0.0
for epoch in range(1, given.epochs + 1):
    with phase("train"):
        time.sleep(0.5)
        guess += given.learning_rate * (0.3 - guess)
    report(epoch=epoch, loss=(0.3 - guess) ** 2)
