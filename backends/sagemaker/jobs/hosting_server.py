"""Which servers of models an endpoint of the service can have. Pure."""

from __future__ import annotations

from definitions.errors import UserError

AWS_SERVER = "triton"
"""The one that AWS has an image of which loads our packages."""


def server_problem(server: str, region: str, emulated: bool, has_image: bool) -> UserError | None:
    """Return why no image of AWS's holds a server; None where one does, or none is needed.

    Args:
        server: name of it.
        region: of the endpoint.
        emulated: whether the emulator serves, which has no images and starts the server itself.
        has_image: whether the definition names an image.
    """
    if server == AWS_SERVER or emulated or has_image:
        return None
    return UserError(
        f"server {server} on an endpoint in {region}",
        f"AWS has an image of {AWS_SERVER} that loads these packages, and none of {server}",
        f"use server {AWS_SERVER}, or give sagemaker.image, the URI of an image that holds it",
    )
