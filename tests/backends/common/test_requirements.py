import subprocess
import sys
from importlib import metadata

import pytest

from backends.common import requirements


@pytest.mark.slow
def test_as_a_program_it_names_what_is_missing(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# ours\npip\nno-such-package-of-ours==1\n")
    done = subprocess.run([sys.executable, requirements.__file__, str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "no-such-package-of-ours==1\n")
    file.write_text("\ufeffpip\n")  # as editors on Windows begin a file, which pip passes over too
    assert subprocess.run([sys.executable, requirements.__file__, str(file)]).returncode == 0


def test_a_pin_is_told_where_nothing_is_installed_that_reads_versions(monkeypatch):
    for name in ("packaging", "packaging.requirements", "pip", "pip._vendor.packaging.requirements"):
        monkeypatch.setitem(sys.modules, name, None)
    there = metadata.version("numpy")
    assert requirements.unsatisfied([f"numpy=={there}", "numpy"]) == []
    for other in (f"numpy=={there}.1", "numpy==1.*", f"numpy>={there}", "no-such-package-of-ours==1"):
        assert requirements.unsatisfied([other]) == [other]
