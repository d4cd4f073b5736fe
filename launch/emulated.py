"""`--emulate` on any command: an emulator of SageMaker's training jobs runs for as long as the command does."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, MutableMapping

MARK = "OUTRIDER_EMULATED"
"""Variable that is set while a command has an emulator of its own."""


@contextlib.contextmanager
def emulated(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Inside the block AWS clients that look at the environment talk to an emulator on 127.0.0.1; afterwards it is as it was.

    Args:
        environ: the process's environment.
    """
    from backends.emulator import Emulator, Settings
    from backends.emulator.core.settings import WARM_POOL_QUOTA

    # An account has no quota for warm pools until it asks for one; who emulates wants to see them.
    quotas = {WARM_POOL_QUOTA.format("*"): 10, **{name: limit for name, limit in Settings().quotas.items() if "warm pool" not in name}}
    with Emulator(settings=Settings(quotas=quotas)) as emulator:
        given = {**emulator.environment, MARK: "1"}
        earlier = {name: environ.get(name) for name in given}
        environ.update(given)
        print(f"emulated AWS on {emulator.endpoint_url}", file=sys.stderr, flush=True)
        try:
            yield
        finally:
            for name, value in earlier.items():
                if value is None:
                    environ.pop(name, None)
                else:
                    environ[name] = value
