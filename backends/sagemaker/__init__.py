"""Trials as SageMaker training jobs, by boto3 alone."""
