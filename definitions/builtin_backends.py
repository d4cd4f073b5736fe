"""The back-ends that are built in, and which of them is meant where nobody names one. The only place that knows; it imports nothing."""

from __future__ import annotations

from collections.abc import Mapping

BUILT_IN: Mapping[str, str] = {
    "local": "backends.local.description:DESCRIPTION",
    "simulated": "backends.simulated.description:DESCRIPTION",
    "sagemaker": "backends.sagemaker.description:DESCRIPTION",
    "warm_pool": "backends.sagemaker.description:WARM_POOL",
    "ray": "backends.ray.description:DESCRIPTION",
}
"""Module and name of each description; no entry points, so that a clone runs without being installed."""

DEFAULT = "local"
"""Where trials run where nobody says."""

OF_AN_ACCOUNT = "sagemaker"
"""Which one's account is checked, and whose warm variant is meant, where nobody says."""
