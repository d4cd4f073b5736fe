"""Forecasts of a full job from canaries: laws of its phases, intervals that say what the evidence carries, and the ladder of runs."""

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.data.table import parse_table, read_table
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import METRICS, Forecast, Status

__all__ = ["METRICS", "Canary", "CanaryTable", "Forecast", "Question", "Status", "forecast", "parse_table", "read_table"]
