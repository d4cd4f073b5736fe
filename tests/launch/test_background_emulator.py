"""`eval "$(outrider emulate --exports)"`: one line, and clients of AWS in this shell talk to an emulator that ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch.background_emulator import shell_of

ROOT = Path(__file__).parent.parent.parent


def processes(*table):
    """Make a folder like /proc of (pid, parent, command line)."""

    def fill(folder):
        for pid, parent, command in table:
            (folder / str(pid)).mkdir(parents=True)
            (folder / str(pid) / "stat").write_text(f"{pid} (a) b) S {parent} 1 1")
            (folder / str(pid) / "cmdline").write_text(command)
        return folder

    return fill


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ([(9, 5, "bash"), (5, 1, "login")], 9),
        ([(9, 5, "bash -c x"), (5, 1, "bash -c x"), (1, 0, "init")], 5),
        ([(9, 5, "bash"), (5, 4, "bash"), (4, 1, "bash"), (1, 0, "init")], 4),
        ([], 9),
    ],
)
def test_a_shell_that_was_forked_for_a_substitution_is_the_one_that_forked_it(tmp_path, table, found):
    assert shell_of(9, processes(*table)(tmp_path)) == found


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_one_line_in_a_shell_and_it_ends_with_it(tmp_path, shell):
    client = (
        "import boto3; account = boto3.client('sts').get_caller_identity()['Account']; "
        "print(account, boto3.client('s3').list_buckets()['Buckets'][0]['Name'])"
    )
    script = f'eval "$({sys.executable} -m launch emulate --exports --seed 3)"\n{sys.executable} -c "$1"\necho $AWS_ENDPOINT_URL\n'
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run(
        [shell, "-c", script, shell, client], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    asked, address = done.stdout.splitlines()
    assert asked == "123456789012 sagemaker-us-east-1-123456789012", done.stderr
    assert "it ends with this shell" in done.stderr
    port = int(address.rpartition(":")[2])
    deadline = time.monotonic() + 90
    listening = f":{port:04X} 00000000:0000 0A"
    while listening in Path("/proc/net/tcp").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_what_is_wrong_is_said_and_nothing_is_started():
    command = [sys.executable, "-m", "launch", "emulate", "--exports", "--quota", "nonsense"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "NAME=N" in done.stderr


@pytest.mark.slow
def test_the_exports_of_one_that_runs_on_a_folder_are_printed(tmp_path):
    from backends.emulator import Emulator

    words = [sys.executable, "-m", "launch", "emulate", "--exports", "--folder", str(tmp_path)]
    with Emulator(tmp_path) as emulator:
        (tmp_path / "exports").write_text(f"export AWS_ENDPOINT_URL={emulator.endpoint_url}\n")
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout == f"export AWS_ENDPOINT_URL={emulator.endpoint_url}\n"
