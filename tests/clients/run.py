"""Runs clients that nobody here wrote against the emulator, each in an environment of its own, and prints what came of it.

What cannot be installed within the time is skipped by name. An environment is kept, and made anew where what it needs has changed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

ROLE = "arn:aws:iam::123456789012:role/trainer"
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.5-cpu-py311"


@dataclass(frozen=True)
class Client:
    """A client.

    Args:
        name: of its environment, and of the file with its checks.
        needs: what pip installs.
        package: whose version is told.
        checkout: variable with the folder of what cannot be installed; empty where all can.
    """

    name: str
    needs: tuple[str, ...]
    package: str
    checkout: str = ""


CLIENTS = (
    Client("boto3_alone", ("boto3",), "boto3"),
    Client("sdk_v2", ("sagemaker>=2.200,<3",), "sagemaker"),
    Client("syne_tune_0_13", ("syne-tune[basic]==0.13.0", "sagemaker>=2.200,<3", "numpy<2", "setuptools<81"), "syne-tune"),
    Client("sdk_v3", ("sagemaker>=3,<4",), "sagemaker"),
    Client(
        "bencher",
        ("sagemaker>=2.200,<3", "sagemaker-experiments", "tqdm", "shortuuid", "webdataset", "pyyaml", "Pillow", "requests"),
        "sagemaker-experiments",
        "BENCHER",
    ),
)


def installed(client: Client, folder: Path, until: float) -> str:
    """Make a client's environment where it is not there yet, and return why it cannot be had; empty where it can."""
    if client.checkout and not os.environ.get(client.checkout):
        return f"{client.checkout} has to name the folder of a checkout of it"
    mark = folder / "installed"
    if mark.exists() and mark.read_text(encoding="utf-8") == "\n".join(client.needs):
        return ""
    left_s = until - time.monotonic()
    if left_s < 1:
        return "no time is left to install it"
    try:
        if not (folder / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=left_s, capture_output=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *client.needs]
        done = subprocess.run(pip, timeout=until - time.monotonic(), capture_output=True, encoding="utf-8", check=False)
    except (subprocess.SubprocessError, ValueError) as error:
        return f"it cannot be installed in time ({type(error).__name__})"
    if done.returncode:
        return f"it cannot be installed: {(done.stderr.strip().splitlines() or ['pip failed'])[-1][:200]}"
    mark.write_text("\n".join(client.needs), encoding="utf-8")
    return ""


def check(client: Client, python: Path, scratch: Path, timeout_s: float) -> tuple[list[tuple[str, str]], str]:
    """Run a client's checks against an emulator whose jobs run with the client's own packages; return their results, and what was said."""
    from backends.emulator import Emulator, Settings

    with Emulator(settings=Settings(python=str(python))) as emulator:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAGEMAKER_"))}
        environment |= emulator.environment
        # Whatever would leave the machine ends here.
        environment |= {"HTTPS_PROXY": "http://127.0.0.1:9", "HOME": str(scratch), "ROLE": ROLE, "IMAGE": IMAGE, "PYTHONPATH": str(HERE)}
        words = [str(python), str(HERE / f"{client.name}.py")]
        told = {"capture_output": True, "encoding": "utf-8", "check": False, "timeout": timeout_s}
        try:
            done = subprocess.run(words, env=environment, cwd=scratch, **told)
        except subprocess.TimeoutExpired:
            return [("all", "FAILED: it took too long")], ""
    lines = [line.removeprefix("check: ").partition(": ") for line in done.stdout.splitlines() if line.startswith("check: ")]
    results = [(name, result) for name, _, result in lines]
    if done.returncode and not any(result != "ok" for _, result in results):
        results.append(("all", f"FAILED: exit code {done.returncode}"))
    return results, done.stdout + done.stderr


def version(python: Path, package: str) -> str:
    """Return the version of a package in an environment."""
    words = [str(python), "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", help=f"of {', '.join(client.name for client in CLIENTS)}; default: all")
    parser.add_argument("--environments", type=Path, default=ROOT / ".venv-clients", help="folder of their environments")
    parser.add_argument("--minutes", type=float, default=10.0, help="for everything")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    failed = False
    for client in CLIENTS:
        if given.clients and client.name not in given.clients:
            continue
        folder = given.environments / client.name
        missing = installed(client, folder, until - 60)
        if missing:
            print(f"{client.name:<16} skipped: {missing}", flush=True)
            continue
        python = folder / "bin" / "python"
        with tempfile.TemporaryDirectory() as scratch:
            results, said = check(client, python, Path(scratch), max(30.0, until - time.monotonic()))
        for name, result in results:
            print(f"{client.name:<16} {version(python, client.package):<12} {name:<40} {result}", flush=True)
        if any(result != "ok" for _, result in results):
            failed = True
            print(said[-4000:], file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
