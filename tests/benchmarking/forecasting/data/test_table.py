"""Reading tables: every wrong row is told by file and line, and what can be used is used."""

import pytest

from benchmarking.forecasting.data.table import parse_table, read_table
from definitions.errors import UserError

HEAD = "configuration,fraction,repeat,startup_s,train_s,total_s,status\n"


def test_statuses_of_several_systems_are_understood():
    rows = HEAD + "a,0.01,0,1,2,3,Completed\na,0.02,0,1,2,3,Stopped\na,0.03,0,1,2,3,OOM\na,0.04,0,1,2,3,\n"
    assert [canary.status for canary in parse_table(rows).canaries] == ["completed", "stopped", "out_of_memory", "completed"]


@pytest.mark.parametrize(
    ("fraction", "advice"), [("0", "above 0"), ("3", "write 1 % as 0.01"), ("-0.1", "above 0"), ("nan", "above 0"), ("x", "above 0")]
)
def test_a_fraction_that_cannot_be_is_told_with_its_line(fraction, advice):
    with pytest.raises(UserError, match=r"t\.csv:3:2: fraction") as error:
        parse_table(HEAD + f"a,0.01,0,1,2,3,\na,{fraction},0,1,2,3,\n", "t.csv")
    assert advice in str(error.value)


def test_nan_and_the_sentinel_for_absent_are_left_out_and_noted():
    table = parse_table(HEAD + "a,0.01,0,nan,2,3,\na,0.02,0,-1,2,3,\n")
    assert [canary.startup_s for canary in table.canaries] == [None, None]
    assert len(table.notes["a"]) == 2


def test_text_where_a_number_belongs_is_an_error():
    with pytest.raises(UserError, match="train_s is 'long'"):
        parse_table(HEAD + "a,0.01,0,1,long,3,\n")


def test_duplicated_rows_count_once_but_repeats_without_numbers_are_repeats():
    rows = "a,0.01,0,1,2,3,\na,0.01,0,1,2,3,\na,0.01,1,1,2,3,\n"
    table = parse_table(HEAD + rows)
    assert len(table.canaries) == 2
    assert "1 duplicated rows" in table.notes["a"][0]
    assert len(parse_table("configuration,fraction,total_s\na,0.01,3\na,0.01,3\n").canaries) == 2


def test_a_train_phase_longer_than_its_total_is_not_used():
    table = parse_table(HEAD + "a,0.01,0,1,20,10,\n")
    assert (table.canaries[0].train_s, table.canaries[0].total_s) == (None, 10.0)
    assert "longer than the total" in table.notes["a"][0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'configuration'"),
        ("configuration,total_s\na,1\n", "no column 'fraction'"),
        ("configuration,fraction\na,0.1\n", "nothing was measured"),
        (HEAD, "there are no rows"),
        (HEAD + ",0.1,0,1,2,3,\n", "has no name"),
    ],
)
def test_what_is_no_table_is_told(text, message):
    with pytest.raises(UserError, match=message):
        parse_table(text)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        read_table(tmp_path / "none.csv")


def test_a_byte_order_mark_and_empty_lines_do_no_harm(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeff" + HEAD + "a,0.01,0,1,2,3,\n,,,,,,\n", encoding="utf-8")
    assert len(read_table(path).canaries) == 1
