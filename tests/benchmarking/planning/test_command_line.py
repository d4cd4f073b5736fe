"""What a trial starts: each style, placeholders, null, what is written how."""

import json

import pytest
import yaml

from benchmarking.planning.command_line import CommandLine
from definitions.command import Calling
from definitions.written import written_float

VALUES = {"lr": -8.2e-06, "batch_size": 32, "amp": True, "slow": False, "hidden": [64, 32], "note": None, "text": "a b"}


def words(values=VALUES, command=None, facts=None, **how):
    calling = Calling(command, keys=tuple(values), **how)
    made = CommandLine(calling, "train.py").start(values, facts or {})
    return [*(made.command or made.arguments)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, "--lr=-8.2e-06|--batch_size=32|--amp=true|--slow=false|--hidden|64|32|--text=a b"),
        ({"style": "hyphens"}, "--lr=-8.2e-06|--batch-size=32|--amp=true|--slow=false|--hidden|64|32|--text=a b"),
        ({"style": "two_words"}, "--lr|-0.0000082|--batch_size|32|--amp|true|--slow|false|--hidden|64|32|--text|a b"),
        ({"booleans": "switch", "lists": "comma"}, "--lr=-8.2e-06|--batch_size=32|--amp|--hidden=64,32|--text=a b"),
        ({"booleans": "no_switch", "lists": "repeated"},
         "--lr=-8.2e-06|--batch_size=32|--amp|--no-slow|--hidden=64|--hidden=32|--text=a b"),
        ({"style": "key=value"}, "lr=-8.2e-06|batch_size=32|amp=true|slow=false|hidden=[64,32]|note=null|text='a b'"),
        ({"style": "none"}, ""),
        ({"rename": {"lr": "optim.lr", "batch_size": "-b"}},
         "--optim.lr=-8.2e-06|-b|32|--amp=true|--slow=false|--hidden|64|32|--text=a b"),
    ],
)  # fmt: skip
def test_each_style(how, expected):
    assert "|".join(words(**how)) == expected


def test_each_key_may_have_its_own_form():
    """As a script of click has: `nargs=2` beside `multiple=True`, a switch beside an option that takes true or false."""
    values = {"size": [3, 4], "tag": ["a", "b"], "ids": [1, 2], "amp": True, "pretrained": False, "bias": False}
    made = words(values, lists={"tag": "repeated", "ids": "comma"}, booleans={"pretrained": "value", "bias": "no_switch", "*": "switch"})
    assert made == ["--size", "3", "4", "--tag=a", "--tag=b", "--ids=1,2", "--amp", "--pretrained=false", "--no-bias"]
    assert words(values, ("p", "${ids}", "${arguments}"), lists={"ids": "comma", "*": "repeated"}, booleans={"amp": "switch"}) == [
        "p", "1,2", "--size=3", "--size=4", "--tag=a", "--tag=b", "--amp", "--pretrained=false", "--bias=false"
    ]  # fmt: skip
    assert words({"a": [1, 2], "b": [3]}, style="key=value", lists={"b": "comma"}) == ["a=[1,2]", "b=3"]


def test_a_value_is_as_it_was_written():
    assert words({"n": written_float("1e3"), "m": 1e-05, "d": {"a": [1]}}) == ["--n=1e3", "--m=1e-05", '--d={"a":[1]}']


def test_a_drawn_negative_number_that_is_a_word_of_its_own_has_no_exponent():
    """argparse (before Python 3.14) takes `-1e-05` for an option wherever it is no part of `--key=value`."""
    values = {"shift": -1e-05, "weights": [-2.5e-7, 1e-05, -3], "far": -1e300, "none": -float("inf")}
    command = ("p", "${shift}", "${outrider.level}", "at=${shift}", "${arguments}")
    made = words(values, command, {"level": -1e-3})
    assert made == ["p", "-0.00001", "-0.001", "at=-1e-05", "--weights", "-0.00000025", "1e-05", "-3", "--far=-1e+300", "--none=-inf"]
    assert words({"far": -1e300}, style="two_words")[1] == "-1" + "0" * 300
    assert words({"w": [-1e-5, 2]}, lists="repeated", rename={"w": "-w"}) == ["-w", "-0.00001", "-w", "2"]
    assert words({"w": [-1e-5, 2]}, lists="comma") == ["--w=-1e-05,2"]


def test_one_that_somebody_wrote_stays_as_it_was_written():
    for text in ("-1E-5", "-1e-05", "-2.50e-7"):
        shift = written_float(text)
        assert words({"shift": shift, "w": [shift, 2]}, ("p", "${shift}", "${arguments}")) == ["p", text, "--w", text, "2"]
        assert words({"shift": shift}, style="two_words") == ["--shift", text]
    plain = words({"shift": written_float("-2.50e-7"), "at": 1}, ("p", "${shift}", "${arguments}"), plain_numbers=True)
    assert plain == ["p", "-0.000000250", "--at=1"]


def test_a_list_of_one_value_that_begins_with_a_hyphen_is_joined_to_its_flag():
    assert words({"w": ["-x"], "v": ["x"], "u": [written_float("-1e-5")]}) == ["--w=-x", "--v", "x", "--u=-1e-5"]
    assert words({"w": ["-x"]}, rename={"w": "-w"}) == ["-w", "-x"]


def test_arguments_leave_out_what_is_named_elsewhere():
    command = ("torchrun", "--n=${procs}", "${data}/x", "${arguments}", "${seed}")
    assert words({"procs": 2, "lr": 1}, command, {"seed": 7}) == ["torchrun", "--n=2", "${data}/x", "--lr=1", "7"]
    assert words({"procs": 2, "lr": 1}, ("p", "${arguments}"), environment={"N": "${procs}"}) == ["p", "--lr=1"]


def test_a_key_of_the_script_wins_over_ours_which_has_another_name():
    assert words({"seed": 3, "model": "m"}, ("p", "${seed}", "${outrider.seed}", "${model}", "${outrider.model}"), {"seed": 9}) == [
        "p", "3", "9", "m", "${model}",
    ]  # fmt: skip


def test_a_word_that_names_nothing_is_left_out_and_braces_in_values_stay():
    assert words({"a": None, "b": "${x}"}, ("p", "--a=${a}", "--b=${b}", "$${HOME}")) == ["p", "--b=$${x}", "$${HOME}"]


def test_only_a_word_that_is_the_keys_alone_goes_with_it():
    command = ("p", "--a=${a}", "-a${a}", "--a", "${a}", "sh -c 'x ${b} ${a}'", "${a:-none}", "-v", "${b}", "x/${a}", "${a:-}.csv")
    assert words({"a": None, "b": 2}, command) == ["p", "sh -c 'x 2 '", "none", "-v", "2", "x/", ".csv"]
    assert words({"a_b": None}, ("p", "-v", "--a-b", "${a_b}", "end")) == ["p", "-v", "end"]
    assert words({"a": None}, ("p", "--alpha", "${a}", "-x"), rename={"a": "alpha"}) == ["p", "-x"]
    # Of a list without items the flag stays: a parser may take none.
    assert words({"a": []}, ("p", "--a", "${a}")) == ["p", "--a"]


def test_a_key_without_a_value_is_none_of_ours_that_is_called_alike():
    made = CommandLine(Calling(("p", "${seed:-own}", "${outrider.seed}"), keys=("seed",)), "").start({}, {"seed": 5})
    assert made.command == ("p", "own", "5")


def test_a_variable_is_as_absent_as_its_key():
    calling = Calling(environment={"M": "${m}", "N": "${m:-0.9}", "E": "${m:-}", "L": "at ${m}"}, keys=("m",))
    assert CommandLine(calling, "t.py").start({"m": None}, {}).environment == {"N": "0.9", "E": "", "L": "at "}


def test_arguments_within_a_word_are_quoted_for_a_shell():
    assert words({"t": "a b; rm", "u": 1}, ("sh", "-c", "p ${arguments} | tee log"))[2] == "p '--t=a b; rm' --u=1 | tee log"


@pytest.mark.parametrize("style", ["json", "yaml"])
def test_a_file_of_arguments(style):
    values = {"model.lr": written_float("1e3"), "model.depth": 2, "amp": True, "none": None}
    made = CommandLine(Calling(style=style, keys=tuple(values)), "train.py").start(values, {})
    assert made.command == ("${python}", "${script}", "${arguments_file}")
    read = {"json": json.loads, "yaml": yaml.safe_load}[style](made.files[f"arguments.{style}"])
    assert read == {"model": {"lr": 1000.0, "depth": 2}, "amp": True, "none": None}


def test_python_and_files_of_the_source_are_placed():
    line = CommandLine(Calling(("python", "train.py", "resnet", "-m")), "", lambda word: word == "train.py")
    assert line.start({}, {}).command == ("${python}", "${source}/train.py", "resnet", "-m")


@pytest.mark.parametrize(
    ("lists", "expected"),
    [("words", ["p", "a b", "$${x}", "3", "end"]), ("repeated", ["p", "a b", "$${x}", "3", "end"]), ("comma", ["p", "a b,$${x},3", "end"])],
)
def test_a_list_in_a_place_of_its_own_is_as_many_words_as_it_has(lists, expected):
    values = {"files": ["a b", "${x}", 3]}  # what looks like a placeholder of the back-end's is escaped
    assert words(values, ("p", "${files}", "end"), lists=lists) == expected
    assert words({"files": []}, ("p", "${files}", "end"), lists=lists) == (["p", "", "end"] if lists == "comma" else ["p", "end"])
    # Within a word it is one text.
    assert words(values, ("p", "--files=${files}"), lists=lists) == ["p", '--files=["a b","$${x}",3]']


def test_environment_and_other_commands():
    calling = Calling(environment={"LR": "x${lr}", "T": "${trial}"}, keys=("lr",), others={"prepare": ("make", "${lr}", "${output}")})
    made = CommandLine(calling, "t.py").start({"lr": 2}, {"trial": 4})
    assert (made.environment, made.others, made.arguments) == ({"LR": "x2", "T": "4"}, {"prepare": ("make", "2", "${output}")}, ())
