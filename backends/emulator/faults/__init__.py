"""Faults on demand: rules, and those in force."""
