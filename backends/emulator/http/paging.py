"""Opaque page tokens: plain data in a form that a client hands back unread."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from backends.emulator.http.errors import invalid


def encode_token(value: Any) -> str:
    """Return an opaque page token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def decode_token(token: str) -> Any:
    """Return what a page token stands for; raises a `ValidationException` for one that is none of ours."""
    try:
        return json.loads(base64.urlsafe_b64decode(token.encode()))
    except (ValueError, binascii.Error):
        raise invalid("Invalid NextToken") from None
