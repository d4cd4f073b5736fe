"""When jobs on a cluster start, and what is said while they wait; no cluster is asked."""

from __future__ import annotations

import dataclasses

import pytest

from backends.job_spec import JobSpec
from backends.ray.admission import Admission
from backends.ray.cluster import ClusterNode
from definitions.errors import UserError
from tests.backends.ray.fakes import Cluster, Desk, Links


def spec(name: str, **fields) -> JobSpec:
    return dataclasses.replace(JobSpec(name, 0, 1, "/s/main.py", instance_type="ray.2cpu"), **fields)


class Office:
    def __init__(self, *, may_join: bool = False) -> None:
        self.cluster, self.links, self.desk = Cluster("a"), Links(), Desk()
        self.admission = Admission(self.cluster, self.links, self.desk.book, may_join=may_join)

    def put(self, *names: str) -> None:
        for name in names:
            self.admission.put(self.admission.made(spec(name)), 0.0)


def test_jobs_start_in_their_order_as_slots_become_theirs():
    office = Office()
    office.put("first", "second")
    office.admission.admit(0.0, 2)
    assert len(office.desk.asked) == 2
    office.desk.ready("a")
    office.admission.admit(1.0, 2)
    assert office.links.started == [("first", ("10.0.0.0",))]
    office.desk.ready("a", number=0)
    office.admission.admit(1.0, 2)
    assert [name for name, _ in office.links.started] == ["first", "second"]


def test_a_slot_on_a_node_that_has_joined_meanwhile_is_known_by_its_address():
    office = Office()
    office.put("one")
    office.admission.admit(0.0, 1)
    office.cluster.there.append(ClusterNode("b", "host-b", {"CPU": 4.0}, "10.0.0.7"))
    office.desk.ready("b")
    office.admission.admit(1.0, 1)
    assert office.links.started == [("one", ("10.0.0.7",))]


def test_what_is_waited_for_is_said_once_and_not_where_jobs_run_that_will_end():
    office = Office()
    office.put("one")
    assert office.admission.tidy(1.0, jobs=1) == (3.0, None)
    again, said = office.admission.tidy(3.0, jobs=1)
    assert (again, said.text) == (6.0, "waiting for room: ray.2cpu on one node; the cluster has 0 CPUs free, others use the rest")
    assert office.admission.tidy(6.0, jobs=1) == (9.0, None)
    assert office.admission.tidy(99.0, jobs=2) == (None, None)


def test_where_nobody_else_uses_the_cluster_others_are_not_named():
    office = Office()
    office.put("one")
    office.admission.admit(0.0, 1)
    office.cluster.free = lambda: {"CPU": 2.0}  # what was asked for is taken, and nobody was told yet
    _, said = office.admission.tidy(9.0, jobs=1)
    assert said.text == "waiting for Ray to make the room that there is for ray.2cpu; nobody else uses the cluster"
    office.cluster.free = lambda: {"CPU": 4.0}
    assert office.admission.tidy(13.0, jobs=1)[1] is None
    office.cluster.free = lambda: {"CPU": 1.0}
    assert office.admission.tidy(99.0, jobs=1)[1].text.endswith("the cluster has 1 CPUs free, others use the rest")


def test_what_no_node_has_is_refused_unless_nodes_join_by_themselves():
    with pytest.raises(UserError, match=r"ray\.9cpu does not fit"):
        Office().admission.made(spec("one", instance_type="ray.9cpu"))
    assert Office(may_join=True).admission.made(spec("one", instance_type="ray.9cpu")).cores == 9
    with pytest.raises(UserError, match=r"ray\.2cpu on 2 nodes does not fit"):
        Office().admission.made(spec("one", instance_count=2))


def test_one_that_leaves_the_queue_is_asked_for_no_more():
    office = Office()
    job = office.admission.made(spec("one"))
    office.admission.put(job, 0.0)
    office.admission.admit(0.0, 1)
    office.admission.leave(job)
    office.admission.admit(1.0, 0)
    assert office.desk.given_back == office.desk.asked
