"""What is said of a cluster before a first start; no cluster is asked. tests/backends/ray/test_room.py asks one."""

from __future__ import annotations

from backends.checks import CheckStatus
from backends.ray.checks import ClusterFacts, facts_checks, type_checks
from backends.ray.cluster import ClusterNode

GIB = 1024**3
SMALL = ClusterNode("a", "one", {"CPU": 4.0, "memory": 8.0 * GIB})
LARGE = ClusterNode("b", "two", {"CPU": 16.0, "GPU": 4.0, "memory": 64.0 * GIB, "accelerator_type:A10G": 1.0})


def facts(**changes) -> ClusterFacts:
    given = {
        "versions": "Ray 2.60.0, Python 3.11.7",
        "nodes": [SMALL, LARGE],
        "free": {"CPU": 20.0, "GPU": 4.0},
        "others": [],
        "free_bytes": {"one": 50 * GIB, "two": 50 * GIB},
    }
    return ClusterFacts(**(given | changes))


def by_name(checks):
    return {check.name: (check.verdict, check.found) for check in checks}


def test_a_free_cluster_is_ready_and_says_what_its_largest_job_is():
    found = by_name(facts_checks(facts()))
    assert {verdict for verdict, _ in found.values()} == {CheckStatus.OK}
    assert found["largest job"][1] == "16 CPUs, 4 GPUs, 64.0 GiB on one node; what asks for more never has room"
    assert found["in use"][1] == "0 of 20 CPUs are taken, 0 of 4 GPUs are taken, nobody else is connected"


def test_what_others_have_and_who_they_are_is_said_and_few_of_many():
    others = [f"train.py on 10.0.0.{number} (process {number})" for number in range(8)]
    verdict, text = by_name(facts_checks(facts(free={"CPU": 19.0}, others=others)))["in use"]
    assert verdict is CheckStatus.WARNING
    assert text.startswith("1 of 20 CPUs are taken, 4 of 4 GPUs are taken, connected: train.py on 10.0.0.0 (process 0); ")
    assert text.endswith("train.py on 10.0.0.4 (process 4); 3 more")


def test_a_cluster_without_a_node_and_disks_without_room_are_problems():
    none = by_name(facts_checks(facts(nodes=[], free={}, free_bytes={})))
    assert none["cluster"] == (CheckStatus.FAILED, "Ray 2.60.0, Python 3.11.7; no node")
    disks = by_name(facts_checks(facts(free_bytes={"one": GIB // 20, "two": GIB, "three": None})))
    assert [disks[f"disk of {host}"][0] for host in ("one", "two", "three")] == [
        CheckStatus.FAILED,
        CheckStatus.WARNING,
        CheckStatus.UNKNOWN,
    ]


def test_each_type_fits_never_fits_or_is_waited_for():
    asked = ["ray.4cpu", "ray.1gpu.a10g", "ray.1gpu.h100", "ray.99cpu", "ray.nought.cpu.x"]
    final = by_name(type_checks(facts(), asked, 2, False))
    assert final["instance type ray.4cpu"] == (CheckStatus.OK, "5 fit at once")
    assert final["instance type ray.1gpu.a10g"] == (CheckStatus.OK, "4 fit at once")
    assert [final[f"instance type {name}"][0] for name in asked[2:]] == [CheckStatus.FAILED] * 3
    assert "the cluster has 2 nodes" in final["instance type ray.99cpu"][1]
    growing = by_name(type_checks(facts(), asked, 2, True))
    assert growing["instance type ray.99cpu"] == (CheckStatus.WARNING, "no node has as much now")
