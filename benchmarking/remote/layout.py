"""Where the state of a launched run is, below `s3://BUCKET/PREFIX/runs/TAG`: keys made and read. Pure."""

from __future__ import annotations

import re

RUNS = "runs"
"""Folder below the prefix that holds one folder for each tag."""

LAUNCH = "launch.json"
"""What was launched; who creates it has the tag."""
STUDY = "study.json"
"""The study, as results/TAG/study.json says it."""
CONTROLLERS = ".controllers/"
"""Below it, per controller: claims of its generations, and its last word."""
CLAIMS = ".claims/"
"""Below it, per experiment: which controller runs it."""

LIVE = "live.json"
"""How an experiment, or a controller, stands: its last word."""
JOURNAL = "journal/"
FILES = "files/"
_SEGMENT = re.compile(r"(?P<experiment>[^/.][^/]*/[^/]+)/journal/(?P<number>\d{8})")
_FILE = re.compile(r"(?P<experiment>[^/.][^/]*/[^/]+)/files/(?P<name>.+)")
_GENERATION = re.compile(r"\.controllers/(?P<controller>\d+)/g(?P<generation>\d+)\.json")


def run_uri(bucket: str, prefix: str, tag: str) -> str:
    """Return the root of a run."""
    return "/".join(part for part in (f"s3://{bucket}", prefix.strip("/"), RUNS, tag) if part)


def shared_root(uri: str) -> str:
    """Return the root that all runs have in common, of the root of one: packages lie below it."""
    return uri.rstrip("/").rpartition(f"/{RUNS}/")[0]


def tag_of(uri: str) -> str:
    """Return the tag of a run's root."""
    return uri.rstrip("/").rpartition("/")[2]


def experiment_key(benchmark: str, method: str, backend: str, number: int) -> str:
    """Return what the keys of an experiment begin with, which is also its folder below that of its tag; without a slash at the end."""
    return f"{benchmark}/{method}-{backend}-{number}"


def segment_key(experiment: str, number: int) -> str:
    """Return the key of a segment of an experiment's journal; they count from 1."""
    return f"{experiment}/{JOURNAL}{number:08d}"


def segment_of(key: str) -> tuple[str, int] | None:
    """Return the experiment and the number of a segment; None for any other key."""
    found = _SEGMENT.fullmatch(key)
    return None if found is None else (found["experiment"], int(found["number"]))


def file_key(experiment: str, name: str) -> str:
    """Return the key of a file that stands in an experiment's folder, `name` relative to it."""
    return f"{experiment}/{FILES}{name}"


def file_of(key: str) -> tuple[str, str] | None:
    """Return the experiment and the name of one of its files; None for any other key."""
    found = _FILE.fullmatch(key)
    return None if found is None else (found["experiment"], found["name"])


def live_key(experiment: str) -> str:
    """Return the key of an experiment's last word."""
    return f"{experiment}/{LIVE}"


def claim_key(experiment: str) -> str:
    """Return the key that says which controller runs an experiment."""
    return f"{CLAIMS}{experiment}.json"


def generation_key(controller: int, generation: int) -> str:
    """Return the key by which a generation of a controller is claimed; both count from 1."""
    return f"{CONTROLLERS}{controller}/g{generation}.json"


def generation_of(key: str) -> tuple[int, int] | None:
    """Return the controller and the generation that a claim is of; None for any other key."""
    found = _GENERATION.fullmatch(key)
    return None if found is None else (int(found["controller"]), int(found["generation"]))


def controller_live_key(controller: int) -> str:
    """Return the key of a controller's last word."""
    return f"{CONTROLLERS}{controller}/{LIVE}"
