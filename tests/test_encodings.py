"""Every text file and pipe has an encoding that is said, as the locale's may be ASCII."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CALLS = {"open", "read_text", "write_text", "fdopen", "run", "Popen", "check_output"}
PROCESSES = {"run", "Popen", "check_output"}


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def mode(call: ast.Call, name: str) -> str | None:
    """The mode of a call that opens a file; None where it is no literal or the call is another `open`."""
    given = keywords(call).get("mode")
    if given is None:
        whole = name == "fdopen" or isinstance(call.func, ast.Name)
        given = next(iter(call.args[1:2] if whole else call.args[:1]), None)
    return "r" if given is None else str(given.value) if isinstance(given, ast.Constant) else None


def lacks_encoding(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = keywords(call)
    if name not in CALLS or "encoding" in given:
        return False
    if name in PROCESSES:
        return any(isinstance(given.get(key), ast.Constant) for key in ("text", "universal_newlines"))
    if name == "read_text":
        return not call.args
    if name == "write_text":
        return len(call.args) == 1
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name == "open" and (owner in ("os", "tarfile", "Image", "gzip", "io") or "store" in owner):
        return False
    found = mode(call, name)
    return found is not None and "b" not in found and set(found) <= set("rwaxt+")


def calls(folder: str) -> list[str]:
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")) if (ROOT / folder).is_dir() else [ROOT / folder]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and lacks_encoding(node):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


@pytest.mark.parametrize("place", ["definitions", "backends", "benchmarking", "launch", "outrider.py", "hpo_main.py"])
def test_no_text_is_read_or_written_in_whatever_the_locale_has(place):
    assert calls(place) == []


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("path.read_text()", True), ("path.read_text(encoding='utf-8')", False), ("path.write_text(a)", True), ("open(p)", True),
        ("open(p, 'rb')", False), ("p.open('w')", True), ("p.open('a+b')", False), ("os.open(p, 0)", False), ("os.fdopen(d, 'w')", True),
        ("subprocess.run(a, text=True)", True), ("subprocess.run(a, encoding='utf-8')", False), ("subprocess.run(a)", False),
    ],
)  # fmt: skip
def test_what_lacks_an_encoding_is_found(text, lacks):
    assert lacks_encoding(ast.parse(text).body[0].value) is lacks
