"""What instance types of a Ray cluster ask for, and where it fits."""

from __future__ import annotations

import pytest

from backends.ray.cluster import ClusterNode
from backends.ray.room import ClusterRoom, never_fits, there_is, waiting_for
from backends.ray.shapes import RayShape, fits, parse_shape, whole_node_cpus
from definitions.errors import UserError

SMALL = {"CPU": 4.0, "memory": 8.0 * 1024**3}
LARGE = {"CPU": 16.0, "GPU": 4.0, "memory": 64.0 * 1024**3, "accelerator_type:A10G": 1.0, "big": 2.0}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ray.2cpu", RayShape(2)),
        ("ray.4cpu.1gpu", RayShape(4, 1)),
        ("ray.1gpu.a10g", RayShape(1, 1, None, "a10g")),
        ("ray.2cpu.8gib.big", RayShape(2, 0, 8 * 1024**3, "big")),
    ],
)
def test_a_type_says_what_it_asks_for(name, shape):
    assert parse_shape(name) == shape


@pytest.mark.parametrize("name", ["ray", "ray.", "ray.0cpu", "ray.2cpu.3cpu", "ray.2CPU", "ray.2cpu.a.b", "local.2cpu", "ray.1gib.1mib"])
def test_other_names_are_refused(name):
    with pytest.raises(UserError, match="none of a Ray cluster"):
        parse_shape(name)


def test_a_resource_is_found_by_its_name_whatever_its_letters():
    names = {*SMALL, *LARGE}
    assert parse_shape("ray.1gpu.a10g").bundle(names) == {"CPU": 1.0, "GPU": 1.0, "accelerator_type:A10G": 0.001}
    assert parse_shape("ray.1cpu.big").bundle(names) == {"CPU": 1.0, "big": 1.0}
    assert parse_shape("ray.1cpu.h100").bundle(names) is None
    assert parse_shape("ray.2cpu").bundle(names, cpus=4.0) == {"CPU": 4.0}


def test_room_is_counted_by_node():
    nodes = [SMALL, LARGE]
    assert fits({"CPU": 3.0}, nodes) == 1 + 5
    assert fits({"CPU": 1.0, "GPU": 3.0}, nodes) == 1
    assert fits({"CPU": 17.0}, nodes) == 0
    assert fits({"CPU": 1.0, "big": 1.0}, nodes) == 2
    assert fits({"CPU": 1.0}, nodes, of_each=1) == 2


def test_a_node_to_itself_is_one_of_the_largest_as_on_others_there_would_be_room_left():
    assert whole_node_cpus({"CPU": 2.0}, [SMALL, LARGE]) == (16.0, True)
    assert whole_node_cpus({"CPU": 2.0}, [SMALL, LARGE, LARGE], 2) == (16.0, True)
    assert whole_node_cpus({"CPU": 2.0}, [SMALL, LARGE], 2) == (4.0, False)
    assert whole_node_cpus({"CPU": 5.0}, [LARGE, SMALL], 2) is None
    assert whole_node_cpus({"CPU": 17.0}, [LARGE, SMALL]) is None


def test_who_cannot_be_alone_on_so_many_nodes_is_told():
    room = ClusterRoom([ClusterNode("a", "one", SMALL), ClusterNode("b", "two", LARGE)])
    assert room.bundle(RayShape(2), exclusive=True) == {"CPU": 16.0}
    with pytest.raises(UserError, match=r"no job can be alone on 2 nodes[\s\S]*the cluster has 2 nodes[\s\S]*leave `exclusive` out"):
        room.bundle(RayShape(2), exclusive=True, count=2)
    assert room.bundle(RayShape(2), count=2) == {"CPU": 2.0}


def test_what_a_cluster_has_is_said_by_kind():
    nodes = [ClusterNode("a", "one", SMALL), ClusterNode("b", "two", SMALL), ClusterNode("c", "three", LARGE)]
    assert there_is(nodes) == "3 nodes: 2 with 4 CPUs, no GPU, 8.0 GiB; 1 with 16 CPUs, 4 GPUs, 64.0 GiB, A10G, big"
    error = never_fits("ray.1cpu.h100", parse_shape("ray.1cpu.h100"), nodes)
    assert "no node has 'h100'; the cluster has 3 nodes" in str(error)
    many = never_fits("ray.8cpu", parse_shape("ray.8cpu"), nodes, 2)
    assert (many.asked, many.fact.partition(";")[0]) == ("ray.8cpu on 2 nodes does not fit", "not so many nodes have as much")
    assert "no node has as much" in str(never_fits("ray.99cpu", parse_shape("ray.99cpu"), nodes))
    assert (
        waiting_for("ray.2cpu", {"CPU": 1.0}) == "waiting for room: ray.2cpu on one node; the cluster has 1 CPUs free, others use the rest"
    )


def test_what_a_node_that_may_join_would_have_is_an_accelerator_with_gpus_and_else_the_clusters_own():
    assert parse_shape("ray.1gpu.h100").bundle(SMALL, may_join=True) == {"CPU": 1.0, "GPU": 1.0, "accelerator_type:H100": 0.001}
    assert parse_shape("ray.2cpu.fast").bundle(SMALL, may_join=True) == {"CPU": 2.0, "fast": 1.0}
    assert waiting_for("ray.99cpu", {"CPU": 8.0}, has_such=False) == (
        "waiting for a node to join that has room for ray.99cpu: none has as much"
    )
