"""Tables of instance types and prices: what is read, whose row counts, what is refused."""

from pathlib import Path

import pytest

from definitions.errors import UserError
from definitions.instance_tables import InstanceFacts, Price, load_tables, own_prices_csv, read_prices

FACTS = "instance_type,vcpus,memory_gib,gpus,gpu_memory_mib,region,date,source\n"
PRICES = "instance_type,region,usd_per_hour,date,source\n"


def write(folder, name, *lines):
    path = folder / name
    path.write_text("".join(lines))
    return path


def facts(folder, row="a,2,7.5,1,16384,all,2026-01-01,s\n"):
    return write(folder, "facts.csv", FACTS, row)


def test_sizes_become_bytes_and_no_gpu_has_none(tmp_path):
    prices = write(tmp_path, "prices.csv", PRICES, "a,r,0.5,2026-01-01,s\n")
    found = load_tables(facts(tmp_path), prices, {})
    assert found.facts == {"a": InstanceFacts("a", 2, int(7.5 * 2**30), 1, 16384 * 2**20)}
    assert found.prices == {("a", "r"): Price(0.5, "r", "2026-01-01", "s")}
    assert load_tables(facts(tmp_path, "a,2,8,0,,all,2026-01-01,s\n"), prices, {}).facts["a"].gpu_memory_bytes is None


def test_the_latest_row_of_a_type_and_region_counts(tmp_path):
    rows = ["a,r,1,2026-01-02,first\n", "a,r,2,2026-01-01,older\n", "a,r,3,2026-01-02,second\n", "a,q,4,2026-01-01,other\n"]
    found = load_tables(facts(tmp_path), write(tmp_path, "prices.csv", PRICES, *rows), {}).prices
    assert {key: price.usd_per_hour for key, price in found.items()} == {("a", "r"): 3.0, ("a", "q"): 4.0}


def test_prices_of_endpoints_are_apart_from_those_of_training(tmp_path):
    rows = ["a,r,1,2026-01-02,s,\n", "a,r,2,2026-01-03,s,hosting\n", "b,r,3,2026-01-01,s,hosting\n", "c,r,4,2026-01-01,s,training\n"]
    found = load_tables(facts(tmp_path), write(tmp_path, "prices.csv", PRICES.replace("source", "source,use"), *rows), {})
    assert {key: price.usd_per_hour for key, price in found.prices.items()} == {("a", "r"): 1.0, ("c", "r"): 4.0}
    assert {key: price.usd_per_hour for key, price in found.used_for("hosting").prices.items()} == {("a", "r"): 2.0, ("b", "r"): 3.0}
    with pytest.raises(UserError, match="line 2: the use 'rent' is unknown"):
        load_tables(facts(tmp_path), write(tmp_path, "prices.csv", PRICES.replace("source", "source,use"), "a,r,1,2026-01-02,s,rent\n"))


def test_own_prices_come_on_top_unless_the_shipped_ones_are_later(tmp_path):
    own = write(tmp_path, "own.csv", PRICES, "ml.m5.large,us-east-1,9,2099-01-01,me\n", "ml.m5.xlarge,us-east-1,9,2001-01-01,me\n")
    found = load_tables(environ={"OUTRIDER_PRICES": str(own)}).prices
    assert found["ml.m5.large", "us-east-1"].usd_per_hour == 9.0
    assert found["ml.m5.xlarge", "us-east-1"].usd_per_hour == 0.23
    assert load_tables(environ={"OUTRIDER_PRICES": str(tmp_path / "none.csv")}).prices["ml.m5.large", "us-east-1"].usd_per_hour == 0.115


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"OUTRIDER_PRICES": "/p.csv", "XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/p.csv"),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/outrider/prices.csv"),
        ({"HOME": "/h"}, "/h/.cache/outrider/prices.csv"),
    ],
)
def test_where_own_prices_are_kept(environ, path):
    assert own_prices_csv(environ) == Path(path)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,r,0,2026-01-01,s\n", "line 2: usd_per_hour is '0'"),
        ("a,r,nan,2026-01-01,s\n", "usd_per_hour is 'nan'"),
        ("a,r,cheap,2026-01-01,s\n", "usd_per_hour is 'cheap'"),
        ("a,r,1,2026-1-1,s\n", "the date '2026-1-1' is not YYYY-MM-DD"),
        ("a,,1,2026-01-01,\n", "region, source is missing"),
    ],
)
def test_a_row_that_cannot_be_is_told_with_its_line(tmp_path, row, says):
    with pytest.raises(UserError, match=says):
        list(read_prices(write(tmp_path, "prices.csv", PRICES, row)))


def test_negative_gpus_and_missing_files_are_refused(tmp_path):
    with pytest.raises(UserError, match="gpus is '-1'"):
        load_tables(facts(tmp_path, "a,2,8,-1,,all,2026-01-01,s\n"))
    with pytest.raises(UserError, match="cannot be read"):
        list(read_prices(tmp_path / "none.csv"))
