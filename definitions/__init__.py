"""WHAT to run: definitions of benchmarks, search spaces, ingestion modes, instance facts and prices. Pure data."""

__version__ = "0.1.0"
"""Outrider's version; `setup.cfg` and `--version` read it here."""
