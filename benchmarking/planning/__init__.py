"""From a configuration to a job: inputs, feasibility, how many at once."""
