"""Replays measured runs on a virtual clock."""

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import CsvTable, Run, RunTable

__all__ = ["CsvTable", "Run", "RunTable", "SimulatedBackend"]
