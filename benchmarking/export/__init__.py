"""Result files, derived from the journal: one module per file."""

from benchmarking.export.reports_csv import write_reports
from benchmarking.export.trials_csv import write_trials

__all__ = ["write_reports", "write_trials"]
