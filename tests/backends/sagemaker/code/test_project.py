"""Our own packages, packed: alike from a checkout and from a wheel, and nothing but them."""

from __future__ import annotations

import io
import shutil
import tarfile

import pytest

from backends.sagemaker.code.project import _ROOT, MODULES, PACKAGES, pack_project
from definitions.errors import UserError


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "checkout"
    for package in PACKAGES:
        (root / package / "inner").mkdir(parents=True)
        (root / package / "inner" / "module.py").write_text("x = 1\n", encoding="utf-8")
    for name in MODULES:
        (root / name).write_text("", encoding="utf-8")
    return root


def test_what_an_installer_does_to_files_is_no_other_content(checkout, tmp_path):
    before = pack_project(["a==1"], tmp_path, checkout)
    elsewhere = tmp_path / "site-packages"
    shutil.copytree(checkout, elsewhere)
    (elsewhere / "launch" / "inner" / "module.py").chmod(0o755)
    (elsewhere / "launch" / "__pycache__").mkdir()
    (elsewhere / "launch" / "__pycache__" / "module.py").write_text("", encoding="utf-8")
    (elsewhere / "launch" / "inner" / "notes.orig").write_text("", encoding="utf-8")
    (elsewhere / "numpy").mkdir()
    assert pack_project(["a==1"], tmp_path, elsewhere).hash == before.hash
    (elsewhere / "launch" / "inner" / "module.py").write_text("x = 2\n", encoding="utf-8")
    assert pack_project(["a==1"], tmp_path, elsewhere).hash != before.hash
    assert pack_project(["a==2"], tmp_path, checkout).hash != before.hash


def test_the_archive_holds_what_runs_in_a_controller(tmp_path):
    packed = io.BytesIO()
    pack_project(["numpy==2"], tmp_path).write(packed)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as tar:
        names = set(tar.getnames())
        assert tar.extractfile("requirements.txt").read() == b"numpy==2\n"  # type: ignore[union-attr]
    assert {"hpo_main.py", "outrider.py", "definitions/instances.csv", "definitions/builtin/digits.yaml", "launch/cli.py"} <= names
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, *MODULES, "requirements.txt"}
    assert "benchmarking/workloads/digits.py" in names
    assert _ROOT.is_dir()


def test_a_broken_installation_is_said(tmp_path):
    with pytest.raises(UserError, match="cannot be packed"):
        pack_project([], tmp_path, tmp_path / "nowhere")
