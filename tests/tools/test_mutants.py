import pytest

from tests.tools.mutants import diff_of, mutants_of


def changed(line):
    """Return what a line of a function becomes, with the kind of each change."""
    text = f"def f(a, b):\n    {line}\n"
    found = [(mutant.what, mutant.source.splitlines()[1].strip()) for mutant in mutants_of("m.py", text)]
    return [(what, new) for what, new in found if new != line]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", [("comparison", "x = (a <= b)")]),
        ("x = a in b", [("comparison", "x = (a not in b)")]),
        ("x = a and b", [("and/or", "x = (a or b)")]),
        ("x = not a", [("not", "x = a")]),
        ("x = a // b", [("arithmetic", "x = (a * b)")]),
        ("x = 2.5", [("constant", "x = (3.5)")]),
        ("x = True", [("constant", "x = (False)")]),
        ("x += 2", [("arithmetic", "x -= 2"), ("statement dropped", "pass"), ("constant", "x += (3)")]),
        ("return a", [("return None", "return None")]),
        ("f(a, b)", [("statement dropped", "pass")]),
        ("x[a] = b", [("statement dropped", "pass")]),
        ("x = a if b else a", [("condition", "x = a if (not b) else a")]),
    ],
)
def test_each_kind_of_change(line, expected):
    found = [(what, "x = a" if new == "x = (a)" else new) for what, new in changed(line)]
    assert found == expected


@pytest.mark.parametrize(
    "line",
    [
        "x: 'int | None' = a",
        "return None",
        "logger.info(1)",
        "assert a == b",
        "for x in zip(a, b, strict=True): ...",
        "x = f'{a + b}'",
        "x = 'text'",
    ],
)
def test_annotations_messages_and_log_lines_are_left_alone(line):
    assert changed(line) == []


def test_a_mutant_tells_its_statement_and_whether_importing_executes_it():
    text = "LIMIT = 3\n\n\ndef f(a, b=4):\n    if (\n        a > 5\n    ):\n        return b\n"
    found = {(mutant.line, mutant.what): (mutant.first, mutant.last, mutant.inside) for mutant in mutants_of("m.py", text)}
    assert found == {
        (1, "constant"): (1, 1, False),
        (4, "constant"): (4, 4, False),
        (6, "comparison"): (5, 7, True),
        (6, "constant"): (5, 7, True),
        (8, "return None"): (8, 8, True),
    }


def test_the_diff_shows_the_line_before_and_after():
    text = "def f(a):\n    return a\n"
    (mutant,) = mutants_of("m.py", text)
    assert diff_of(mutant, text).splitlines()[-2:] == ["     -    return a", "     +    return None"]
