"""A plug-in for Outrider: back-end `other`, method EVERY_OTHER, benchmark other_demo."""

from pathlib import Path

BENCHMARK = Path(__file__).with_name("other_demo.yaml")
"""What the entry point `outrider.benchmarks` leads to: the path of a definition."""
