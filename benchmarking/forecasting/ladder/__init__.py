"""Which canaries to run next."""
