"""Warm starts: a worker that has done the imports forks each job. `starts.Starts` is what the local back-end uses."""
