"""The container contract: what a script finds, and what becomes of what it leaves."""

from __future__ import annotations

import gzip
import json
import os
import sys
import time

import pytest

pytestmark = pytest.mark.slow

SHOW = """
import json, os
ml = os.path.dirname(os.environ["SM_MODEL_DIR"])
found = {"ml": ml, "environment": dict(os.environ)}
for name in ("hyperparameters", "inputdataconfig", "resourceconfig"):
    found[name] = json.load(open(f"{ml}/input/config/{name}.json"))
print(json.dumps(found))
"""


@pytest.fixture(params=["auto", "never"])
def anywhere(request, bench, started):
    """A bench with a private /opt/ml where that is allowed, and one with relocated paths."""
    return bench if request.param == "auto" else started(settings={"namespaces": "never"})


def shown(bench, name):
    bench.completed(name)
    return json.loads(next(line for line in bench.lines(name) if line.startswith("{")))


def test_configuration_files_and_variables(anywhere, channel):
    anywhere.put("data/a.txt", b"1")
    name = anywhere.python(
        SHOW,
        HyperParameters={"lr": "0.1", "layers": "[1, 2]"},
        InputDataConfig=[channel("train", "s3://bucket/data/", ContentType="text/plain")],
        Environment={"MINE": "x", "WHERE": "/opt/ml/model:/opt/mlx"},
    )
    found = shown(anywhere, name)
    private = anywhere.emulator.isolation != "none"
    assert (found["ml"] == "/opt/ml") == private
    assert found["hyperparameters"] == {"lr": "0.1", "layers": "[1, 2]"}
    assert found["inputdataconfig"] == {
        "train": {
            "TrainingInputMode": "File",
            "S3DistributionType": "FullyReplicated",
            "RecordWrapperType": "None",
            "ContentType": "text/plain",
        }
    }
    assert (found["resourceconfig"]["current_host"], found["resourceconfig"]["hosts"]) == ("algo-1", ["algo-1"])
    assert found["resourceconfig"]["current_instance_type"] == "ml.m5.large"
    environment = found["environment"]
    assert environment["SM_CHANNEL_TRAIN"] == f"{found['ml']}/input/data/train"
    assert json.loads(environment["SM_HPS"]) == {"lr": 0.1, "layers": [1, 2]}
    assert json.loads(environment["SM_HOSTS"]) == ["algo-1"]
    assert (environment["SM_HP_LR"], environment["MINE"]) == ("0.1", "x")
    assert environment["WHERE"] == f"{found['ml']}/model:/opt/mlx"
    assert environment["TRAINING_JOB_NAME"] == name
    assert environment["AWS_ENDPOINT_URL"] == anywhere.emulator.endpoint_url
    assert "PYTEST_CURRENT_TEST" not in environment


def test_jobs_do_not_see_each_other(bench):
    if bench.emulator.isolation == "none":
        pytest.skip("needs private mounts")
    code = "echo $TRAINING_JOB_NAME > /opt/ml/model/x; ls /opt/ml/model; sleep 0.3; cat /opt/ml/model/x; ls /proc | grep -c '^[0-9]'"
    names = [bench.shell(code) for _ in range(4)]
    for name in names:
        bench.completed(name)
        listing, content, processes = bench.lines(name)
        assert (listing, content) == ("x", name)
        assert int(processes) < 8


def test_the_script_s_failure_file_and_exit_code(anywhere):
    name = anywhere.shell(
        'echo "no such layer" > $SM_OUTPUT_DIR/failure; mkdir -p $SM_OUTPUT_DATA_DIR; echo partial > $SM_OUTPUT_DATA_DIR/p; exit 3'
    )
    job = anywhere.ended(name)
    assert (job["TrainingJobStatus"], job["FailureReason"]) == ("Failed", "AlgorithmError: no such layer, exit code: 3")
    assert anywhere.statuses(name) == ["Starting", "Downloading", "Training", "Failed"]
    assert anywhere.archive(f"s3://bucket/out/{name}/output/output.tar.gz") == {"p": b"partial\n"}


def test_a_script_that_is_killed_has_the_shell_s_exit_code(anywhere):
    name = anywhere.python("import os; os.kill(os.getpid(), 9)")
    assert anywhere.ended(name)["FailureReason"] == "AlgorithmError: , exit code: 137"


def test_a_program_that_is_not_there(anywhere):
    name = anywhere.submit(("no-such-program",))
    assert anywhere.ended(name)["FailureReason"].startswith("AlgorithmError")


def test_a_script_that_deletes_its_container(anywhere):
    name = anywhere.shell('echo w > "$SM_MODEL_DIR/w"; rm -rf "$(dirname $SM_MODEL_DIR)" 2>/dev/null; echo gone')
    job = anywhere.completed(name)
    assert anywhere.lines(name) == ["gone"]
    assert anywhere.archive(job["ModelArtifacts"]["S3ModelArtifacts"]) == {}
    anywhere.completed(anywhere.submit())


@pytest.mark.parametrize(("program", "source"), [("t.py", "s3://bucket/none.tar.gz"), ("other.py", None)])
def test_a_source_that_cannot_be_had(bench, program, source):
    source = source or bench.source({"t.py": ""}, "source/t.tar.gz")
    name = bench.submit(None, HyperParameters={"sagemaker_program": program, "sagemaker_submit_directory": source})
    assert bench.ended(name)["FailureReason"].startswith("ClientError: the source s3://bucket/")


def test_a_shell_script_as_entry_point(bench):
    source = bench.source({"run.sh": 'echo "ran $@"\n'}, "source/sh.tar.gz")
    name = bench.submit(None, HyperParameters={"sagemaker_program": "run.sh", "sagemaker_submit_directory": source, "x": "1"})
    bench.completed(name)
    assert bench.lines(name) == ["ran -x 1"]


TREE = """
import os
for root, folders, names in sorted(os.walk(os.environ["SM_CHANNEL_TRAIN"])):
    for name in sorted(names):
        path = os.path.join(root, name)
        print(os.path.relpath(path, os.environ["SM_CHANNEL_TRAIN"]), open(path).read())
"""


@pytest.mark.parametrize("mode", ["File", "FastFile"])
def test_channels_hold_what_is_under_the_prefix(anywhere, channel, mode):
    for key in ("tree/a.txt", "tree/sub/b.txt", "treehouse/c.txt"):
        anywhere.put(key, key.encode())
    anywhere.put("tree/", b"")
    name = anywhere.python(TREE, InputDataConfig=[channel("train", "s3://bucket/tree/", InputMode=mode)])
    anywhere.completed(name)
    assert anywhere.lines(name) == ["a.txt tree/a.txt", "sub/b.txt tree/sub/b.txt"]
    name = anywhere.python(TREE, InputDataConfig=[channel("train", "s3://bucket/tree/a.txt", InputMode=mode)])
    anywhere.completed(name)
    assert anywhere.lines(name) == ["a.txt tree/a.txt"]


def test_a_lazy_channel_copies_nothing_and_cannot_be_written(bench, channel):
    if bench.emulator.isolation == "none":
        pytest.skip("needs private mounts")
    bench.put("lazy/a.txt", b"original")
    code = 'stat -c %h "$SM_CHANNEL_TRAIN/a.txt"; echo changed > "$SM_CHANNEL_TRAIN/a.txt" || echo refused'
    name = bench.shell(code, InputDataConfig=[channel("train", "s3://bucket/lazy/", InputMode="FastFile")])
    bench.completed(name)
    assert bench.lines(name)[0] == "2"
    assert bench.lines(name)[-1] == "refused"
    assert bench.content("s3://bucket/lazy/a.txt") == b"original"


def test_a_downloaded_channel_is_the_job_s_own(bench, channel):
    bench.put("own/a.txt", b"original")
    name = bench.shell('echo changed > "$SM_CHANNEL_TRAIN/a.txt"', InputDataConfig=[channel("train", "s3://bucket/own/")])
    bench.completed(name)
    assert bench.content("s3://bucket/own/a.txt") == b"original"


def test_manifests(bench, channel):
    for key in ("m/1.txt", "m/2.txt", "m/3.txt"):
        bench.put(key, key.encode())
    bench.put("manifests/some.json", json.dumps([{"prefix": "s3://bucket/m/"}, "1.txt", "3.txt"]).encode())
    name = bench.python(TREE, InputDataConfig=[channel("train", "s3://bucket/manifests/some.json", kind="ManifestFile")])
    bench.completed(name)
    assert bench.lines(name) == ["1.txt m/1.txt", "3.txt m/3.txt"]


def test_no_data_fails_the_job(bench, channel):
    name = bench.submit(InputDataConfig=[channel("train", "s3://bucket/nothing/")])
    job = bench.ended(name)
    assert job["FailureReason"].startswith('ClientError: Data download failed: No S3 objects found under S3 URL "s3://bucket/nothing/"')
    assert bench.statuses(name) == ["Starting", "Downloading", "Failed"]


def test_hosts_share_the_objects_and_know_each_other(bench, channel):
    for number in range(5):
        bench.put(f"shards/{number}", b"x")
    code = (
        'import os, json, socket; r = json.load(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/resourceconfig.json")); '
        'print(r["current_host"], ",".join(r["hosts"]), "".join(sorted(os.listdir(os.environ["SM_CHANNEL_TRAIN"])))); '
        'open(os.environ["SM_MODEL_DIR"] + "/" + r["current_host"], "w").write("m")'
    )
    sharded = channel("train", "s3://bucket/shards/", distribution="ShardedByS3Key")
    name = bench.python(code, resources={"InstanceCount": 3}, InputDataConfig=[sharded])
    job = bench.completed(name)
    hosts = "algo-1,algo-2,algo-3"
    assert sorted(bench.lines(name)) == [f"algo-1 {hosts} 03", f"algo-2 {hosts} 14", f"algo-3 {hosts} 2"]
    streams = bench.client("logs").describe_log_streams(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=f"{name}/")
    assert [stream["logStreamName"].rsplit("-", 1)[0] for stream in streams["logStreams"]] == [
        f"{name}/algo-{number}" for number in (1, 2, 3)
    ]
    assert set(bench.archive(job["ModelArtifacts"]["S3ModelArtifacts"])) == {"algo-1", "algo-2", "algo-3"}


def test_a_host_that_fails_ends_the_others(bench):
    name = bench.shell('test "$SM_CURRENT_HOST" = algo-2 && exit 4; sleep 60', resources={"InstanceCount": 3})
    assert bench.ended(name)["FailureReason"] == "AlgorithmError: , exit code: 4"


def test_hosts_reach_each_other_by_name(bench):
    if bench.emulator.isolation == "none":
        pytest.skip("needs private mounts")
    name = bench.python("import socket; print(socket.gethostbyname('algo-2'))", resources={"InstanceCount": 2})
    bench.completed(name)
    assert bench.lines(name) == ["127.0.0.1"] * 2


def test_pipes_bring_each_epoch_anew(anywhere, channel):
    for number in range(4):
        anywhere.put(f"pipe/{number}", f"record {number}\n".encode() * 3)
    code = (
        "import os\n"
        "for epoch in range(2):\n"
        '    data = open(os.environ["SM_CHANNEL_TRAIN"] + f"_{epoch}", "rb").read().decode().split("\\n")\n'
        "    print(epoch, len(data) - 1, ''.join(dict.fromkeys(line[-1] for line in data if line)))\n"
    )
    name = anywhere.python(code, InputDataConfig=[channel("train", "s3://bucket/pipe/", InputMode="Pipe", ShuffleConfig={"Seed": 5})])
    anywhere.completed(name)
    first, second = (line.split() for line in anywhere.lines(name))
    assert (first[:2], second[:2]) == (["0", "12"], ["1", "12"])
    assert sorted(first[2]) == sorted(second[2]) == list("0123")
    assert first[2] != second[2]


def test_a_pipe_may_be_left_unread_or_half_read(anywhere, channel):
    anywhere.put("big/1", b"x" * 3_000_000)
    code = 'import os; print(len(open(os.environ["SM_CHANNEL_TRAIN"] + "_0", "rb").read(10)))'
    inputs = [channel(name, "s3://bucket/big/", InputMode="Pipe") for name in ("train", "unread")]
    name = anywhere.python(code, InputDataConfig=inputs)
    anywhere.completed(name)
    assert anywhere.lines(name) == ["10"]


def test_pipes_wrap_and_decompress(bench, channel):
    bench.put("zipped/1", gzip.compress(b"hello"))
    code = 'import os; print(open(os.environ["SM_CHANNEL_TRAIN"] + "_0", "rb").read())'
    wrapped = channel("train", "s3://bucket/zipped/", InputMode="Pipe", CompressionType="Gzip", RecordWrapperType="RecordIO")
    name = bench.python(code, InputDataConfig=[wrapped])
    bench.completed(name)
    assert bench.lines(name) == [str(bytes.fromhex("0a23d7ce05000000") + b"hello\0\0\0")]


def test_outputs_may_stay_uncompressed(bench):
    output = {"S3OutputPath": "s3://bucket/plain/", "CompressionType": "NONE"}
    name = bench.shell(
        'echo w > "$SM_MODEL_DIR/w"; mkdir "$SM_OUTPUT_DATA_DIR/d"; echo o > "$SM_OUTPUT_DATA_DIR/d/o"', OutputDataConfig=output
    )
    job = bench.completed(name)
    assert job["ModelArtifacts"]["S3ModelArtifacts"] == f"s3://bucket/plain/{name}/output/model/"
    assert bench.content(f"s3://bucket/plain/{name}/output/model/w") == b"w\n"
    assert bench.content(f"s3://bucket/plain/{name}/output/output/d/o") == b"o\n"


def test_checkpoints_travel_both_ways(anywhere):
    anywhere.put("ck/one/step-1", b"1")
    code = 'ls "$SM_CHECKPOINT_DIR"; echo 2 > "$SM_CHECKPOINT_DIR/step-2"; echo written; sleep 60'
    name = anywhere.shell(code, CheckpointConfig={"S3Uri": "s3://bucket/ck/one"})
    anywhere.printed(name, "written")
    end = time.monotonic() + 90
    while True:  # synced while it runs
        try:
            assert anywhere.content("s3://bucket/ck/one/step-2") == b"2\n"
            break
        except anywhere.s3.exceptions.NoSuchKey:
            assert time.monotonic() < end
            time.sleep(0.05)
    anywhere.sagemaker.stop_training_job(TrainingJobName=name)
    assert anywhere.ended(name)["TrainingJobStatus"] == "Stopped"
    assert anywhere.lines(name) == ["step-1", "written"]


def test_requirements_are_installed_when_asked(started, tmp_path):
    package = tmp_path / "tiny"
    package.mkdir()
    (package / "setup.py").write_text(
        "from setuptools import setup\nsetup(name='outrider-tiny', version='1', py_modules=['outrider_tiny'])\n"
    )
    (package / "outrider_tiny.py").write_text("WORD = 'installed'\n")
    bench = started(settings={"install_requirements": True})
    files = {"t.py": "import outrider_tiny; print(outrider_tiny.WORD)\n", "requirements.txt": f"--no-index\n{package}\n"}
    source = bench.source(files)
    parameters = {"sagemaker_program": "t.py", "sagemaker_submit_directory": source}
    name = bench.submit(None, HyperParameters=parameters, Environment={"PIP_NO_BUILD_ISOLATION": "0"})
    bench.completed(name)
    assert bench.lines(name)[-1] == "installed"


@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="needs /proc")  # noqa: PTH110
def test_the_profiler_writes_system_files(started):
    from backends.emulator.core.settings import Delays

    bench = started(delays=Delays(profiler_file_s=0.3))
    config = {"S3OutputPath": "s3://bucket/profiler", "ProfilingIntervalInMilliseconds": 100}
    name = bench.shell("sleep 1", ProfilerConfig=config, resources={"InstanceCount": 2})
    assert bench.completed(name)["ProfilingStatus"] == "Enabled"
    prefix = f"profiler/{name}/profiler-output/system/incremental/"
    keys = [found["Key"] for found in bench.s3.list_objects_v2(Bucket="bucket", Prefix=prefix)["Contents"]]
    assert {key.rsplit(".", 2)[1] for key in keys} == {"algo-1", "algo-2"}
    hour, file = keys[0][len(prefix) :].split("/")
    assert (len(hour), file.split(".")[0].isdigit()) == (10, True)
    events = [json.loads(line) for line in bench.content(f"s3://bucket/{keys[0]}").splitlines()]
    busy = [event["Value"] for event in events if event["Dimension"] == "CPUUtilization"]
    assert busy
    assert all(0 <= value <= 100 for value in busy)
    assert {event["Type"] for event in events} == {"cpu", "memory", "i/o", "network"}
    assert events[0]["NodeId"] == keys[0].rsplit(".", 2)[1]


def test_a_slower_instance_gets_its_share_of_the_processor(started):
    bench = started(settings={"speed_factors": {"ml.t3.*": 0.2}})
    code = "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass\nprint(time.process_time() / 2)"
    slow = bench.python(code, resources={"InstanceType": "ml.t3.medium"})
    bench.completed(slow)
    # Whatever else the machine does, it gets no more; without its limit it would get about 1.
    assert float(bench.lines(slow)[0]) < 0.4


def test_the_interpreter_is_the_emulator_s(bench):
    name = bench.python("import sys; print(sys.version_info[:3])")
    bench.completed(name)
    assert bench.lines(name) == [str(sys.version_info[:3])]
