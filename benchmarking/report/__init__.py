"""What people read at the end: the verdict in words, the table of configurations."""

from benchmarking.report.summary import Summary, summarise
from benchmarking.report.text import table

__all__ = ["Summary", "summarise", "table"]
