"""Forecasts of a full job from canaries: laws of its phases, intervals that say what the evidence carries, and the ladder of runs."""
