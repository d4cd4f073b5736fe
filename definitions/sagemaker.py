"""Names of the back-ends whose jobs are training jobs."""

CLOUD_BACKENDS = ("sagemaker", "warm_pool")
"""Back-ends whose jobs are training jobs of SageMaker."""
