"""Forecasts of a full job from canaries: laws of its phases, intervals that say what the evidence carries, and the ladder of runs."""

from benchmarking.canary.answer import METRICS, Forecast, Status
from benchmarking.canary.forecast import Question, forecast
from benchmarking.canary.table import Canary, CanaryTable, parse_table, read_table

__all__ = ["METRICS", "Canary", "CanaryTable", "Forecast", "Question", "Status", "forecast", "parse_table", "read_table"]
