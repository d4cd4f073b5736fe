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
