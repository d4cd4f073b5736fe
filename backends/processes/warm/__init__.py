"""Warm starts: a worker that has done the imports forks each job. `starter.JobStarter` chooses between a fork and a new process."""
