"""The training jobs that run a launched study themselves."""
