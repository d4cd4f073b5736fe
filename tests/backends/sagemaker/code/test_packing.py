import ast
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

from backends.sagemaker.code.packing import MODULES, REPORTER, modules, pack
from definitions.errors import UserError


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    write(folder, {"train.py": "print(1)\n", "lib/model.py": "x = 1\n", "requirements.txt": "numpy\n"})
    return folder


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def archive(package):
    buffer = io.BytesIO()
    package.write(buffer)
    return buffer.getvalue()


def members(package):
    with tarfile.open(fileobj=io.BytesIO(archive(package))) as tar:
        return {member.name: member for member in tar}


def test_the_reporter_and_the_requirements_travel_with_the_script(source):
    assert list(members(pack(source))) == ["lib/model.py", "outrider_report.py", "requirements.txt", "train.py"]


def test_the_reporter_takes_the_place_of_a_copy_of_it(source):
    plain = pack(source)
    write(source, {"outrider_report.py": "an old one"})
    assert pack(source).hash == plain.hash
    assert members(pack(source))["outrider_report.py"].size == REPORTER.stat().st_size


def test_the_same_content_is_the_same_package_wherever_and_whenever(source, tmp_path):
    other = tmp_path / "elsewhere"
    for name in ("requirements.txt", "lib/model.py", "train.py"):  # another order of creation
        write(other, {name: (source / name).read_text()})
        os.utime(other / name, (1, 1))
    (other / "train.py").chmod(0o600)
    (other / "lib").chmod(0o700)
    first, second = pack(source), pack(other)
    assert first.hash == second.hash
    assert archive(first) == archive(second)
    assert archive(first)[4:8] == b"\0\0\0\0"  # gzip's time
    for member in members(first).values():
        assert (member.mtime, member.uid, member.gid, member.uname, member.mode) == (0, 0, 0, "", 0o644)


@pytest.mark.parametrize("change", ["content", "name", "mode", "link", "reporter"])
def test_what_matters_changes_the_hash(source, tmp_path, change):
    before, reporter = pack(source).hash, REPORTER
    if change == "content":
        write(source, {"train.py": "print(2)\n"})
    elif change == "name":
        (source / "train.py").rename(source / "main.py")
    elif change == "mode":
        (source / "train.py").chmod(0o755)
    elif change == "link":
        (source / "link.py").symlink_to("train.py")
    else:
        reporter = tmp_path / "outrider_report.py"
        reporter.write_text("another")
    assert pack(source, reporter=reporter).hash != before


def test_an_executable_stays_one(source):
    (source / "train.py").chmod(0o740)
    assert members(pack(source))["train.py"].mode == 0o755


def test_what_no_job_needs_stays_behind(source):
    before = pack(source).hash
    write(source, {f"{name}/x": "" for name in (".git", "__pycache__", "lib/__pycache__", ".venv", "venv", "results", "lib/node_modules")})
    write(source, {"lib/.ipynb_checkpoints/x": "", "lib/old.pyc": ""})
    assert pack(source).hash == before
    write(source, {"lib/results/table.py": ""})  # only the one at the top is where runs are kept
    assert "lib/results/table.py" in members(pack(source))


def test_own_patterns_leave_out_more(source):
    write(source, {"a.log": "", "lib/b.log": "", "data/x": "", "lib/data/y": "", "docs/z": "", "notes": ""})
    write(source, {".outriderignore": "# logs\n*.log\n/data\ndocs/\nnotes/\n"})
    assert set(members(pack(source))) == {"train.py", "lib/model.py", "requirements.txt", "outrider_report.py", "lib/data/y", "notes"}
    write(source, {".outriderignore": "*.log\n!a.log\n"})
    assert "a.log" in members(pack(source))


def test_secrets_stay_behind_also_under_another_name_unless_they_are_included(source):
    key = "-----BEGIN RSA PRIVATE KEY-----"
    account = json.dumps({"type": "service_account", "private_key_id": "1", "private_key": f"{key}\nx"}, indent=2)
    write(source, {".env": "TOKEN=x", "deploy": f"{key}\nx", "about_keys.md": f"of {key}", "gcp.json": account})
    package = pack(source)
    assert package.secrets == (".env", "deploy", "gcp.json")
    assert not {".env", "deploy", "gcp.json"} & set(members(package))
    assert "about_keys.md" in members(package)
    with_key = pack(source, ["deploy"])
    assert (with_key.secrets, "deploy" in members(with_key)) == ((".env", "gcp.json"), True)
    assert with_key.hash != package.hash


def test_settings_with_a_secret_stay_behind_and_those_of_a_tokenizer_travel(source):
    kept = {
        "conf.ini": "[default]\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY",
        "db.yaml": "db:\n  password: hunter2hunter2\n",
        "one.json": '{"a": 1, "api_key": "0123456789abcdef"}',
    }
    code = {
        "special_tokens_map.json": '{"pad_token": "<|endoftext|>", "eos_token": "endoftext_"}',
        "ref.yaml": "password: ${oc.env:DB_PASSWORD}\napi_key: null\n",
        "reads.py": "password = 'hunter2hunter2'\n",
    }
    write(source, {**kept, **code})
    package = pack(source)
    assert package.secrets == tuple(sorted(kept))
    assert set(code) <= set(members(package))
    assert "conf.ini" in members(pack(source, ["conf.ini"]))


def test_too_large_a_folder_names_its_five_largest_files(source):
    for number in range(1, 8):
        with (source / f"big{number}.bin").open("wb") as file:
            file.truncate(number * 10_000_000)
    with pytest.raises(UserError) as caught:
        pack(source)
    text = str(caught.value)
    assert "280 MB would travel" in text
    assert "big7.bin (70.0 MB), big6.bin (60.0 MB), big5.bin (50.0 MB), big4.bin (40.0 MB), big3.bin (30.0 MB)\n" in text
    write(source, {".outriderignore": "big*\n"})
    assert pack(source).size_bytes < 100_000


def test_links_within_the_folder_travel_and_others_are_refused(source, tmp_path):
    (source / "lib" / "again.py").symlink_to(source / "train.py")  # absolute
    (source / "folder").symlink_to("lib")
    found = members(pack(source))
    assert (found["lib/again.py"].issym(), found["lib/again.py"].linkname) == (True, "../train.py")
    assert found["folder"].linkname == "lib"
    (source / "data").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"source/data: it is a link out of the source folder") as caught:
        pack(source)
    assert ".outriderignore" in str(caught.value)
    write(source, {".outriderignore": "data\n"})
    assert "data" not in members(pack(source))
    (source / "loop").symlink_to("loop")
    with pytest.raises(UserError, match="loop: it is a link that leads nowhere"):
        pack(source)


def test_a_source_folder_that_is_itself_reached_by_a_link(source, tmp_path):
    (tmp_path / "alias").symlink_to(source)
    (source / "link.py").symlink_to(tmp_path / "alias" / "train.py")
    assert pack(tmp_path / "alias").hash == pack(source).hash


def test_a_pipe_does_not_block_the_packing(source):
    os.mkfifo(source / "pipe")
    assert "pipe" not in members(pack(source))


def test_a_file_that_changes_meanwhile_is_no_silent_mix(source):
    package = pack(source)
    write(source, {"train.py": "print(2)\n"})
    with pytest.raises(UserError, match=r"train.py: it was changed or removed while it was packed"):
        archive(package)
    (source / "train.py").unlink()
    with pytest.raises(UserError, match="changed or removed"):
        archive(package)


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(UserError, match="there is no such folder"):
        pack(tmp_path / "none")


def test_what_the_entry_point_imports_travels_as_the_same_bytes_and_needs_nothing_but_python_3_8(tmp_path):
    assert modules() == modules()
    with zipfile.ZipFile(io.BytesIO(modules())) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert "backends/metrics/files/events.py" in texts
    for name, text in texts.items():
        tree = ast.parse(text, feature_version=(3, 8))
        imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        # Where an image has neither of the last two, pip judges.
        assert imported <= set(sys.stdlib_module_names) | {"backends", "definitions", "packaging", "pip"}, name
        assert not any(word in text for word in ("removeprefix", "removesuffix", "strict=")), name


@pytest.mark.slow
def test_the_archive_alone_reads_a_file(tmp_path):
    (tmp_path / MODULES).write_bytes(modules())
    (tmp_path / "m.csv").write_text("epoch,loss\n")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path / MODULES)!r})
from backends.metrics.files.printer import ReportPrinter
source = {{"path": "m.csv", "format": "csv", "level": "epoch", "reported_as": "", "counts_from": 1, "names": {{}}, "wanted": []}}
printer = ReportPrinter([source], {str(tmp_path)!r}, {{}})
printer.start()
with open({str(tmp_path / "m.csv")!r}, "a") as file:
    file.write("1,0.5\\n")
printer.finish(True)
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith('[tune-metric]: {"loss": 0.5, "epoch": 1, "st_worker_time": ')
    assert done.stderr == ""
