"""python -m forecaster --alpha 0.5 --squared."""

import argparse
import logging
from importlib import resources

from .model import smooth

parser = argparse.ArgumentParser()
parser.add_argument("--alpha", type=float)
parser.add_argument("--squared", action=argparse.BooleanOptionalAction)
given = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
values = [float(line) for line in resources.files(__package__).joinpath("series.txt").read_text().split()]
errors = [abs(value - forecast) for value, forecast in zip(values, smooth(values, given.alpha), strict=True)]
logging.getLogger(__package__).info("mean error %.5f", sum(error**2 if given.squared else error for error in errors) / len(errors))
