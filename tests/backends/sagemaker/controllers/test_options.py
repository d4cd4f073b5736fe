"""Options of controllers: what is taken where nobody says, and what is refused before anything is created."""

from __future__ import annotations

import pytest

from backends.sagemaker.controllers.options import controller_options, generations_of
from definitions.errors import UserError
from definitions.remote import RemoteOptions

ROLE = "arn:aws:iam::111122223333:role/controller"


def options(
    asked: RemoteOptions | None = None, *, emulated: bool = False, longest_s: float | None = 7200.0, count: int = 1, **environ: str
):
    given = environ or {"OUTRIDER_CONTROLLER_ROLE": ROLE}
    return controller_options(
        asked or RemoteOptions(), region="us-east-1", environ=given, emulated=emulated, longest_s=longest_s, count=count
    )


@pytest.mark.parametrize(
    ("longest_s", "max_run_s", "expected"),
    [
        (7200.0, None, (8640.0, 2)),  # the longest time and a fifth: one generation, and one more in reserve
        (600.0, None, (3600.0, 2)),  # never shorter than an hour
        (86400.0 * 2, None, (86400.0, 4)),  # 57.6 h in days of 24 h: 3, and one more
        (7200.0, 3600.0, (3600.0, 4)),
        (None, None, (86400.0, 31)),
    ],
)
def test_how_long_a_generation_is_and_how_many_follow(longest_s, max_run_s, expected):
    assert generations_of(longest_s, max_run_s) == pytest.approx(expected)


def test_what_is_taken_where_nobody_says():
    found = options(count=3)
    assert (found.instance_type, found.count, found.restarts, found.volume_gb, found.spot) == ("ml.m5.large", 3, 3, 30, False)
    assert found.role == ROLE
    assert "-cpu" in found.image
    assert "pytorch" in found.image


def test_what_is_asked_for_wins():
    found = options(RemoteOptions(instance_type="ml.g5.xlarge", controllers=2, restarts=0, role=ROLE + "2"), count=9)
    assert (found.count, found.restarts, found.role) == (2, 0, ROLE + "2")
    assert "-cpu" not in found.image


def test_without_a_role_only_the_emulator_is_content():
    with pytest.raises(UserError, match="no role is given that controllers run with"):
        options(HOME="/")
    assert "outrider-emulated" in options(emulated=True, HOME="/").role


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (RemoteOptions(role="controller"), "no ARN of an IAM role"),
        (RemoteOptions(subnets=("s",)), "a VPC needs both"),
        (RemoteOptions(image="i", framework="pytorch"), "one of them"),
        (RemoteOptions(instance_type="m5.large"), "begin with ml"),
        (RemoteOptions(tags={"aws:x": "y"}), "aws:"),
        (RemoteOptions(tags={str(number): "" for number in range(48)}), "at most 50"),
        (RemoteOptions(framework="xgboost", framework_version="1.7"), "xgboost"),
    ],
)
def test_what_cannot_be_is_refused(asked, said):
    with pytest.raises(UserError, match=said):
        options(asked)


def test_an_image_with_an_old_python_is_refused_and_one_of_the_users_own_is_not():
    old = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.2.0-cpu-py310-ubuntu20.04-sagemaker"
    assert options(RemoteOptions(image=old)).image == old  # in no table, so that the job itself finds out
    from backends.sagemaker.jobs.images import load_images

    too_old = [image for image in load_images().images if image.py_version in ("py39", "py310")]
    assert too_old, "no row of the table has such a Python"
    row = too_old[0]
    with pytest.raises(UserError, match=rf"has Python 3\.{row.py_version[3:]}"):
        options(RemoteOptions(image=f"1.dkr.ecr.us-east-1.amazonaws.com/{row.repository}:{row.tag}"))
