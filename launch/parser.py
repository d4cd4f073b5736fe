"""The parser that all verbs share: one style of flags, errors as `UserError`, and the flags that several verbs have."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from definitions.results_folder import default_results_dir


class VerbParser(argparse.ArgumentParser):
    """Parses the arguments of one verb; `--some-flag` and `--some_flag` are alike, and nothing may be abbreviated.

    Args:
        prog: what the user typed, e.g. `outrider stop`.
        description: one sentence.
        epilog: text below the flags, printed as it is.
    """

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=prog, description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse as argparse does, whichever way the flags are spelt; raises `UserError` for wrong use."""
        return super().parse_known_args(self._spelt(args or ()), namespace)

    def error(self, message: str) -> NoReturn:
        """Raise `UserError` instead of printing and exiting, with the nearest known flag."""
        from definitions.errors import UserError, nearest

        advice = f"see {self.prog} --help"
        unknown = re.search(r"unrecognized arguments: (--\S+)", message)
        near = nearest(unknown[1], [option for action in self._actions for option in action.option_strings]) if unknown else ""
        raise UserError(message, advice=f"did you mean {near}? ({advice})" if near else advice)

    def add_results_dir(self, help_text: str = "folder of results (default results, or $OUTRIDER_RESULTS)") -> None:
        """Add `--results_dir`."""
        self.add_argument("--results_dir", type=Path, default=default_results_dir(), metavar="DIR", help=help_text)

    def add_region(self, help_text: str, default: str | None = None) -> None:
        """Add `--region`."""
        self.add_argument("--region", default=default, metavar="R", help=help_text)

    def add_places(self, region_help: str = "where its jobs run (default: the AWS configuration's)") -> None:
        """Add what says where in the cloud a run is looked for: `--bucket`, `--prefix`, `--region`."""
        self.add_argument("--bucket", default=None, metavar="B", help="bucket of the run (default sagemaker-<region>-<account>)")
        self.add_argument("--prefix", default=None, metavar="P", help="where in it Outrider keeps everything (default outrider)")
        self.add_region(region_help)

    def _spelt(self, words: Sequence[str]) -> list[str]:
        """Return the words with `_` in the names of flags; argparse makes `--no-flag` of a switch, which keeps its first hyphen."""
        known = {option for action in self._actions for option in action.option_strings}
        found = []
        for word in words:
            name, equals, value = word.partition("=")
            if name.startswith("--") and len(name) > 2:
                name = name[:2] + name[2:].replace("-", "_")
                if name.startswith("--no_") and name not in known:
                    name = "--no-" + name[5:]
                word = name + equals + value
            found.append(word)
        return found


def default_region(environ: Mapping[str, str] = os.environ) -> str:
    """Return the region whose prices are shown where none is given."""
    from definitions.instance_tables import LISTED_REGION

    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or LISTED_REGION


def port_number(text: str) -> int:
    """Return a port to listen on, 0 for a free one; raises `ArgumentTypeError` for any other word."""
    with contextlib.suppress(ValueError):
        if 0 <= (value := int(text)) < 65536:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no port; give one from 1 to 65535, or 0 for a free one")
