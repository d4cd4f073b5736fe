"""`outrider emulate`: what its flags make of the settings."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from definitions.errors import UserError
from launch.verbs import emulate
from tests.backends.emulator.asking import control, exported
from tests.launch.conftest import with_signals


def settings(*words):
    return emulate.settings_of(emulate.make_parser().parse_args(words))


def first_match(quotas, name):
    import fnmatch

    return next(limit for pattern, limit in quotas.items() if fnmatch.fnmatchcase(name, pattern))


@pytest.mark.parametrize(
    ("asked", "limit"),
    [("* for training warm pool usage=10", 10), ("ml.m5.large for training warm pool usage=2", 2), ("*=7", 7)],
)
def test_a_quota_that_is_asked_for_counts_before_the_usual_ones(asked, limit):
    assert first_match(settings("--quota", asked).quotas, "ml.m5.large for training warm pool usage") == limit


def test_quotas_that_are_not_asked_for_stay():
    quotas = settings("--quota", "ml.g5.xlarge for training warm pool usage=1").quotas
    assert first_match(quotas, "ml.m5.large for training warm pool usage") == 0
    assert first_match(quotas, "ml.g5.xlarge for training warm pool usage") == 1
    assert first_match(quotas, "ml.g5.xlarge for training job usage") == 200


def test_a_quota_without_a_number_is_refused():
    with pytest.raises(UserError, match="NAME=N"):
        settings("--quota", "ml.m5.large")


@pytest.mark.slow
def test_a_hang_up_that_was_ignored_does_not_stop_it(tmp_path: Path) -> None:
    command = [*with_signals([signal.SIGHUP]), "-m", "launch", "emulate", "--folder", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.search(r"http://[\d.:]+", line)
            assert address, line
            process.send_signal(signal.SIGHUP)
            assert process.stdout is not None
            environment = exported(process.stdout)
            assert environment["AWS_ENDPOINT_URL"] == address[0]
            assert control(environment, "GET", "faults") == (200, [])
            process.send_signal(signal.SIGTERM)
            assert process.wait(90) == 0
        finally:
            process.kill()


def test_a_port_that_there_cannot_be_is_wrong_use():
    with pytest.raises(UserError, match="99999 is no port"):
        settings("--port", "99999")
