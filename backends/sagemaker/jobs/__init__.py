"""Training jobs from request to outcome."""
