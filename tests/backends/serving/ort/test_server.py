"""The server `ort` behind the front."""

from __future__ import annotations

import pytest

from tests.backends.serving.server_contract import ServerContract

pytestmark = pytest.mark.slow


class TestOrt(ServerContract):
    server = "ort"
