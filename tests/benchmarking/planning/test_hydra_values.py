"""Values behind `key=`, as Hydra 1.3 reads them: each was read back by its own parser as what it was."""

import pytest

from benchmarking.planning.hydra_values import hydra_value
from definitions.written import written_float, written_int


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("adam", "adam"),
        ("a/b-c_d.e:f@g+h", "a/b-c_d.e:f@g+h"),
        ("a,b", "'a,b'"),
        ("a b", "'a b'"),
        (" lead", "' lead'"),
        ("", "''"),
        ("a=b", "'a=b'"),
        ("f(x)", "'f(x)'"),
        ("[1]", "'[1]'"),
        ("{a}", "'{a}'"),
        ("größe", "'größe'"),
        ('say "x"', "'say \"x\"'"),
        ("it's", r"'it\'s'"),
        ("c:\\dir", r"'c:\dir'"),
        ("end\\", r"'end\\'"),
        ("a\\'b", r"'a\\\'b'"),
        ("'", r"'\''"),
        # text that would be read as something else
        ("true", "'true'"),
        ("null", "'null'"),
        ("3", "'3'"),
        ("1_000", "'1_000'"),
        ("1e3", "'1e3'"),
        ("-.5", "'-.5'"),
        ("nan", "'nan'"),
        ("007", "007"),
        ("2026-11-27", "2026-11-27"),
        ("yes", "yes"),
        # what is no text
        (True, "true"),
        (None, "null"),
        (written_float("1e3"), "1e3"),
        (written_int("0x10"), "0x10"),
        (["a,b", 1, True, None, ["x y"]], "['a,b',1,true,null,['x y']]"),
        ([{"k": "v w"}], "[{k:'v w'}]"),
    ],
)
def test_text_that_the_grammar_would_take_apart_is_quoted(value, written):
    assert hydra_value(value) == written
