"""What is said of what travels to nodes, and of what has to be there."""

from __future__ import annotations

from backends.ray.parcel import parcel_of
from backends.ray.travels import what_travels
from definitions.schema import BenchmarkDefinition


def definition(folder, **more):
    asked = {"name": "toy", "script": "main.py", "source_dir": str(folder), "objectives": {"loss": "min"}, "trials": [{"x": 1}]}
    return BenchmarkDefinition.model_validate({**asked, **more})


def test_to_this_machines_own_cluster_nothing_travels(tmp_path):
    assert what_travels(definition(tmp_path), whole=False) == []
    assert what_travels(definition(tmp_path), whole=True) == [
        "nothing travels: the cluster is this machine's own, and jobs read what is here"
    ]


def test_the_source_travels_by_its_content_and_what_may_be_secret_stays(tmp_path):
    (tmp_path / "main.py").write_text("print(1)\n")
    (tmp_path / "large.txt").write_text("x" * 4096)
    (tmp_path / ".env").write_text("TOKEN=1\n")
    asked = definition(tmp_path, ray={"address": "head:6379"})
    head, *files, own = what_travels(asked, whole=True)
    digest = parcel_of(tmp_path).digest[:12]
    assert (
        head
        == f"to each node travels the source, once per content and by the cluster's own object store: 2 files, 4.0 KiB (content {digest}):"
    )
    assert files == ["  large.txt  4.0 KiB", "  main.py  9 B"]
    assert own.startswith("Outrider's own code goes with it: ")
    secret, checkpoints = what_travels(asked, whole=False)
    assert secret.startswith("left behind, as they may hold secrets: .env;")
    assert checkpoints.startswith("checkpoints stay on their node")


def test_of_each_data_set_it_is_said_where_it_is_read(tmp_path):
    datasets = {
        "here": {"type": "path", "path": "/data/images"},
        "there": {"type": "s3", "uri": "s3://mine/images"},
        "made": {"type": "images"},
        "mounted": {"type": "filesystem", "kind": "fsx", "id": "fs-01234567", "directory": "/a"},
    }
    (tmp_path / "main.py").write_text("")
    asked = definition(tmp_path, datasets=datasets, ray={"address": "head:6379", "checkpoints": "/shared"})
    *said, checkpoints = what_travels(asked, whole=False)
    words = ("has to have /data/images", "reads s3://mine/images itself", "below $OUTRIDER_CACHE", "fs-01234567 mounted")
    for line, name, word in zip(said, datasets, words, strict=True):
        assert line.startswith(f"data set {name} does not travel: ")
        assert word in line
    assert checkpoints == "checkpoints are kept in /shared, so that a trial goes on on any node"
