"""Benchmark definitions that come with Outrider, one YAML file each."""
