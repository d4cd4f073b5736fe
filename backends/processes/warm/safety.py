"""Whether forks of this process are as good as processes of their own. Standard library only."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_DEVICES = ("/dev/nvidia", "/dev/kfd", "/dev/dri", "/dev/accel", "/dev/neuron")
_HARMLESS = ("/dev/null", "/dev/urandom", "/dev/random", "/dev/zero")


def open_descriptors() -> dict[int, str]:
    """Return what each open descriptor of this process leads to."""
    found = {}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 (the listing's own descriptor is among them and gone by then)
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")  # noqa: PTH115
        except OSError:
            # Closed between the listing and the look, as the listing's own is.
            continue
    return found


def thread_count() -> int:
    """Return how many threads this process has, those that no Python code started included."""
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208


def unsafe(known: Collection[int]) -> str:
    """Return why this process must not be forked into jobs, or nothing.

    Args:
        known: descriptors that may be open.
    """
    # A fork has the calling thread alone: locks that others hold stay locked for ever.
    threads = thread_count()
    if threads > 1:
        return f"started {threads - 1} thread{'s' if threads > 2 else ''}, which a fork does not copy"
    # A process that an import started belongs to the worker: a job could neither wait for it nor end it.
    if _children():
        return "started a process"
    # What is open is shared with its position: two jobs would read each other's bytes away.
    for descriptor, target in open_descriptors().items():
        if descriptor in known or target in _HARMLESS:
            continue
        if target.startswith(_DEVICES):
            return f"opened the device {target}, which a fork cannot share"
        return f"keeps {target} open, which jobs would share"
    # Asked apart, as CUDA may be up without a device file of the kinds above, in a container for instance.
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "initialised CUDA, which does not survive a fork"
    return ""


def shadowed(folder: str, loaded: Collection[str]) -> str:
    """Return why a script of this folder would find other modules in a warm worker than in a new interpreter, or nothing.

    Args:
        folder: the script's.
        loaded: top-level modules that the worker itself has imported.
    """
    # Listed and not imported: what is in the script's folder is the script's to run.
    try:
        names = {name.removesuffix(".py") for name in os.listdir(folder)}  # noqa: PTH208
    except OSError as error:
        return f"{folder} cannot be read: {error}"
    hidden = sorted(names & {*loaded} - {"__main__", "__pycache__"})
    return f"{folder} has a module {hidden[0]!r} of its own, which hides the standard library's" if hidden else ""


def _children() -> bool:
    # Those that have ended and were not waited for count too.
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as file:  # noqa: PTH123
            return bool(file.read().strip())
    except OSError:
        return False
