"""Reads metrics from files that a script writes, a reader for each format; as it travels to jobs: standard library only, Python 3.8."""
