import csv
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import definitions.instances as instances
from backends.local.shares import parse_local
from backends.processes.share import MachineShare
from definitions.backend_description import BackendDescription
from definitions.errors import UserError
from definitions.instance_tables import Price, load_tables, own_prices_csv
from definitions.instances import default_instance_type, instance_facts, is_nominal, price_of
from definitions.parts import Overrides

FOLDER = Path(instances.__file__).parent
HEADER = "instance_type,region,usd_per_hour,date,source\n"


@pytest.fixture(autouse=True)
def own_prices(tmp_path, monkeypatch):
    """The user's own table, at first none."""
    monkeypatch.setenv("OUTRIDER_PRICES", str(tmp_path / "own.csv"))
    return tmp_path / "own.csv"


@pytest.mark.parametrize(("backend", "usual"), [("local", "local.1cpu"), ("simulated", "local.1cpu"), ("sagemaker", ""), ("gone", "")])
def test_what_jobs_run_on_by_default(backend, usual):
    assert default_instance_type(backend) == usual


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("local.1cpu", MachineShare(1, 0, None)),
        ("local.16cpu.2gpu", MachineShare(16, 2, None)),
        ("local.2cpu.8gib", MachineShare(2, 0, 8 * 1024**3)),
        ("local.4cpu.1gpu.512mib", MachineShare(4, 1, 512 * 1024**2)),
        ("local.4cpu.0gpu", MachineShare(4, 0, None)),
    ],
)
def test_local_share_is_read_from_its_name(name, share):
    assert parse_local(name) == share


@pytest.mark.parametrize(
    "name", ["local", "local.cpu", "local.0cpu", "local.2cpu.8gb", "local.2cpu.0gib", "local.2CPU", "local.1gpu", "local.2cpu."]
)
def test_malformed_local_share_is_refused_with_the_form(name):
    assert is_nominal(name)
    for ask in (parse_local, lambda name: price_of(name, "us-east-1"), instance_facts):
        with pytest.raises(UserError, match=r"local\.<cores>cpu\[\.<GPUs>gpu\]"):
            ask(name)


def test_facts_of_known_types():
    g5 = instance_facts("ml.g5.12xlarge")
    assert (g5.vcpus, g5.memory_bytes, g5.gpus, g5.gpu_memory_bytes) == (48, 192 * 1024**3, 4, 22888 * 1024**2)
    m5 = instance_facts("ml.m5.xlarge")
    assert (m5.vcpus, m5.memory_bytes, m5.gpus, m5.gpu_memory_bytes) == (4, 16 * 1024**3, 0, None)
    trainium = instance_facts("ml.trn1.32xlarge")
    assert (trainium.vcpus, trainium.memory_bytes, trainium.gpus) == (128, 512 * 1024**3, 0)
    assert instance_facts("local.2cpu.1gib").memory_bytes == 1024**3
    assert instance_facts("local.2cpu").memory_bytes is None


def test_what_is_unknown_is_unknown_and_never_zero():
    assert instance_facts("ml.zz9.xlarge") is None
    assert price_of("ml.zz9.xlarge", "us-east-1") is None
    assert price_of("ml.p5.48xlarge", "us-east-1") is None  # facts are known, a price is not
    assert price_of("ml.m5.xlarge", "eu-west-1") is None
    assert price_of("ml.m5.xlarge", "us-east-1", spot=True) is None


def test_price_says_where_it_is_from():
    price = price_of("ml.m5.xlarge", "us-east-1")
    assert price.usd_per_hour == 0.23
    assert (price.region, price.date) == ("us-east-1", "2022-03-24")
    assert "a2926c7" in price.source


def test_local_price_is_nominal_and_grows_with_the_share(tmp_path):
    table = tmp_path / "prices.csv"
    table.write_text("instance_type,region,usd_per_hour,date,source\nlocal.cpu,local,0.04,2020-01-02,x\nlocal.gpu,local,1,2020-01-02,x\n")
    tables = load_tables(prices_csv=table)
    assert price_of("local.3cpu", "us-east-1", tables=tables).usd_per_hour == pytest.approx(0.12)
    assert price_of("local.3cpu.2gpu.8gib", "eu-west-1", tables=tables).usd_per_hour == pytest.approx(2.12)
    assert is_nominal("local.1cpu")
    assert not is_nominal("ml.m5.xlarge")
    assert price_of("local.2cpu", "us-east-1").usd_per_hour == pytest.approx(2 * price_of("local.1cpu", "us-east-1").usd_per_hour)


def test_a_share_with_an_unpriced_part_has_no_price(tmp_path):
    table = tmp_path / "prices.csv"
    table.write_text("instance_type,region,usd_per_hour,date,source\nlocal.cpu,local,0.04,2020-01-02,x\n")
    tables = load_tables(prices_csv=table)
    assert price_of("local.1cpu.1gpu", "us-east-1", tables=tables) is None
    assert price_of("local.1cpu", "us-east-1", tables=tables).usd_per_hour == 0.04


def test_of_several_prices_the_latest_counts(tmp_path):
    table = tmp_path / "prices.csv"
    rows = ["ml.a.b,us-east-1,3,2024-05-01,new", "ml.a.b,us-east-1,9,2023-12-31,old", "ml.a.b,eu-west-1,4,2021-01-01,other"]
    table.write_text("\n".join(["instance_type,region,usd_per_hour,date,source", *rows, ""]))
    tables = load_tables(prices_csv=table)
    assert price_of("ml.a.b", "us-east-1", tables=tables).usd_per_hour == 3
    assert price_of("ml.a.b", "eu-west-1", tables=tables).usd_per_hour == 4


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("ml.a.b,us-east-1,0,2024-01-01,x", "usd_per_hour is '0'"),
        ("ml.a.b,us-east-1,free,2024-01-01,x", "usd_per_hour is 'free'"),
        ("ml.a.b,us-east-1,nan,2024-01-01,x", "usd_per_hour is 'nan'"),
        ("ml.a.b,us-east-1,1,2024-01-01,", "source is missing"),
        ("ml.a.b,us-east-1,1,1.1.2024,x", "YYYY-MM-DD"),
    ],
)
def test_a_price_without_grounds_is_refused(tmp_path, row, said):
    table = tmp_path / "prices.csv"
    table.write_text(f"instance_type,region,usd_per_hour,date,source\n{row}\n")
    with pytest.raises(UserError, match=said) as caught:
        load_tables(prices_csv=table)
    assert "prices.csv, line 2" in str(caught.value)


def test_missing_table_is_the_users_to_mend(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        load_tables(prices_csv=tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["instances.csv", "prices.csv"])
def test_every_shipped_row_is_dated_and_sourced_once(name):
    with (FOLDER / name).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 30
    for row in rows:
        assert row["source"], row
        assert row["region"], row
        assert len(row["date"].split("-")) == 3, row
    keys = [(row["instance_type"], row["region"], row["date"]) for row in rows]
    assert len(set(keys)) == len(keys)


def test_every_priced_type_has_facts():
    tables = load_tables()
    assert {name for name, _ in tables.prices if not is_nominal(name)} <= set(tables.facts)


def test_the_users_own_prices_lie_on_top_where_they_are_as_new(own_prices):
    rows = [
        "ml.m5.large,us-east-1,0.2,2022-03-24,same day",
        "ml.m5.xlarge,us-east-1,0.3,2021-01-01,older",
        "ml.zz9.xlarge,eu-west-1,9,2026-01-01,new",
    ]
    own_prices.write_text(HEADER + "\n".join(rows))
    assert (price_of("ml.m5.large", "us-east-1").usd_per_hour, price_of("ml.m5.large", "us-east-1").source) == (0.2, "same day")
    assert price_of("ml.m5.xlarge", "us-east-1").usd_per_hour == 0.23
    assert price_of("ml.zz9.xlarge", "eu-west-1").usd_per_hour == 9
    own_prices.write_text(HEADER + "ml.m5.large,us-east-1,0,2026-01-01,free?\n")
    with pytest.raises(UserError, match=r"own.csv, line 2: usd_per_hour is '0'"):
        price_of("ml.m5.large", "us-east-1")


def test_a_table_that_is_given_stands_alone(own_prices, tmp_path):
    own_prices.write_text(HEADER + "ml.a.b,us-east-1,5,2026-01-01,own\n")
    (tmp_path / "given.csv").write_text(HEADER + "ml.a.b,us-east-1,4,2020-01-01,given\n")
    assert price_of("ml.a.b", "us-east-1", tables=load_tables(prices_csv=tmp_path / "given.csv")).usd_per_hour == 4


def test_where_the_users_own_prices_are():
    assert own_prices_csv({"OUTRIDER_PRICES": "/x/p.csv", "XDG_CACHE_HOME": "/c"}) == Path("/x/p.csv")
    assert own_prices_csv({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/outrider/prices.csv")
    assert own_prices_csv({"HOME": "/h"}) == Path("/h/.cache/outrider/prices.csv")


class Lying(BackendDescription):
    """A plug-in's description that says what it is told to."""

    name = "lying"
    implementation = "nowhere:Backend"
    block = Overrides
    instance_pattern = r"lying\..*"
    said: Any = None

    def price(self, instance_type, region, tables, block):
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    def facts(self, instance_type, tables):
        return self.price(instance_type, "", tables, self.block())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Price(-1.0, "r", "2026-01-01", "s"), "says that an hour of lying.1cpu costs -1.0, which is no price above 0"),
        (Price(0.0, "r", "2026-01-01", "s"), "costs 0.0, which is no price above 0"),
        (Price(float("nan"), "r", "2026-01-01", "s"), "costs nan, which is no price above 0"),
        (Price(float("inf"), "r", "2026-01-01", "s"), "costs inf, which is no price above 0"),
        (Price("cheap", "r", "2026-01-01", "s"), "costs 'cheap', which is no price above 0"),
        (Price(True, "r", "2026-01-01", "s"), "costs True, which is no price above 0"),
        (0.5, "costs 0.5, which is no price above 0"),
        (RuntimeError("no table"), "cannot say what lying.1cpu costs (RuntimeError: no table)"),
    ],
)
def test_a_plug_in_that_lies_about_prices_is_taken_as_not_knowing_and_named(said, why, monkeypatch, caplog):
    lying = Lying()
    lying.said = said
    point = EntryPoint("lying", "nowhere:DESCRIPTION", "outrider.backends")
    monkeypatch.setattr(EntryPoint, "load", lambda self: lying)
    monkeypatch.setattr("definitions.backend_registry.installed", lambda group: (point,))
    instances.warn_once.cache_clear()
    assert price_of("lying.1cpu", "us-east-1") is None
    assert price_of("lying.1cpu", "us-east-1") is None
    (record,) = caplog.records
    assert record.message.startswith("back-end lying ")
    assert record.message.endswith(f"{why}; it is taken as unknown")
    assert price_of("ml.m5.xlarge", "us-east-1").usd_per_hour == 0.23


@pytest.mark.parametrize(
    ("said", "why"), [("much", "says that lying.1cpu has 'much'"), (KeyError("a"), "cannot say what lying.1cpu has (KeyError: 'a')")]
)
def test_facts_that_are_none_are_taken_as_unknown(said, why, monkeypatch, caplog):
    lying = Lying()
    lying.said = said
    instances.warn_once.cache_clear()
    monkeypatch.setattr(EntryPoint, "load", lambda self: lying)
    monkeypatch.setattr(
        "definitions.backend_registry.installed", lambda group: (EntryPoint("lying", "nowhere:DESCRIPTION", "outrider.backends"),)
    )
    assert instance_facts("lying.1cpu") is None
    assert f"back-end lying {why}; it is taken as unknown" in caplog.text


def test_a_plug_in_that_cannot_be_loaded_does_not_keep_others_from_their_prices(monkeypatch, caplog):
    broken = EntryPoint("broken", "there_is_no_such_module:DESCRIPTION", "outrider.backends")
    monkeypatch.setattr("definitions.backend_registry.installed", lambda group: (broken,))
    assert price_of("m5.xlarge", "us-east-1") is None
    assert "its plug-in there_is_no_such_module:DESCRIPTION cannot be loaded" in caplog.text
    assert price_of("local.2cpu", "us-east-1") is not None
