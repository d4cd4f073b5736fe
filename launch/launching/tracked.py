"""Trackers that a launched run tells: checked before anything is created, and what they take in a controller."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from benchmarking.tracking.registry import MLFLOW, check_tracker
from definitions.errors import UserError
from definitions.program import command

URI_VARIABLE = "MLFLOW_TRACKING_URI"
_FLAG = "--track"
_CLIENT, _SIGNING = "mlflow-skinny", "sagemaker-mlflow"


def check_trackers(kinds: Sequence[str], environ: Mapping[str, str], *, emulated: bool) -> None:
    """Raise `UserError` for a tracker that there is not, or that controllers could not tell.

    Args:
        kinds: of trackers.
        environ: of the launcher.
        emulated: whether controllers run on this machine.
    """
    for kind in kinds:
        check_tracker(kind, environ)
    if MLFLOW not in kinds:
        return
    uri = environ[URI_VARIABLE]
    problem = _problem(uri, emulated=emulated)
    if problem:
        # Not whole, as it may have a password.
        shown = urlsplit(uri).hostname or f"{uri.partition(':')[0]}:..."
        bring = command("export", "TAG", "--to", MLFLOW)
        raise UserError(f"launch --track {MLFLOW}: {URI_VARIABLE} is {shown}", problem, f"leave it out; once collected: `{bring}`")


def tracker_environment(kinds: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a controller that say where trackers are."""
    return {URI_VARIABLE: environ[URI_VARIABLE]} if MLFLOW in kinds else {}


def tracker_packages(kinds: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Return the packages by which a controller tells trackers; what talks to AWS is there in any case."""
    if MLFLOW not in kinds:
        return []
    return [_CLIENT, *([_SIGNING] if environ.get(URI_VARIABLE, "").startswith("arn:") else [])]


def tracker_words(kinds: Sequence[str]) -> list[str]:
    """Return the words by which the command in a controller tells them."""
    return [_FLAG, *kinds] if kinds else []


def trackers_in(words: Sequence[str]) -> list[str]:
    """Return the trackers that words of such a command name."""
    if _FLAG not in words:
        return []
    return [*itertools.takewhile(lambda word: not word.startswith("--"), words[words.index(_FLAG) + 1 :])]


def _problem(uri: str, *, emulated: bool) -> str:
    """Return why controllers cannot track to an address; empty where they can."""
    if uri.startswith("arn:"):
        return ""
    address = urlsplit(uri)
    if address.scheme not in ("http", "https"):
        return "it is reached from this machine alone, and controllers run elsewhere"
    if address.username or address.password:
        return "it has a name or a password, which everybody could read who may look at the controllers' jobs"
    return "" if emulated or not _is_here(address.hostname or "") else "that is this machine, and controllers run elsewhere"


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
