"""What the pages name is there: files, folders, modules, links, flags, verbs, make targets, extras."""

from __future__ import annotations

import configparser
import importlib
import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest

from definitions import __version__
from launch.__main__ import VERBS
from launch.cli import make_parser, parse_run
from tests.test_layers import FLOORS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "tests").rglob("README.md"))]
PACKAGES = ("definitions", "backends", "benchmarking", "launch")
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
TEMPLATE = re.compile(r"NAME|TAG|\*|…|\.\.\.")


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """Return a page without its blocks."""
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.M | re.S)


def code_of(page: Path) -> list[str]:
    """Return what stands between single backquotes, outside blocks."""
    return re.findall(r"`([^`\n]+)`", prose_of(page))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_file_that_is_named_exists(page):
    roots = "|".join((*PACKAGES, "tests", r"docs", r"\.github", r"\.ci"))
    named = [text for text in code_of(page) if re.fullmatch(rf"({roots})/[\w./-]*", text) and not TEMPLATE.search(text)]
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_module_and_name_that_is_named_exists(page):
    named = [text for text in code_of(page) if re.fullmatch(rf"({'|'.join(PACKAGES)})(\.\w+)+", text)]
    assert [name for name in named if not is_there(name)] == []


def is_there(name: str) -> bool:
    """Return whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_relative_links_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", prose_of(page))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_verbs_targets_and_extras_are_known(page):
    # A command, not prose: `outrider VERB` between backquotes, or a line of a block.
    text = text_of(page)
    verbs = set(re.findall(r"python -m launch ([a-z_]+)", text)) | set(re.findall(r"(?:`|^|\$ |bin/)outrider ([a-z_]+)", text, re.M))
    assert verbs <= set(VERBS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = re.findall(r"^make ([a-z ]+?)(?:  .*)?$", text, re.M) + re.findall(r"`make ([a-z ]+)`", text)
    wanted = {word for line in lines for word in line.split()}
    assert wanted <= set(re.findall(r"^([a-z]+):", makefile, re.M))
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = {extra for found in re.findall(r"\.\[([\w,-]+)\]", text) for extra in found.split(",")}
    assert extras <= set(setup["options.extras_require"])


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_of_the_main_program_parse(page):
    lines = re.findall(r"(?:^|`|\$ |bin/)(?:python hpo_main\.py|outrider run) ([^\n`]*)", text_of(page), re.M)
    for line in lines:
        words = shlex.split(line, comments=True)
        if not {"--help", "--version"} & set(words):
            parse_run(words, {})


def test_the_installed_name_is_the_one_that_is_taught():
    """`python hpo_main.py` is named once, as what a checkout without an installation has; peers' launchers have their own paths."""
    named = {
        name: len(re.findall(r"(?<!/)python hpo_main\.py|python -m launch\b(?!\.)", text_of(ROOT / name)))
        for name in IDS
        if name != "CHANGELOG.md"
    }
    assert {name: count for name, count in named.items() if count} == {"README.md": 1}
    assert "`python hpo_main.py` is the same as\n`outrider`" in text_of(ROOT / "README.md")


def test_what_is_left_out_of_a_printed_output_is_said():
    blocks = re.findall(r"^```$\n(.*?)^```$", text_of(ROOT / "README.md"), re.M | re.S)
    dots = [line for block in blocks for line in block.splitlines() if line.startswith("...")]
    assert len(dots) >= 6
    assert [line for line in dots if not re.fullmatch(r"\.\.\. \(left out: .+\)", line)] == []


def test_flags_in_prose_are_flags():
    known = set(re.findall(r"--\w+|-h\b", make_parser().format_help()))
    of_verbs = set()
    for verb in sorted(VERBS):
        source = (ROOT / "launch" / "verbs" / f"{verb}.py").read_text(encoding="utf-8")
        of_verbs |= set(re.findall(r'"(--\w+)"', source))
    shared = set(re.findall(r'"(--\w+)"', (ROOT / "launch" / "parser.py").read_text(encoding="utf-8")))
    named = {flag for text in code_of(ROOT / "README.md") for flag in re.findall(r"(?<![\w-])--[a-z_]+", text)}
    assert named - {"--key"} <= known | of_verbs | shared | {"--version"}


def test_the_picture_of_the_floors_names_what_is_there():
    (picture,) = re.findall(r"^```\n(launch/ .*?)^```", text_of(ROOT / "ARCHITECTURE.md"), re.M | re.S)
    folders = {path.name for package in PACKAGES for path in [ROOT / package, *(ROOT / package).rglob("*")] if path.is_dir()}
    files = {path.name for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert set(re.findall(r"(\w+)/", picture)) <= folders
    assert set(re.findall(r"\w+\.py", picture)) <= files
    drawn = set(re.findall(r"(\w+)/", picture))
    for folder, floors in FLOORS.items():
        height = {part: number for number, parts in enumerate(floors) for part in parts}
        name = folder.rpartition("/")[2]
        # A package's floors have lines of their own, the highest first; those of a folder stand in its line, the lowest first.
        pattern = rf"^ *{name}/(.*)" if "/" in folder else rf"(?s)^{name}/(.*?)(?:\n\n|\Z)"
        (lines,) = re.findall(pattern, picture, re.M)
        order = [height[part] for part in re.findall(r"(\w+)/", lines) if part in height]
        assert order == sorted(order, reverse="/" not in folder), folder
    parts = {path.name for package in ("benchmarking", "backends") for path in (ROOT / package).iterdir() if any(path.glob("*.py"))}
    assert parts <= drawn


def test_the_changelog_knows_the_version():
    assert f"## [{__version__}]" in text_of(ROOT / "CHANGELOG.md")


@pytest.mark.slow
def test_make_help_names_every_target():
    # Within `make test` a further make would tell its level and folder too.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    listed = subprocess.run(["make", "help"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert [line.split()[0] for line in listed.splitlines()] == targets


def test_hooks_call_what_make_calls():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    tools = set(re.findall(r"\.venv/bin/(\w+)", hooks))
    assert tools == {"ruff", "mypy"}
    assert all(f"$(BIN)/{tool}" in makefile for tool in tools)
    assert "run: .ci/run" in (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
