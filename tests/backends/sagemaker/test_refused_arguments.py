"""A training job that ends since its script does not take an argument says which, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from backends.events import Event
from backends.failures import Cause
from tests.backends.contract import all_closed, closed, collect
from tests.backends.sagemaker.cloud_bench import SPEED, CloudBench

pytestmark = pytest.mark.slow

SCRIPT = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--amp", action="store_true")
parser.parse_args()
"""
TOLD = {"unknown": {"learning_rate": 0.5}, "nothing-near": {"zzz": 1}, "switch": {"amp": True}}


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Event]]:
    with pytest.MonkeyPatch.context() as patched, CloudBench(tmp_path_factory.mktemp("cloud")) as bench:
        for name, value in bench.emulator.environment.items():
            patched.setenv(name, value)
        (bench.source / "run.py").write_text(SCRIPT)
        backend = bench.backend()
        for name, values in TOLD.items():
            words = tuple(word for key, value in values.items() for word in (f"--{key}", str(value).lower()))
            backend.submit(bench.job("", name, arguments=words, parameters=values))
        found = collect(backend, all_closed(*TOLD), 60.0 * SPEED)
        backend.close()
        yield found


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "unknown",
            "the script does not know --learning_rate; the nearest that it knows is --learning-rate, told by `arguments_style: hyphens`",
        ),
        ("nothing-near", "the script does not know --zzz"),
        ("switch", "--amp takes no value; `booleans: switch` tells it where it is true, and leaves it out else"),
    ],
)
def test_the_argument_and_what_mends_it_are_said(events: list[Event], name: str, hint: str) -> None:
    end = closed(events, name)
    assert end.cause is Cause.SCRIPT_ERROR
    assert end.message.endswith(f" ({hint})")
