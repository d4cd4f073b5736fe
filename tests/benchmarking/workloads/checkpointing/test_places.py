from collections import namedtuple
from pathlib import Path

import pytest

from benchmarking.workloads.checkpointing import places
from benchmarking.workloads.checkpointing.kinds import KINDS

DISK, S3 = KINDS["disk"], KINDS["s3"]
Usage = namedtuple("Usage", "total used free")


def test_a_disk_kind_goes_to_the_trials_folder_then_to_scratch_or_where_the_user_says(tmp_path):
    job = {"OUTRIDER_JOB": "j-t1-a1"}
    assert places.place_of(DISK, "", job, tmp_path) == str(tmp_path / "measured")
    assert places.place_of(DISK, "/data", job, tmp_path) == "/data/j-t1-a1"
    assert places.place_of(DISK, "", {**job, "OUTRIDER_SCRATCH": "/scratch"}, None) == "/scratch/outrider-checkpoints-j-t1-a1"


def test_what_is_only_measured_is_not_written_where_a_platform_uploads_it(tmp_path):
    assert places.unsynced(Path("/opt/ml/checkpoints")) is None
    assert places.unsynced(tmp_path) == tmp_path
    assert places.unsynced(None) is None


def test_jobs_share_a_bucket_but_no_prefix():
    environ = {"OUTRIDER_CHECKPOINT_S3": "s3://b/checkpoints/", "OUTRIDER_JOB": "j-t1-a1"}
    assert places.place_of(S3, "", environ, None) == "s3://b/checkpoints/j-t1-a1"
    assert places.place_of(S3, "s3://own/p", environ, None) == "s3://own/p/j-t1-a1"
    with pytest.raises(SystemExit, match="checkpoint s3 needs a bucket: give checkpoint_to=s3://BUCKET/PREFIX"):
        places.place_of(S3, "", {}, None)


def test_ranks_of_a_launcher_without_a_job_share_a_place():
    assert places.place_of(S3, "s3://b", {"RANK": "0"}, None) == places.place_of(S3, "s3://b", {"RANK": "1"}, None)


@pytest.mark.parametrize(("free", "fits"), [(20_000, True), (19_999, False)])
def test_two_checkpoints_have_to_fit(free, fits, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(places.shutil, "disk_usage", lambda path: asked.append(Path(path)) or Usage(1, 1, free))
    found = places.disk_problem(tmp_path / "not" / "yet", 10_000, "disk")
    assert asked == [tmp_path]
    assert (found is None) is fits
    if not fits:
        assert found.startswith("checkpoint disk: the last stays until the next is whole, so 2 x 1e-05 GB are needed")
        assert f"{tmp_path} has 2e-05 GB left; use a larger disk (checkpoint_to)" in found
