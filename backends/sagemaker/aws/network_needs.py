"""Which services a job in a VPC has to reach that calls AWS itself."""

from __future__ import annotations

INTERFACES = ("sagemaker.api", "logs", "sts")
"""Those with an endpoint in the subnets, by the end of its name: creating jobs, reading their logs, asking whose account it is."""
HELPFUL = ("servicequotas",)
"""Likewise one that is asked how many jobs there may be; where it is not reached, a start takes longer."""
GATEWAY = "s3"
"""The one with an endpoint in the routes: code, data, checkpoints, journals."""
