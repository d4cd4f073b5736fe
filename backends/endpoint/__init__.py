"""Trials whose models are served by a SageMaker endpoint, with the load script on this machine: both back-ends at once."""
