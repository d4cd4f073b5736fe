"""What the objective will be at full data, or after all epochs."""
