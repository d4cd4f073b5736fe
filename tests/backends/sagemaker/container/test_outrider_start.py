import ast
import ctypes
import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backends.common.requirements import unsatisfied
from backends.sagemaker.code.packing import ARCHIVE, MODULES, START, modules, pack

pytestmark = pytest.mark.slow

# Scripts here that handle a signal in Python sleep in short steps: one that comes just before a long sleep is not noticed until its end.

SHOW = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]))\n"


def load_start():
    spec = importlib.util.spec_from_file_location("outrider_start_tested", START)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


start = load_start()


class Ml:
    """A folder that looks like /opt/ml to the bootstrap that lies in it."""

    def __init__(self, folder):
        self.folder = folder / "ml"
        self.place = self.folder / "input" / "data" / "code"
        self.place.mkdir(parents=True)
        (self.folder / "input" / "config").mkdir()
        (self.folder / "checkpoints").mkdir()
        shutil.copy(START, self.place)
        (self.place / MODULES).write_bytes(modules())
        self.configure(resourceconfig={"current_host": "algo-1", "hosts": ["algo-1"]}, inputdataconfig={}, hyperparameters={})

    def configure(self, **files):
        for name, content in files.items():
            (self.folder / "input" / "config" / f"{name}.json").write_text(json.dumps(content))

    def source(self, files):
        folder = self.folder.parent / "source"
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        with (self.place / ARCHIVE).open("wb") as file:
            pack(folder).write(file)

    def popen(self, *arguments, **environment):
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **environment}
        command = [sys.executable, str(self.place / START.name), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean, start_new_session=True)

    def run(self, *arguments, **environment):
        process = self.popen(*arguments, **environment)
        return finish(process)

    @property
    def failure(self):
        path = self.folder / "output" / "failure"
        return path.read_text() if path.exists() else None


@pytest.fixture
def ml(tmp_path):
    return Ml(tmp_path)


def finish(process):
    """Return the exit code, which the last line tells too, and what was printed before that line."""
    output, _ = process.communicate(timeout=60)
    text, mark, end = output.rpartition(start.END_MARK)
    assert mark
    assert json.loads(end)["exit_code"] == process.returncode
    return process.returncode, text


def printed(process, text):
    line = process.stdout.readline()
    assert text in line, line


def test_arguments_are_passed_on_exactly_and_the_source_is_the_working_folder(ml):
    ml.source({"pkg/show.py": SHOW})
    given = ["--text", "a b", "", '"quoted" $HOME', "--é", "*"]
    code, output = ml.run("pkg/show.py", *given)
    arguments, cwd, environment = json.loads(output)
    assert code == 0
    assert arguments == given
    assert cwd == str(ml.folder / "code")
    assert environment["PYTHONPATH"] == cwd
    assert ml.failure is None


def test_arguments_of_any_size_come_by_file(ml):
    ml.source({"show.py": SHOW})
    given = ["--config", json.dumps({"key": "line\n" * 5000})]
    (ml.folder / "arguments.json").write_text(json.dumps({"script": "show.py", "arguments": given}))
    code, output = ml.run("--arguments-file", str(ml.folder / "arguments.json"))
    assert code == 0
    assert json.loads(output)[0] == given


def test_variables_are_those_of_script_mode(ml):
    ml.source({"show.py": SHOW})
    ml.configure(
        resourceconfig={
            "current_host": "algo-2",
            "current_instance_type": "ml.g5.xlarge",
            "current_group_name": "homogeneousCluster",
            "hosts": ["algo-1", "algo-2"],
            "network_interface_name": "eth0",
            "instance_groups": [
                {"instance_group_name": "homogeneousCluster", "instance_type": "ml.g5.xlarge", "hosts": ["algo-1", "algo-2"]}
            ],
        },
        inputdataconfig={name: {"TrainingInputMode": "File"} for name in ("code", "job", "train", "validation")},
        hyperparameters={"epochs": "3", "name": "resnet", "quoted": '"x"', "sagemaker_job_name": "j"},
    )
    code, output = ml.run("show.py", "--epochs", "3", SM_NUM_GPUS="7", SM_CHANNELS='["code", "train", "validation"]', SM_CHANNEL_CODE="x")
    found = json.loads(output)[2]
    data = ml.folder / "input" / "data"
    assert code == 0
    assert json.loads(found["SM_HOSTS"]) == ["algo-1", "algo-2"]
    assert (found["SM_CURRENT_HOST"], found["SM_MASTER_ADDR"], found["SM_HOST_COUNT"]) == ("algo-2", "algo-1", "2")
    assert (found["SM_CURRENT_INSTANCE_TYPE"], found["SM_NETWORK_INTERFACE_NAME"]) == ("ml.g5.xlarge", "eth0")
    assert json.loads(found["SM_CHANNELS"]) == ["train", "validation"]
    assert set(json.loads(found["SM_INPUT_DATA_CONFIG"])) == {"train", "validation"}
    assert found["SM_CHANNEL_TRAIN"] == str(data / "train")
    assert not {"SM_CHANNEL_CODE", "SM_CHANNEL_JOB"} & set(found)
    assert json.loads(found["SM_HPS"]) == {"epochs": 3, "name": "resnet", "quoted": "x"}
    assert (found["SM_HP_EPOCHS"], found["SM_HP_NAME"]) == ("3", "resnet")
    assert found["SM_MODEL_DIR"] == str(ml.folder / "model")
    assert found["SM_OUTPUT_DATA_DIR"] == str(ml.folder / "output" / "data")
    assert found["SM_NUM_GPUS"] == "7"  # what is set already stays
    assert int(found["SM_NUM_CPUS"]) == len(os.sched_getaffinity(0))
    assert (found["SM_USER_ENTRY_POINT"], json.loads(found["SM_USER_ARGS"])) == ("show.py", ["--epochs", "3"])


def test_affinity_counts_as_the_number_of_processors(ml):
    ml.source({"show.sh": 'echo "cpus $SM_NUM_CPUS"\n'})
    one = min(os.sched_getaffinity(0))
    command = ["taskset", "-c", str(one), sys.executable, str(ml.place / START.name), "show.sh"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0] == "cpus 1"


@pytest.mark.parametrize(
    ("script", "text", "code", "failure"),
    [
        ("three.py", "import sys; sys.exit(3)", 3, "three.py ended with exit code 3"),
        ("three.sh", "exit 3", 3, "three.sh ended with exit code 3"),
        ("program", "#!/bin/sh\nexit 4", 4, "program ended with exit code 4"),
        ("killed.py", "import os; os.kill(os.getpid(), 9)", 137, "killed.py ended by signal SIGKILL"),
        ("own.py", "import pathlib; pathlib.Path('../output/failure').write_text('mine'); raise SystemExit(5)", 5, "mine"),
        ("none", "#!/no/such/interpreter\n", 1, "the script could not be started: [Errno 2] No such file or directory"),
    ],
)
def test_the_scripts_end_is_the_jobs(ml, script, text, code, failure):
    (ml.folder / "output").mkdir()
    ml.source({script: text})
    assert ml.run(script)[0] == code
    assert ml.failure.startswith(failure)


def test_who_killed_the_script_is_told_by_the_kernels_count(ml):
    ml.source({"killed.py": "import os; os.kill(os.getpid(), 9)"})
    output, _ = ml.popen("killed.py").communicate(timeout=60)
    assert json.loads(output.rpartition(start.END_MARK)[2])["kernel_kills"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.py"], "the source holds no missing.py"),
        ([], "no script was named"),
        (["--arguments-file", "/no/such"], "the file of arguments cannot be read: FileNotFoundError"),
    ],
)
def test_what_cannot_be_started_says_why(ml, arguments, said):
    ml.source({"x.py": ""})
    code, output = ml.run(*arguments)
    assert code == 1
    assert said in ml.failure
    assert said in output


def test_a_broken_archive_says_so(ml):
    (ml.place / ARCHIVE).write_bytes(b"not an archive")
    assert ml.run("x.py")[0] == 1
    assert ml.failure.startswith("source.tar.gz cannot be unpacked")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_script_whose_own_end_counts(ml, number):
    script = (
        "import signal, sys, time\n"
        "def end(number, frame):\n    print('got', number, flush=True); sys.exit(0)\n"
        f"signal.signal({int(number)}, end)\nprint('ready', flush=True)\nfor _ in range(600):\n    time.sleep(0.1)\n"
    )
    ml.source({"wait.py": script})
    process = ml.popen("wait.py")
    printed(process, "ready")
    process.send_signal(number)
    assert finish(process) == (0, f"got {int(number)}\n")
    assert ml.failure is None


def test_a_script_that_dies_of_the_signal_is_no_failure(ml):
    ml.source({"wait.py": "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"})
    process = ml.popen("wait.py")
    printed(process, "ready")
    process.terminate()
    assert finish(process)[0] == 128 + signal.SIGTERM
    assert ml.failure is None


def test_children_get_the_signal_and_time_to_end(ml):
    # As with workers below a shell: the shell dies at once, the worker still writes its checkpoint.
    worker = (
        "import pathlib, signal, sys, time\n"
        "def end(*_):\n    time.sleep(0.5); pathlib.Path('../checkpoints/saved').touch(); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\nfor _ in range(600):\n    time.sleep(0.1)\n"
    )
    ml.source({"launch.sh": f"{sys.executable} worker.py &\nwait\n", "worker.py": worker})
    process = ml.popen("launch.sh")
    printed(process, "ready")
    process.terminate()
    assert finish(process)[0] == 128 + signal.SIGTERM
    assert (ml.folder / "checkpoints" / "saved").exists()


def test_what_has_ended_is_not_waited_for_where_its_parent_is_another(ml):
    # The test's process becomes the parent of what is left, as an init of the container's may be, and reads no exit code.
    libc = ctypes.CDLL(None)
    adopt = 36  # PR_SET_CHILD_SUBREAPER
    assert libc.prctl(adopt, 1, 0, 0, 0) == 0
    try:
        test_children_get_the_signal_and_time_to_end(ml)
    finally:
        libc.prctl(adopt, 0, 0, 0, 0)


def test_a_signal_before_the_script_keeps_it_from_starting(ml):
    ml.source({"touch.py": "open('started', 'w')"})
    (ml.folder / "code").mkdir()
    # The bootstrap waits for the lock of whoever unpacks, so the signal surely comes before the script.
    with (ml.folder / "code" / ".outrider-unpacked").open("a") as mark:
        fcntl.flock(mark, fcntl.LOCK_EX)
        process = ml.popen("touch.py")
        end = time.monotonic() + 90
        while not _waits_for_lock(process.pid):
            assert time.monotonic() < end
            time.sleep(0.01)
        process.terminate()
        time.sleep(0.05)
    assert finish(process)[0] == 128 + signal.SIGTERM
    assert not (ml.folder / "code" / "started").exists()


def _waits_for_lock(pid):
    waiting = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(str(pid) in words for words in waiting)


def test_several_on_one_host_unpack_once(ml):
    ml.source({"count.py": "print(open('large').read(4))", "large": "data" * 500_000})
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: ml.run("count.py"), range(4)))
    assert found == [(0, "data\n")] * 4
    assert (ml.folder / "code" / ".outrider-unpacked").read_text() == "done\n"


def test_satisfied_requirements_need_no_pip(ml):
    ml.source({"x.py": "print('ran')", "requirements.txt": "# needed\npytest\npytest>=7 # new enough\nnone-such; python_version < '3'\n\n"})
    broken = ml.folder / "pip.py"  # would be found before the real one
    broken.write_text("raise SystemExit('pip was run')")
    assert ml.run("x.py", PYTHONPATH=str(ml.folder)) == (0, "ran\n")


def test_pips_failure_ends_the_job_and_says_what_for(ml):
    ml.source({"x.py": "print('ran')", "requirements.txt": "pytest\noutrider-none-such==1.0\n"})
    code, output = ml.run("x.py", PIP_NO_INDEX="1")
    assert code == 1
    assert "ran" not in output
    assert ml.failure == "requirements.txt: pip ended with exit code 1; not satisfied: outrider-none-such==1.0"


def test_on_the_emulator_packages_go_beside_the_interpreter_not_into_it(ml):
    wheels = ml.folder.parent / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "outrider_tiny-1-py3-none-any.whl", "w") as wheel:
        about = "outrider_tiny-1.dist-info"
        wheel.writestr("outrider_tiny.py", "value = 42\n")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: outrider-tiny\nVersion: 1\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    ml.source(
        {"x.py": "import outrider_tiny; print(outrider_tiny.value, outrider_tiny.__file__)", "requirements.txt": "outrider-tiny>=1\n"}
    )
    code, output = ml.run("x.py", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), AWS_ENDPOINT_URL="http://127.0.0.1:1")
    assert code == 0, output
    assert f"42 {ml.folder / 'packages'}" in output


def test_what_the_data_of_a_job_take_is_installed_beside_what_the_source_asks_for(ml):
    ml.source({"show.py": SHOW, "requirements.txt": "pytest\n"})
    (ml.folder / "sitecustomize.py").write_text("")
    ended, _ = ml.run("show.py", OUTRIDER_REQUIREMENTS="pytest>=1.0 outrider-none-such==1.0", PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert ended == 1
    assert ml.failure == "packages: pip ended with exit code 1; not satisfied: outrider-none-such==1.0"
    assert ml.run("show.py", OUTRIDER_REQUIREMENTS="pytest>=1.0")[0] == 0


@pytest.mark.parametrize(
    ("line", "satisfied"),
    [
        ("pytest", True),
        ("PyTest", True),
        ("pytest>=1.0,!=2.0", True),
        ("pytest<1", False),
        ("pytest ; python_version > '3'", True),
        ("pytest[testing]", False),  # pip knows what an extra needs
        ("none-such", False),
        ("none-such; sys_platform == 'win32'", True),
        ("-r more.txt", False),
        ("git+https://example.org/x.git", False),
        ("not a requirement", False),
    ],
)
def test_what_is_satisfied_without_pip(line, satisfied):
    assert unsatisfied([line]) == ([] if satisfied else [line])


def test_it_is_for_python_3_8_and_needs_only_what_travels_with_it():
    text = START.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= set(sys.stdlib_module_names) | {"backends"}
    assert "removeprefix" not in text
    assert "removesuffix" not in text


def test_a_command_runs_with_its_places_files_and_further_commands(ml):
    ml.source({"pkg/__init__.py": "", "pkg/b.py": "X = 1\n", "pkg/a.py": "from .b import X\n" + SHOW})
    command = ["${python}", "-m", "pkg.a", "${arguments_file}", "--d=${data}", "${data.test}", "${output}", "$${x}"]
    asked = {"script": "", "arguments": [], "command": command, "files": {"arguments.json": '{"lr": 1}'}, "data": "train"}
    asked |= {"prepare": ["sh", "-c", "echo begun"], "cleanup": ["sh", "-c", "echo over"], "warmup_runs": 2}
    ml.configure(inputdataconfig={"train": {}, "test": {}})
    (ml.folder / "arguments.json").write_text(json.dumps(asked))
    process = ml.popen("--arguments-file", str(ml.folder / "arguments.json"), OUTRIDER_CHANNEL_TEST="s3://b/test")
    output, _ = process.communicate(timeout=60)
    begun, shown, over, *_ = output.splitlines()
    file, *rest = json.loads(shown)[0]
    assert (process.returncode, begun, over, json.loads(Path(file).read_text())) == (0, "begun", "over", {"lr": 1})
    assert rest == [f"--d={ml.folder}/input/data/train", "s3://b/test", f"{ml.folder}/output/data", "${x}"]
    measured = json.loads(output.rpartition(start.END_MARK)[2])["measured"]
    assert (0 < measured["duration_s"] < 60, measured["peak_rss_bytes"] > 1e6) == (True, True)


def test_where_preparing_fails_the_script_does_not_run(ml):
    ml.source({"show.py": SHOW})
    (ml.folder / "arguments.json").write_text(json.dumps({"script": "show.py", "arguments": [], "prepare": ["false"]}))
    assert ml.run("--arguments-file", str(ml.folder / "arguments.json")) == (1, "")
    assert ml.failure == "prepare ended with exit code 1"
