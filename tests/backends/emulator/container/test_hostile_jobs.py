"""Jobs whose requests and buckets are hostile: they fail and say why, and nothing is written outside of their containers."""

from __future__ import annotations

import io
import tarfile

import pytest

pytestmark = pytest.mark.slow

CLIMB = "/opt/ml" + "/.." * 20


def hyperparameters(source):
    return {"sagemaker_program": '"train.py"', "sagemaker_submit_directory": f'"{source}"'}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("checkpoints", "only paths below /opt/ml"),
        ("source folder", "is not in the container"),
        ("source archive", "neither on S3 nor in the container"),
        ("member of the source", "leads out of the source"),
    ],
)
def test_paths_that_lead_out_fail_the_job_and_write_nothing(bench, tmp_path, kind, words):
    outside = tmp_path / "outside"
    outside.mkdir()
    if kind == "checkpoints":
        bench.put("ck/planted", b"x")
        name = bench.submit(CheckpointConfig={"S3Uri": "s3://bucket/ck", "LocalPath": f"{CLIMB}{outside}"})
    elif kind == "source folder":
        (outside / "train.py").write_text("print('ran')")
        name = bench.submit(None, HyperParameters=hyperparameters(outside))
    elif kind == "source archive":
        with tarfile.open(tmp_path / "s.tar.gz", "w:gz"):
            pass
        name = bench.submit(None, HyperParameters=hyperparameters(tmp_path / "s.tar.gz"))
    else:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as tar:
            tar.addfile(tarfile.TarInfo(f"{'../' * 20}{outside}/x"))
        name = bench.submit(None, HyperParameters=hyperparameters(bench.put("hostile.tar.gz", content.getvalue())))
    job = bench.ended(name)
    assert (job["TrainingJobStatus"], words in job["FailureReason"]) == ("Failed", True), job["FailureReason"]
    assert [path.name for path in outside.iterdir()] == (["train.py"] if kind == "source folder" else [])


@pytest.mark.parametrize("name", [".", ".."])
def test_a_channel_is_not_called_like_another_folder(bench, channel, name):
    with pytest.raises(bench.sagemaker.exceptions.ClientError, match="names of other folders"):
        bench.submit(InputDataConfig=[channel(name, "s3://bucket/x/")])


@pytest.mark.parametrize("mode", ["File", "FastFile"])
@pytest.mark.parametrize(
    ("keys", "words"),
    [(["../up"], "leads out"), (["a/../../up"], "leads out"), (["x" * 300], "no file can be called"), (["a", "a/b"], "another object")],
)
def test_objects_of_names_that_no_file_can_have_fail_the_job_with_the_name(bench, channel, request, mode, keys, words):
    prefix = f"odd-{abs(hash(request.node.name))}"
    for key in keys:
        bench.put(f"{prefix}/{key}", b"x")
    name = bench.submit(InputDataConfig=[channel("train", f"s3://bucket/{prefix}/", InputMode=mode)])
    reason = bench.ended(name)["FailureReason"]
    assert reason.startswith("ClientError: Data download failed"), reason
    assert words in reason


@pytest.mark.parametrize("way", ["name", "link"])
def test_a_script_that_is_no_part_of_its_source_is_neither_run_nor_made_runnable(bench, tmp_path, way):
    outside = tmp_path / "run"
    outside.write_text("echo ran")
    outside.chmod(0o600)
    if way == "name":
        script, source = f"{'../' * 20}{str(outside)[1:]}", bench.source({"t.py": ""})
    else:
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as tar:
            member = tarfile.TarInfo("run")
            member.type, member.linkname = tarfile.SYMTYPE, str(outside)
            tar.addfile(member)
        script, source = "run", bench.put("linked.tar.gz", content.getvalue())
    name = bench.submit(None, HyperParameters={"sagemaker_program": script, "sagemaker_submit_directory": source})
    assert "leads out of" in bench.ended(name)["FailureReason"]
    assert (bench.lines(name), outside.stat().st_mode & 0o777) == ([], 0o600)


def test_what_a_script_links_outside_of_the_container_is_not_uploaded(bench, tmp_path):
    (tmp_path / "secret").write_text("s")
    code = f"ln -s {tmp_path}/secret $M/a; echo w > $M/b; ln -s b $M/c; rm -r $O; ln -s {tmp_path} $O"
    name = bench.shell(f"M=$SM_MODEL_DIR O=$SM_OUTPUT_DATA_DIR; {code}")
    bench.completed(name)
    assert bench.archive(f"s3://bucket/out/{name}/output/model.tar.gz") == {"b": b"w\n", "c": b"w\n"}
    assert bench.s3.list_objects_v2(Bucket="bucket", Prefix=f"out/{name}/output/output")["KeyCount"] == 0


@pytest.mark.parametrize("made", ["mkfifo $F", "mkdir $F", "ln -s /etc/passwd $F", "ln -s failure $F", "mkfifo p; ln -s $PWD/p $F"])
def test_a_failure_file_that_is_no_file_is_not_waited_for_and_says_nothing(bench, made):
    name = bench.shell(f"mkdir -p /opt/ml/output; cd /opt/ml/output; F=/opt/ml/output/failure; {made}; exit 3")
    assert bench.ended(name)["FailureReason"] == "AlgorithmError: , exit code: 3"


def test_pipes_in_what_a_job_leaves_are_left_out(bench):
    code = "mkfifo $SM_MODEL_DIR/p $SM_CHECKPOINT_DIR/p; ln -s p $SM_MODEL_DIR/l; ln -s x $SM_MODEL_DIR/x; echo w > $SM_MODEL_DIR/w"
    name = bench.shell(code, CheckpointConfig={"S3Uri": "s3://bucket/ck/pipes"})
    job = bench.completed(name)
    assert bench.archive(job["ModelArtifacts"]["S3ModelArtifacts"]) == {"w": b"w\n"}
    assert bench.s3.list_objects_v2(Bucket="bucket", Prefix="ck/pipes")["KeyCount"] == 0
