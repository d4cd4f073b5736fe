"""Result files, derived from the journal: one module per format, behind one interface."""

from benchmarking.export.exporter import ExportContext, ExportedExperiment, Exporter
from benchmarking.export.registry import exporter_names, make_exporter

__all__ = ["ExportContext", "ExportedExperiment", "Exporter", "exporter_names", "make_exporter"]
