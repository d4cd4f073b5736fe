"""Room by the account's quotas, and what is said of one that has none."""

from backends.endpoint.quota import EndpointQuotas
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.lookups import Quota

LARGE = "ml.m5.large for endpoint usage"


def quotas(each=1, **limits):
    asked = []

    def look_up(names):
        asked.extend(names)
        return {name: Quota("L-1", limits[name.split()[0].replace("ml.", "")]) for name in names if name.split()[0][3:] in limits}

    return EndpointQuotas(look_up, each, "eu-west-1"), asked


def test_there_is_room_for_what_the_quota_holds_and_each_is_asked_for_once():
    made, asked = quotas(2, **{"m5.large": 5})
    assert [made.room("ml.m5.large"), made.room("ml.m5.large")] == [2, 2]
    assert asked == [LARGE]
    assert made.too_small() == ""


def test_one_that_is_not_known_limits_nothing():
    denied = EndpointQuotas(lambda names: CallFailure(FailureKind.DENIED, "ListServiceQuotas", "AccessDenied", "no"), 1, "eu-west-1")
    assert quotas()[0].room("ml.m5.large") == denied.room("ml.m5.large") > 1000
    assert denied.too_small() == ""


def test_those_that_allow_none_are_named_with_their_value_and_where_more_is_asked_for():
    made, _ = quotas(2, **{"m5.large": 1, "g5.xlarge": 0, "c5.large": 4})
    assert [made.room(f"ml.{name}") for name in ("m5.large", "c5.large", "g5.xlarge")] == [0, 2, 0]
    more = (
        "`aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code L-1 --desired-value 2 --region eu-west-1`"
    )
    assert made.too_small() == (
        f"the quota '{LARGE}' is 1 in eu-west-1, and one endpoint takes 2; {more} asks for more; "
        f"the quota 'ml.g5.xlarge for endpoint usage' is 0 in eu-west-1, and one endpoint takes 2; {more} asks for more"
    )
