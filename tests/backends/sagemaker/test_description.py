"""What SageMaker decides for a user is said before money is spent: place, prices, spot, kept instances."""

import pytest

from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.description import DESCRIPTION, WARM_POOL
from definitions.program import command

TYPE = ["ml.m5.large"]
PRICE = "jobs run in us-east-1, at the price of an hour on demand there: ml.m5.large $0.115 (2022-03-24)"
ON_DEMAND = "jobs run on demand; --set sagemaker.spot=true for spot, which is cheaper and may be interrupted"


@pytest.mark.parametrize(
    ("described", "block", "said"),
    [
        (DESCRIPTION, {}, [PRICE, ON_DEMAND]),
        (DESCRIPTION, {"spot": False}, [PRICE]),
        (
            DESCRIPTION,
            {"spot": True},
            [
                PRICE,
                "spot: a job that is interrupted goes on from its checkpoint, and one may wait an hour beyond max_run; "
                "only seconds that ran are billed",
            ],
        ),
        (
            DESCRIPTION,
            {"spot": True, "max_wait": 7200.0, "fallback_instance_types": ("ml.m5.xlarge",)},
            [
                PRICE,
                "spot: a job that is interrupted goes on from its checkpoint, and one may wait 7200 s in all; "
                "only seconds that ran are billed",
                "where there is no capacity a job runs on ml.m5.xlarge, at its price and speed",
            ],
        ),
        (
            WARM_POOL,
            {},
            [
                PRICE,
                ON_DEMAND,
                "an instance is kept, and billed, for up to 600 s (default) after its job; --set warm_pool.keep_alive=S for less",
            ],
        ),
    ],
)
def test_one_line_each(described, block, said):
    assert [*described.remarks(SageMakerBlock(**block), TYPE, "us-east-1", {"HOME": "/nowhere"})] == said


def test_a_price_that_is_not_known_is_said():
    found = [*DESCRIPTION.remarks(SageMakerBlock(spot=False), ["ml.zz9.large"], "ap-south-9", {"HOME": "/nowhere"})]
    assert found == [
        "the price of ml.zz9.large in ap-south-9 is unknown, so that nothing is added up for it; "
        f"`{command('prices', '--refresh')}` asks for it"
    ]


def problems(max_run_s=None, **block):
    return [*DESCRIPTION.option_problems(SageMakerBlock(image="i", **block), "t.py", ["loss"], max_run_s)]


def test_tags_that_aws_does_not_take():
    assert problems(tags={"aws:x": "y", "mine": "z"})[0][0] == ("sagemaker", "tags", "aws:x")
    assert problems(tags={"k" * 129: "z"})[0][1] == "129 and 1 characters; AWS takes keys of 128 and values of 256 at most"
    assert problems(tags={"k": "v" * 257})
    assert problems(tags={"team": "b;|"}) == [
        (("sagemaker", "tags", "team"), "'team' = 'b;|': AWS takes letters, digits, spaces and _.:/=+-@ in a tag, and no others")
    ]
    assert problems(tags={"a\nb": "x"})[0][0] == ("sagemaker", "tags", "a\nb")
    assert problems(tags={"Ünï 9": "a-b_c.d:e/f=g+h@i"}) == []
    assert problems(tags={f"k{number}": "" for number in range(46)}) == []
    assert problems(tags={f"k{number}": "" for number in range(47)}) == [
        (("sagemaker", "tags"), "47 are given, but a job has at most 50, 4 of them Outrider's; leave some out")
    ]


def test_a_spot_job_may_wait_no_shorter_than_it_may_run():
    assert problems(600.0, spot=True, max_wait=600.0) == []
    assert problems(601.0, spot=True, max_wait=600.0) == [
        (
            ("sagemaker", "max_wait"),
            "600 s to wait and run is less than budget.max_run of 601 s to run; give at least that, or a smaller budget.max_run",
        )
    ]
    assert "budget.max_run, as long as nothing is said, of 3600 s" in problems(None, spot=True, max_wait=600.0)[0][1]
