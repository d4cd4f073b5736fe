import os

import pytest

from backends.emulator import Emulator
from definitions.errors import UserError
from definitions.instance_tables import load_tables
from launch.__main__ import main as outrider
from launch.verbs.prices import main

pytestmark = pytest.mark.slow

NOON = 1_796_040_000.0  # 2026-11-30 UTC


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        yield running


@pytest.fixture
def environ(emulator, tmp_path, monkeypatch):
    """An environment with an emulator and an own table of prices, not there yet."""
    for name, value in {**emulator.environment, "OUTRIDER_PRICES": str(tmp_path / "own.csv")}.items():
        monkeypatch.setenv(name, value)
    return os.environ


def test_each_price_has_its_date_and_source(environ, capsys):
    assert main(["ml.m5.large", "ml.zz9.large", "local.2cpu"], environ) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[0] == "instance type"
    assert [line.split()[:5] for line in lines[2:]] == [
        ["ml.m5.large", "us-east-1", "training", "0.1150", "2022-03-24"],
        ["ml.zz9.large", "us-east-1", "-", "-", "-"],
        ["local.2cpu", "local", "training", "0.1000", "2026-11-27"],
    ]
    assert "nominal: not a bill" in lines[4]


def test_endpoints_have_prices_of_their_own(environ, capsys):
    assert main(["--refresh", "ml.m5.xlarge"], environ, lambda: NOON) == 0
    shown = capsys.readouterr()
    assert [line.split()[2:5] for line in shown.out.splitlines()[2:]] == [
        ["training", "0.2300", "2026-11-30"],
        ["hosting", "0.2300", "2026-11-30"],
    ]
    assert "1 of training and 1 of hosting" in shown.err
    assert load_tables(environ=environ).hosting["ml.m5.xlarge", "us-east-1"].date == "2026-11-30"


def test_without_a_type_all_known_ones_of_the_region(environ, capsys):
    main([], environ)
    shown = capsys.readouterr().out.splitlines()[2:]
    tables = load_tables()
    assert len(shown) == sum(region == "us-east-1" for _, region in [*tables.prices, *tables.hosting])
    main(["--region", "ap-south-9"], environ)
    assert "no price is known for ap-south-9" in capsys.readouterr().err


def test_refreshed_prices_are_kept_and_used_from_then_on(environ, tmp_path, capsys):
    assert main(["--refresh", "ml.m5.large", "ml.zz9.large"], environ, lambda: NOON) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines()[2].split()[2:5] == ["training", "0.1150", "2026-11-30"]
    assert "emulated: Price List" in shown.out
    assert (
        shown.err.splitlines(keepends=True)[0]
        == f"prices of us-east-1 from emulated: 1 of training and 0 of hosting; none for ml.zz9.large; kept in {tmp_path / 'own.csv'}\n"
    )
    assert load_tables(environ=environ).prices["ml.m5.large", "us-east-1"].date == "2026-11-30"
    assert load_tables(environ=environ).prices["ml.m5.xlarge", "us-east-1"].date == "2022-03-24"


def test_an_emulators_prices_never_pass_for_a_bills(environ, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OUTRIDER_PRICES")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["--refresh", "ml.m5.large"], environ, lambda: NOON) == 0
    assert not (tmp_path / "cache").exists()
    assert "only where OUTRIDER_PRICES names a file" in capsys.readouterr().err


def test_what_is_no_instance_type_is_refused_and_a_slip_is_told(environ, capsys):
    with pytest.raises(UserError, match=r"'m5.large' is no instance type"):
        main(["m5.large"], environ)
    main(["ml.m5.larg"], environ)
    assert "did you mean 'ml.m5.large'?" in capsys.readouterr().err


def test_it_is_a_verb(environ, capsys):
    assert outrider(["prices", "ml.m5.large"]) == 0
    assert "0.1150" in capsys.readouterr().out
