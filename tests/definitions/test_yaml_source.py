"""Every YAML trap by name, and the file and line in every complaint."""

import math
import os
import stat
from pathlib import Path

import pytest

from definitions.errors import UserError
from definitions.yaml_source import Source, parse_scalar, parse_yaml, read_yaml, with_datasets

D = Path("d.yaml")


def refused(text: str) -> str:
    with pytest.raises(UserError) as caught:
        parse_yaml(text, D)
    return str(caught.value)


@pytest.mark.parametrize("word", ["no", "No", "yes", "on", "off", "y", "n", "NO"])
def test_yaml_1_1_booleans_stay_text(word):
    assert parse_yaml(f"a: [{word}]", D).data == {"a": [word]}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e-3", 0.001),
        ("1E+3", 1000.0),
        ("1.", 1.0),
        (".5", 0.5),
        (".5e1", 5.0),
        ("-2.5", -2.5),
        ("+3", 3),
        ("0", 0),
        ("-7", -7),
        ("0x1F", 31),
        ("0o17", 15),
        ("true", True),
        ("False", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("-.inf", -math.inf),
    ],
)
def test_scalars_have_the_type_that_yaml_1_2_gives_them(written, value):
    read = parse_scalar(written)
    assert (isinstance(read, type(value)), read) == (True, value)
    assert parse_yaml(f"a: {written}", D).data == {"a": value}


def test_nan_is_a_number():
    assert math.isnan(parse_scalar(".nan"))


@pytest.mark.parametrize(
    "written", ["2026-11-27", "2026-11-27T22:04:29Z", "1:30", "190:20:30", "010", "007", "1_000", "1e", "e3", ".", "-", "+", "1.2.3", "0b1"]
)
def test_dates_sexagesimals_octals_and_underscored_numbers_stay_text(written):
    assert parse_scalar(written) == written


def test_a_number_of_thousands_of_digits_is_text_and_no_crash():
    assert parse_scalar("9" * 5000) == "9" * 5000


def test_quoted_scalars_are_text():
    assert parse_yaml("a: ['1', \"true\", 'null', '1e-3']", D).data == {"a": ["1", "true", "null", "1e-3"]}


def test_explicit_standard_tags_are_understood():
    assert parse_yaml("a: !!str 5\nb: !!float 3\nc: !!int 4", D).data == {"a": "5", "b": 3.0, "c": 4}


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!timestamp", "!!binary", "!mine", "!!set"])
def test_other_tags_are_refused(tag):
    assert refused(f"x: 1\na: {tag} '5'") == (
        f"d.yaml:2: the tag {tag} is not understood here\n  values are text, numbers, true/false, null, lists, mappings"
    )


def test_a_duplicate_key_names_both_lines():
    assert refused("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n") == (
        "d.yaml:5: the key 'c' is given twice\n  it was given on line 3 already\n  keep one of them"
    )


def test_a_tab_as_indentation_is_named_even_where_yaml_would_fold_it():
    assert refused("a:\n  b: 1\n\tc: 2") == (
        "d.yaml:3: a tab is used for indentation\n  YAML allows spaces only\n  replace the tab by spaces"
    )


def test_a_tab_before_a_value_is_refused_too():
    assert refused("b: 1\na:\t1").startswith("d.yaml:2: this is not valid YAML\n  found character '\\t'")


def test_keys_must_be_text():
    assert refused("a: 1\n1: 2") == 'd.yaml:2: the key 1 is not text\n  keys are text\n  put it in quotes: "1"'
    assert parse_yaml("no: 1\non: 2", D).data == {"no": 1, "on": 2}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_nothing_in_the_file(text):
    assert refused(text) == "d.yaml:1: this file is empty\n  a definition is a mapping: name, script, space, objectives, ..."


def test_a_list_or_a_word_at_the_top():
    assert refused("- a\n").startswith("d.yaml:1: this is a list")
    assert refused("\nword\n").startswith("d.yaml:2: this is a single value")


def test_a_second_document():
    assert refused("a: 1\n---\nb: 2") == "d.yaml:2: a second document begins here (---)\n  a file holds one definition"


def test_syntax_errors_name_the_line():
    assert refused("a: 1\nb: c: d").startswith("d.yaml:2: this is not valid YAML\n  mapping values are not allowed here")
    assert refused("a: 1\nb: 'x").splitlines()[1] == "  found unexpected end of stream (while scanning a quoted scalar of line 2)"
    assert refused("a: 1\nb: @x").splitlines()[1] == "  found character '@' that cannot start any token"


def test_a_control_character_is_named():
    assert refused("\na: 1\nb: x\x07y") == "d.yaml:3: the character U+0007 is not allowed in YAML"


def test_a_document_that_contains_itself():
    assert refused("a: &x [1, *x]").startswith("d.yaml:1: an alias (*name) refers to what contains it")


def test_aliases_that_multiply_are_stopped():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [" + ", ".join([f"*a{k - 1}"] * 10) + "]" for k in range(1, 10)]
    assert "aliases multiply this file beyond reason" in refused("\n".join(lines))


def test_deep_nesting_is_no_crash():
    assert refused("a: " + "[" * 600 + "]" * 600) == "d.yaml: this is nested too deeply"


def test_lines_of_keys_and_items():
    source = parse_yaml("a: 1\nb:\n  - c: 2\n    d: 3\n  - e\n", D)
    assert source.positions == {(): 1, ("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 0, "c"): 3, ("b", 0, "d"): 4, ("b", 1): 5}
    assert source.place(("b", 0, "d")).text == "d.yaml:4"
    assert source.place(("b", 0, "missing")).text == "d.yaml:3"
    assert source.place(("missing",)).text == "d.yaml:1"


@pytest.mark.parametrize("order", ["<<: *base\n  y: 3", "y: 3\n  <<: *base"])
def test_merge_keys_are_overridden_by_own_ones_wherever_they_stand(order):
    source = parse_yaml(f"base: &base {{x: 1, y: 2}}\nown:\n  {order}\n", D)
    assert source.data["own"] == {"x": 1, "y": 3}
    assert source.positions["own", "x"] == 1
    assert source.positions["own", "y"] == 3 + order.startswith("<<")


def test_of_a_merged_mapping_that_is_replaced_no_place_is_left_and_all_others_are():
    source = parse_yaml("base: &base\n  a: {x: 1, y: 2}\n  ab: {y: 3}\nown:\n  <<: *base\n  a:\n    x: 3\n", D)
    assert source.data["own"] == {"ab": {"y": 3}, "a": {"x": 3}}
    assert ("own", "a", "y") not in source.positions
    own = {path[1:]: line for path, line in source.positions.items() if path[:1] == ("own",)}
    assert own == {(): 4, ("ab",): 3, ("ab", "y"): 3, ("a",): 6, ("a", "x"): 7}
    assert source.positions["base", "a", "y"] == 2


@pytest.mark.parametrize("text", ["? [a, b]\n: 1", "? {a: b}\n: 1"])
def test_a_key_is_a_single_text(text):
    assert "a key is a list or a mapping\n  keys are text" in refused(text)


def test_of_several_merged_mappings_the_first_wins():
    assert parse_yaml("a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b]}", D).data["c"] == {"x": 1, "y": 2}


def test_a_byte_order_mark_and_names_of_other_alphabets(tmp_path):
    file = tmp_path / "größe.yaml"
    file.write_bytes("\ufeffname: größe\nキー: [日本]\n".encode())
    source = read_yaml(file)
    assert source.data == {"name": "größe", "キー": ["日本"]}
    assert source.place(("キー",)).origin == "größe.yaml:2"


def test_windows_line_ends(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_bytes(b"a: 1\r\nb: x\r\n")
    assert read_yaml(file).data == {"a": 1, "b": "x"}


def test_a_file_in_another_encoding_names_the_line(tmp_path):
    file = tmp_path / "d.yaml"
    file.write_bytes(b"a: 1\nb: gr\xf6\xdfe\n")
    with pytest.raises(UserError, match=r"d.yaml:2: this is not UTF-8\n  byte 0xf6"):
        read_yaml(file)


def test_missing_folder_unreadable_and_too_large(tmp_path):
    with pytest.raises(UserError, match=r"nope.yaml: there is no such file\n  looked for /"):
        read_yaml(tmp_path / "nope.yaml")
    with pytest.raises(UserError, match="is a folder"):
        read_yaml(tmp_path)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(UserError, match="is larger than 1 MiB"):
        read_yaml(large)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("a: 1")
    secret.chmod(stat.S_IWUSR)
    with pytest.raises(UserError, match=r"secret.yaml cannot be read\n  Permission denied"):
        read_yaml(secret)


def test_data_sets_in_a_file_of_their_own(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "sets.yaml").write_text("photo:\n  type: images\n  samples: 2k\n")
    (tmp_path / "d.yaml").write_text("name: x\ndatasets: sub/sets.yaml\n")
    source = with_datasets(read_yaml(tmp_path / "d.yaml"))
    assert source.data["datasets"] == {"photo": {"type": "images", "samples": "2k"}}
    assert source.place(("datasets", "photo", "samples")).origin == "sets.yaml:3"
    assert source.place(("datasets",)).origin == "d.yaml:2"
    assert source.file_of(("datasets", "photo")) == tmp_path / "sub" / "sets.yaml"


def test_a_missing_file_of_data_sets_names_who_asked(tmp_path):
    (tmp_path / "d.yaml").write_text("name: x\n\ndatasets: sets.yaml\n")
    with pytest.raises(UserError, match=r"d.yaml:3: datasets: .*sets.yaml: there is no such file"):
        with_datasets(read_yaml(tmp_path / "d.yaml"))


def test_inline_data_sets_are_left_alone():
    source = Source({"datasets": {"a": {}}}, {}, D)
    assert with_datasets(source) is source
