"""Runs clients that nobody here wrote against the emulator, two at a time, and prints what came of it.

Their packages come from two pinned locks, into environments that are kept in the user's cache (XDG_CACHE_HOME).
What cannot be installed, or not begun, within the time is skipped by name; what was begun and does not go well fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from environments import MissingError, cache_folder, environment  # noqa: E402 (it stands beside this file, which is no package)

ROLE = "arn:aws:iam::123456789012:role/trainer"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.5-cpu-py311"
SHORTEST_S = 60.0
"""Seconds that have to be left for a client to be begun."""


@dataclass(frozen=True)
class Client:
    """A client.

    Args:
        name: of the file with its checks.
        lock: of its packages.
        package: whose version is told.
        checkout: variable with the folder of what is in no registry; empty where all is.
        compared: our tests that compare with it instead of checks on the emulator, below `tests/`.
    """

    name: str
    lock: str
    package: str
    checkout: str = ""
    compared: str = ""


CLIENTS = (
    Client("sdk_v3", "version_3", "sagemaker"),
    Client("sdk_v2", "version_2", "sagemaker"),
    Client("syne_tune_0_13", "version_2", "syne-tune"),
    Client("bencher", "version_2", "sagemaker-experiments", "BENCHER"),
    Client("boto3_alone", "version_3", "boto3"),
    Client("toolkit", "toolkit", "sagemaker-training", compared="backends/common/test_toolkit.py"),
)
"""The longest first."""


@dataclass(frozen=True)
class Told:
    """What came of a client: a line for each check, whether one failed, what it printed."""

    lines: tuple[str, ...]
    failed: bool = False
    printed: str = ""


def checked(client: Client, python: Path, scratch: Path, timeout_s: float) -> Told:
    """Run a client's checks against an emulator whose jobs run with the client's own packages."""
    from backends.emulator import Emulator, Settings

    began = time.monotonic()
    with Emulator(settings=Settings(python=str(python))) as emulator:
        found = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAGEMAKER_"))}
        # Whatever would leave the machine ends here.
        found |= {**emulator.environment, "HTTPS_PROXY": "http://127.0.0.1:9", "HOME": str(scratch), "XDG_CACHE_HOME": str(scratch)}
        found |= {"ROLE": ROLE, "IMAGE": IMAGE, "PYTHONPATH": str(HERE)}
        words = [str(python), str(HERE / f"{client.name}.py")]
        told = {"capture_output": True, "encoding": "utf-8", "check": False, "timeout": timeout_s}
        try:
            done = subprocess.run(words, env=found, cwd=scratch, **told)
            code, printed, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, printed, said = None, (late.stdout or b"").decode(), (late.stderr or b"").decode()
    results = [line.removeprefix("check: ").partition(": ")[::2] for line in printed.splitlines() if line.startswith("check: ")]
    if code is None or (code and all(result == "ok" for _, result in results)):
        results.append(("all", "FAILED: " + (f"not over after {timeout_s:.0f} s" if code is None else f"exit code {code}")))
    head = f"{client.name:<16} {version(python, client.package):<10}"
    lines = [f"{head} {name:<42} {result}" for name, result in results]
    lines.append(f"{head} {len(results)} checks in {time.monotonic() - began:.0f} s")
    return Told(tuple(lines), any(result != "ok" for _, result in results), printed + said)


def compared(client: Client, python: Path, timeout_s: float) -> Told:
    """Run our tests that compare with a client's package, which OUTRIDER_TOOLKIT_PYTHON has; all skipped is a failure too."""
    began = time.monotonic()
    words = [sys.executable, "-m", "pytest", "--color=no", "-p", "no:cacheprovider", str(ROOT / "tests" / client.compared)]
    found = {**os.environ, "OUTRIDER_TOOLKIT_PYTHON": str(python)}
    try:
        done = subprocess.run(words, env=found, cwd=ROOT, timeout=timeout_s, capture_output=True, encoding="utf-8", check=False)
        passes, printed = done.returncode == 0, done.stdout + done.stderr
        said = (done.stdout.strip().splitlines() or [f"exit code {done.returncode}"])[-1].strip("= ")
    except subprocess.TimeoutExpired as late:
        passes, printed, said = False, (late.stdout or b"").decode(), f"not over after {timeout_s:.0f} s"
    passed = re.search(r"\b(\d+) passed", said)
    ok = passes and passed is not None and "skipped" not in said
    head = f"{client.name:<16} {version(python, client.package):<10}"
    told = f"{head} {'the same variables and arguments':<42} {'ok' if ok else 'FAILED: ' + said}"
    return Told((told, f"{head} {passed[1] if passed else 0} checks in {time.monotonic() - began:.0f} s"), not ok, printed)


def version(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    words = [str(python), "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout.strip()


def run(client: Client, cache: Path, until: float) -> Told:
    """Have a client's environment and run its checks, or say why not; it has to be installed a while before `until`."""
    if client.checkout and not os.environ.get(client.checkout):
        return Told((f"{client.name:<16} skipped: {client.checkout} has to name the folder of a checkout of it",))
    try:
        python = environment(HERE / f"{client.lock}.lock", cache, until - SHORTEST_S)
    except MissingError as missing:
        return Told((f"{client.name:<16} skipped: {missing}",))
    left_s = until - time.monotonic()
    if left_s < SHORTEST_S:
        return Told((f"{client.name:<16} skipped: no time is left for it",))
    if client.compared:
        return compared(client, python, left_s)
    with tempfile.TemporaryDirectory() as scratch:
        return checked(client, python, Path(scratch), left_s)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", help=f"of {', '.join(client.name for client in CLIENTS)}; default: all")
    parser.add_argument("--environments", type=Path, default=cache_folder(os.environ), help="folder of their environments")
    parser.add_argument("--minutes", type=float, default=10.0, help="for everything")
    parser.add_argument("--at_once", type=int, default=2)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    chosen = [client for client in CLIENTS if not given.clients or client.name in given.clients]
    failed, printing = [], threading.Lock()

    def one(client: Client) -> None:
        told = run(client, given.environments, until)
        with printing:
            print("\n".join(told.lines), flush=True)
            if told.failed:
                failed.append(client.name)
                print(told.printed[-4000:], file=sys.stderr, flush=True)

    with ThreadPoolExecutor(given.at_once) as pool:
        for done in [pool.submit(one, client) for client in chosen]:
            done.result()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
