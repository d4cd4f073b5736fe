import json

import pytest

from backends.emulator import Emulator
from backends.sagemaker.admin.prices import PriceRow, fetch_prices, refresh_prices, store_prices
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CloudError
from definitions.errors import UserError
from definitions.instance_tables import load_tables
from definitions.instances import price_of
from tests.backends.tag_bench import hasten

NOON = 1_796_040_000.0  # 2026-11-30 12:00 UTC
MIDNIGHT = 1_795_996_800.0  # 2026-11-30 00:00 UTC


class FakePricing:
    """Answers each question with the products whose attributes have what it filters by, two on a page."""

    def __init__(self, *products):
        self.products, self.asked = products, []

    def get_products(self, ServiceCode, Filters, FormatVersion, MaxResults, NextToken="0"):  # noqa: N803
        assert (ServiceCode, FormatVersion) == ("AmazonSageMaker", "aws_v1")
        self.asked.append({one["Field"]: one["Value"] for one in Filters})
        found = [one for one in self.products if not isinstance(one, dict) or self.fits(one)]
        start = int(NextToken)
        page = {"PriceList": [one if isinstance(one, str) else json.dumps(one) for one in found[start : start + 2]]}
        return page | ({"NextToken": str(start + 2)} if start + 2 < len(found) else {})

    def fits(self, product):
        attributes = product.get("product", {}).get("attributes", {})
        return all(attributes.get(field) == value for field, value in self.asked[-1].items())


def product(price="0.5", unit="Hrs", region="us-east-1", currency="USD", sku="SKU1", **attributes):
    dimension = {"unit": unit, "pricePerUnit": {currency: price}}
    return {
        "product": {"sku": sku, "attributes": {"regionCode": region, **attributes}},
        "terms": {"OnDemand": {"term": {"priceDimensions": {"dimension": dimension}}}},
    }


def prices(client, region="us-east-1", types=None):
    found = fetch_prices(client, region, types, NOON)
    return {row.instance_type: row.usd_per_hour for row in found.rows}, found.skipped


def test_rows_say_what_where_when_and_by_whom():
    client = FakePricing(product(component="Training", instanceName="ml.m5.large"))
    assert fetch_prices(client, "us-east-1", None, NOON).rows == (
        PriceRow("ml.m5.large", "us-east-1", 0.5, "2026-11-30", "AWS: Price List, AmazonSageMaker, SKU1, asked on 2026-11-30"),
    )
    assert fetch_prices(client, "us-east-1", None, MIDNIGHT - 1).rows[0].date == "2026-11-29"
    assert client.asked[0] == {"regionCode": "us-east-1", "component": "Training"}


@pytest.mark.parametrize(
    "attributes",
    [
        {"component": "Training", "instanceName": "ml.p4d.24xlarge"},
        {"component": "training", "instanceType": "ml.p4d.24xlarge-Training"},
        {"instanceType": "ml.p4d.24xlarge-Training"},
        {"usagetype": "USE1-Train:ml.p4d.24xlarge"},
        {"usagetype": "Train:ml.p4d.24xlarge", "instanceType": "ml.p4d.24xlarge"},
        {"platoinstancetype": "Training", "instanceName": "ml.p4d.24xlarge"},
    ],
)
def test_a_training_instance_is_known_by_any_of_its_descriptions(attributes):
    assert prices(FakePricing(product(**attributes))) == ({"ml.p4d.24xlarge": 0.5}, 0)


@pytest.mark.parametrize(
    "attributes",
    [
        {"component": "Hosting", "instanceName": "ml.m5.large"},
        {"usagetype": "USE1-Host:ml.m5.large"},
        {"usagetype": "USE1-ManagedSpot-Train:ml.m5.large"},
        {"component": "Notebook", "usagetype": "USE1-Train:ml.m5.large"},
        {"region": "eu-west-1", "usagetype": "EU-Train:ml.m5.large"},
    ],
)
def test_what_is_not_training_on_demand_here_is_none_of_it(attributes):
    assert prices(FakePricing(product(**attributes))) == ({}, 0)


@pytest.mark.parametrize("attributes", [{"component": "Hosting", "instanceName": "ml.m5.large"}, {"usagetype": "USE1-Host:ml.m5.large"}])
def test_an_instance_of_an_endpoint_is_asked_for_as_hosting(attributes):
    client = FakePricing(product(**attributes), product("9", component="Training", instanceName="ml.m5.large"))
    (row,) = fetch_prices(client, "us-east-1", None, NOON, use="hosting").rows
    assert (row.instance_type, row.usd_per_hour, row.use) == ("ml.m5.large", 0.5, "hosting")


def test_what_is_not_understood_is_counted_and_left_out():
    name = {"component": "Training", "instanceName": "ml.m5.large"}
    odd = [
        product("0.0000000000", **name),
        product("free", **name),
        product("0.5", unit="GB-Mo", **name),
        product("0.5", currency="CNY", **name),
        {**product(**name), "terms": {}},
        {**product(**name), "terms": {"OnDemand": {"t": {"priceDimensions": ["x"]}}}},
        product(component="Training", instanceName="storage"),
    ]
    good = product(component="Training", instanceName="ml.g5.xlarge")
    assert prices(FakePricing(*odd, "no JSON", "[]", good)) == ({"ml.g5.xlarge": 0.5}, len(odd))


def test_of_two_prices_for_one_type_the_higher_counts():
    name = {"component": "Training", "instanceName": "ml.m5.large"}
    assert prices(FakePricing(product("0.2", **name), product("0.3", **name), product("0.1", **name))) == ({"ml.m5.large": 0.3}, 0)


def test_all_pages_are_read_and_only_the_wanted_kept():
    client = FakePricing(*[product(component="Training", instanceName=f"ml.m{number}.large") for number in range(5)])
    assert len(prices(client)[0]) == 5
    assert len(client.asked) == 3
    assert set(prices(client, types=["ml.m4.large", "ml.none.large"])[0]) == {"ml.m4.large"}


def test_stored_rows_replace_those_of_the_same_type_and_region_only(tmp_path):
    path = tmp_path / "deep" / "prices.csv"
    store_prices(
        path, [PriceRow("ml.a.b", "us-east-1", 1.0, "2026-01-01", "x"), PriceRow("ml.a.b", "eu-west-1", 2.0, "2026-01-01", 'y, "z"')]
    )
    store_prices(path, [PriceRow("ml.a.b", "us-east-1", 3.0, "2026-02-01", "new")])
    tables = load_tables(prices_csv=path)
    assert price_of("ml.a.b", "us-east-1", tables=tables).usd_per_hour == 3.0
    assert price_of("ml.a.b", "eu-west-1", tables=tables).source == 'y, "z"'
    assert [file.name for file in path.parent.iterdir()] == ["prices.csv"]


def test_a_file_that_is_no_table_of_prices_is_left_alone(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("name,phone\nme,1\n")
    with pytest.raises(UserError, match="line 2"):
        store_prices(path, [PriceRow("ml.a.b", "us-east-1", 3.0, "2026-02-01", "new")])
    assert path.read_text() == "name,phone\nme,1\n"


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        yield running


@pytest.mark.slow
def test_the_emulators_prices_are_those_of_the_shipped_table(emulator, monkeypatch, tmp_path):
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "none.csv"))
    found, skipped = prices(emulator.client("pricing"))
    shipped = {name: price.usd_per_hour for (name, region), price in load_tables().prices.items() if region == "us-east-1"}
    assert (found, skipped) == (shipped, 0)


@pytest.mark.slow
def test_a_throttled_question_is_asked_again(emulator, monkeypatch):
    waits = hasten(monkeypatch)
    emulator.add_faults([{"kind": "throttle", "operation": "GetProducts", "rate_per_s": 0.001, "burst": 0, "times": 2}])
    clients = Clients("us-east-1", emulator.environment)
    found = fetch_prices(clients.get("pricing"), "us-east-1", ["ml.m5.large"], NOON)
    emulator.clear_faults()
    assert (len(found.rows), len(waits), clients.counts["GetProducts"]) == (1, 2, 3)


@pytest.mark.slow
def test_a_refusal_says_which_permission_is_needed(emulator):
    emulator.add_faults([{"kind": "error", "operation": "GetProducts", "code": "AccessDeniedException", "status": 400}])
    with pytest.raises(CloudError, match="pricing:GetProducts"):
        fetch_prices(emulator.client("pricing"), "us-east-1", None, NOON)
    emulator.clear_faults()


def test_a_profile_that_is_not_there_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_PROFILE", "gone")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(CloudError, match=r"prices of training in us-east-1\n  ProfileNotFound: .*\(gone\)"):
        refresh_prices("us-east-1", None, {}, 0.0)
