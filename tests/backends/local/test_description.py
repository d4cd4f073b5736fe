"""What a trial gets of this machine where nobody says, and the lines that say so."""

from backends.local.description import DESCRIPTION, share_remarks, usual_share


def test_a_trial_gets_a_gpu_and_its_part_of_the_cores_else_one_core():
    assert usual_share(64, 0) == "local.1cpu"
    assert usual_share(64, 4) == "local.16cpu.1gpu"
    assert usual_share(2, 8) == "local.1cpu.1gpu"


def test_gpus_that_are_hidden_from_the_controller_are_none():
    assert DESCRIPTION.instance_type_here({"CUDA_VISIBLE_DEVICES": ""}) == "local.1cpu"
    assert str(DESCRIPTION.instance_type_here({"CUDA_VISIBLE_DEVICES": "3"})).endswith("cpu.1gpu")


def test_gpus_that_nobody_asked_for_are_said():
    assert [*share_remarks(["local.1cpu"], 2, 2)] == [
        "2 GPUs are here, trials ask for none: --set arguments.instance_type=local.1cpu.1gpu",
        "each trial gets 1 of 2 cores (OMP_NUM_THREADS=1); --set arguments.instance_type=local.2cpu for all",
    ]
    assert [*share_remarks(["local.4cpu"], 4, 1)] == ["1 GPU is here, trials ask for none: --set arguments.instance_type=local.4cpu.1gpu"]


def test_what_a_trial_gets_is_said_with_the_way_to_have_it_otherwise():
    assert [*share_remarks(["local.16cpu.1gpu"], 64, 4)] == [
        "each trial gets 1 of 4 GPUs; --set arguments.instance_type=local.1cpu for none",
        "each trial gets 16 of 64 cores (OMP_NUM_THREADS=16); --set arguments.instance_type=local.64cpu.1gpu for all",
    ]
    assert [*share_remarks(["local.2cpu"], 2, 0)] == []
    assert [*share_remarks(["local.1cpu", "local.2cpu"], 2, 0)] == []


def test_of_several_shares_the_largest_counts():
    assert [*share_remarks(["local.1cpu", "local.2cpu"], 8, 2)] == [
        "2 GPUs are here, and none of the instance types has one, as local.4cpu.1gpu does",
        "each trial gets the cores of its instance type, at most 2 of 8 (OMP_NUM_THREADS is as many)",
    ]
    assert [*share_remarks(["local.1cpu", "local.8cpu.1gpu"], 8, 2)] == ["each trial gets the GPUs of its instance type, at most 1 of 2"]
