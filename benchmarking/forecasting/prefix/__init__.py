"""The beginning of the full job as a measurement: what it told, and when that is enough."""
