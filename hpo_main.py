"""Run benchmarks: the same as `outrider run`. See `python hpo_main.py --help`."""

import sys

from launch.__main__ import program

if __name__ == "__main__":
    sys.exit(program("run"))
