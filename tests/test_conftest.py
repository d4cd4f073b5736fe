import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

HUNG = """
import signal, time
import pytest

# As code below Python that hears no signal.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])

@pytest.mark.timeout(100)
def test_long():
    time.sleep(3.0)

def test_hangs():
    time.sleep(100)
"""


@pytest.mark.slow
def test_a_test_that_hangs_below_python_ends_its_process_by_its_own_time_out(tmp_path):
    """The one that may take long is left alone, though it takes longer than others may."""
    (tmp_path / "conftest.py").write_text("import tests.conftest as ours\nours.HEARD_WITHIN_S = 0.5\nfrom tests.conftest import *\n")
    (tmp_path / "test_it.py").write_text(HUNG)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntimeout = 1\nmarkers =\n  slow\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    words = [sys.executable, "-m", "pytest", "-v", "-m", "", "--rootdir", str(tmp_path), "-c", str(tmp_path / "pytest.ini"), str(tmp_path)]
    done = subprocess.run(words, cwd=Path(__file__).parent.parent, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert "test_long PASSED" in done.stdout
    assert done.returncode == 1
    assert "Timeout (0:00:01.500000)!" in done.stderr
    assert "in test_hangs" in done.stderr


def test_garbage_is_collected_while_tests_run_but_not_looked_for_among_the_tests():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000  # modules and tests: what was there before the first test ran
