import pytest

from backends.ray.description import RayBlock
from benchmarking.planning.feasibility import check_capacity, check_listed, refusal
from definitions.endpoint import EndpointBlock
from definitions.errors import UserError
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import definition

FILES = {"type": "images", "format": "jpg", "samples": 8}


def capacity(instance_type):
    return {"local.1cpu": 4, "local.2cpu": 2}.get(instance_type, 0)


def test_what_can_run_is_not_refused():
    assert refusal(definition(), "local", capacity)(TrialSpec({"x": 3})) is None


def test_rules_are_quoted():
    refuse = refusal(definition(valid=("x > 2", "x < 90")), "local", capacity)
    assert [refuse(TrialSpec({"x": x})) for x in (2, 3, 90)] == ["ruled out by valid: x > 2", None, "ruled out by valid: x < 90"]


def test_instances_that_do_not_fit_are_asked_for_once():
    asked = []

    def counting(instance_type):
        asked.append(instance_type)
        return capacity(instance_type)

    benchmark = definition(space={"instance_type": {"choice": ["local.2cpu", "local.64cpu"]}})
    refuse = refusal(benchmark, "local", counting)
    found = [refuse(TrialSpec({"instance_type": name})) for name in ("local.2cpu", "local.64cpu", "local.64cpu", "local.2cpu")]
    reason = "instance type local.64cpu does not fit here"
    assert found == [None, reason, reason, None]
    assert asked == ["local.2cpu", "local.64cpu"]


def test_data_that_cannot_be_read_so():
    benchmark = definition(space={"dataset": {"choice": ["d"]}, "ingestion": {"choice": ["local", "pipe"]}}, datasets={"d": FILES})
    refuse = refusal(benchmark, "local", capacity)
    assert refuse(TrialSpec({"dataset": "d", "ingestion": "local"})) is None
    assert refuse(TrialSpec({"dataset": "d", "ingestion": "pipe"})).startswith(
        "inputs.train: ingestion 'pipe' reads shards and records, not files"
    )


def test_a_listed_trial_that_cannot_run_is_an_error_that_names_it():
    benchmark = definition(space={}, trials=({"x": 1}, {"x": 5}, {"x": 2}), valid=("x < 2",))
    with pytest.raises(UserError) as error:
        check_listed(benchmark, refusal(benchmark, "local", capacity))
    assert str(error.value).splitlines() == [
        "benchmark fake: 2 of its trials cannot run",
        "  trials.1: ruled out by valid: x < 2",
        "  trials.2: ruled out by valid: x < 2",
        "  change or remove them",
    ]


def test_lists_and_spaces_that_can_run_pass():
    for benchmark in (definition(space={}, trials=({"x": 1},), valid=("x < 2",)), definition(valid=("x < 2",))):
        check_listed(benchmark, refusal(benchmark, "local", capacity))


def test_a_machine_without_room_for_any_of_the_instance_types_is_said_before_anything_starts():
    benchmark = definition(arguments={"instance_type": "local.1cpu.1gpu"})
    with pytest.raises(UserError) as error:
        check_capacity(benchmark, "local", capacity, lambda: "this machine has 2 cores, no GPU, 8.0 GiB of memory")
    assert str(error.value).splitlines() == [
        "benchmark fake: local.1cpu.1gpu does not fit here",
        "  this machine has 2 cores, no GPU, 8.0 GiB of memory",
        "  go on where there is room, or start with another tag and e.g. --set arguments.instance_type=local.1cpu; "
        "what was measured is kept",
    ]


def test_room_for_one_of_the_instance_types_is_enough_and_elsewhere_room_may_come():
    some = definition(space={"instance_type": {"choice": ["local.2cpu", "local.64cpu"]}})
    check_capacity(some, "local", capacity, lambda: "2 cores")
    check_capacity(definition(arguments={"instance_type": "ml.m5.large"}), "sagemaker", capacity, lambda: "")


def test_where_a_cluster_is_all_there_is_what_never_has_room_is_refused_and_where_nodes_join_it_is_not():
    benchmark = definition(arguments={"instance_type": "ray.64cpu"}, ray=RayBlock(address="127.0.0.1:1"))
    with pytest.raises(UserError, match=r"ray\.64cpu does not fit here\s+the cluster has 2 nodes: 2 with 4 CPUs\s+.*ray\.1cpu"):
        check_capacity(benchmark, "ray", lambda name: 0, lambda: "the cluster has 2 nodes: 2 with 4 CPUs")
    check_capacity(benchmark, "ray", lambda name: 3, lambda: "the cluster has 2 nodes: 2 with 4 CPUs")
    growing = definition(arguments={"instance_type": "ray.64cpu"}, ray=RayBlock(address="127.0.0.1:1", autoscaling=True))
    check_capacity(growing, "ray", lambda name: 0, lambda: "no node")


@pytest.mark.parametrize("backend", ["sagemaker", "warm_pool"])
def test_a_quota_of_no_endpoints_is_final_and_named_before_anything_starts(backend):
    small = definition(space={"instance_type": {"choice": ["ml.m5.large", "ml.c5.large"]}})
    served = small.model_copy(update={"endpoint": EndpointBlock()})
    said = "the quota 'ml.m5.large for endpoint usage' is 0 in eu-west-1"
    with pytest.raises(UserError) as error:
        check_capacity(served, backend, lambda name: 0, lambda: said)
    assert str(error.value).splitlines() == [
        "benchmark fake: ml.m5.large and ml.c5.large do not fit here",
        f"  {said}",
        "  go on where there is room, or start with another tag and e.g. --set arguments.instance_type=ml.m5.xlarge; "
        "what was measured is kept",
    ]
    check_capacity(small, backend, lambda name: 0, lambda: said)  # of training jobs it may be raised meanwhile
    check_capacity(served, backend, lambda name: int(name == "ml.c5.large"), lambda: said)
    refuse = refusal(small, backend, lambda name: int(name == "ml.c5.large"), there_is=lambda: said)
    assert refuse(TrialSpec({"instance_type": "ml.c5.large"})) is None
    assert refuse(TrialSpec({"instance_type": "ml.m5.large"})) == f"instance type ml.m5.large does not fit here: {said}"


def test_shares_of_this_machine_are_refused_on_sagemaker_one_by_one():
    benchmark = definition(space={"instance_type": {"choice": ["ml.m5.large", "local.2cpu"]}})
    refuse = refusal(benchmark, "sagemaker", lambda instance_type: 4)
    assert refuse(TrialSpec({"instance_type": "ml.m5.large"})) is None
    assert refuse(TrialSpec({"instance_type": "local.2cpu"})).startswith("instance type local.2cpu is a share of this machine")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"space": {"instance_type": {"choice": ["local.1cpu", "local.2cpu"]}}}, "none of its configurations can run there"),
        ({}, "no instance_type"),
        ({"space": {}, "trials": ({"x": 1},), "arguments": {"instance_type": "local.1cpu"}}, "none of its configurations can run there"),
    ],
)
def test_a_benchmark_that_cannot_run_on_sagemaker_at_all_is_refused_at_once(changes, message):
    with pytest.raises(UserError, match=message):
        refusal(definition(**changes), "warm_pool", lambda instance_type: 4)


def test_training_instances_are_refused_here():
    benchmark = definition(arguments={"instance_type": "ml.m5.large"})
    refuse = refusal(benchmark, "simulated", capacity)
    assert refuse(TrialSpec({"x": 1})) == "instance type ml.m5.large does not fit here"
