"""The flags of a launched run, which `outrider launch` has and `hpo_main.py --remote`; and how they become settings."""

from __future__ import annotations

import argparse

OPTIONS = {
    "instance_type": ("T", "instance type of the controllers (default: a small one)"),
    "image": ("URI", "of their image, which needs Python 3.11 or later"),
    "framework": ("NAME", "whose image is taken (default pytorch)"),
    "framework_version": ("V", "of the framework"),
    "role": ("ARN", "that they run with (default $OUTRIDER_CONTROLLER_ROLE)"),
    "max_run": ("S", "seconds of one generation of a controller (default: the dry run's longest time and a fifth, a day at most)"),
    "restarts": ("N", "starts again after a fault without a finished trial in between (default 3)"),
    "volume_gb": ("GB", "disk of each (default 30)"),
    "region": ("R", "AWS region (default: the back-end's)"),
    "bucket": ("B", "that keeps the run (default: the back-end's)"),
    "prefix": ("P", "of all keys in the bucket (default: the back-end's)"),
}
"""Options of the block `remote:` with one value: how it is called, and what it means."""
LISTS = {
    "subnets": ("ID", "of the controllers' VPC"),
    "security_groups": ("ID", "of the controllers' VPC"),
    "requirements": ("PACKAGE", "installed in the controllers beside what the study needs"),
}
"""Those with several."""


def add_remote_flags(parser: argparse.ArgumentParser) -> None:
    """Add the group of flags."""
    group = parser.add_argument_group("run the study itself in training jobs (docs/remote.md)")
    group.add_argument("--remote", action="store_true", help="launch it: the same as `outrider launch`")
    group.add_argument("--watch", action="store_true", help="stay, and follow the controllers until the study is over")
    group.add_argument(
        "--take_over", action="store_true", help="with --resume: go on here with a launched run whose controllers have ended"
    )
    add_controller_flags(group)


def add_controller_flags(group: argparse._ArgumentGroup) -> None:
    """Add what says how the controllers are to be."""
    group.add_argument("--controllers", type=int, metavar="N", help="jobs that share the experiments (default 1)")
    for name, (value, what) in OPTIONS.items():
        group.add_argument(*_names(name), dest=f"remote_{name}", metavar=value, help=what)
    group.add_argument("--remote_spot", action=argparse.BooleanOptionalAction, default=None, help="managed spot training")
    group.add_argument("--remote_tuning_metrics", action=argparse.BooleanOptionalAction, default=None,
                       help="show best value and hyperparameters in the console (default: yes)")  # fmt: skip
    for name, (value, what) in LISTS.items():
        group.add_argument(f"--remote_{name}", nargs="+", metavar=value, help=what)
    group.add_argument("--remote_tags", nargs="+", metavar="KEY=VALUE", help="of the controllers' jobs, beside Outrider's own")


def remote_settings(given: argparse.Namespace) -> list[str]:
    """Return the flags that were given as settings of the block `remote:`; raises `UserError` for a tag without a value."""
    from definitions import strict_json

    values = {name: getattr(given, f"remote_{name}") for name in (*OPTIONS, "spot", "tuning_metrics")} | {"controllers": given.controllers}
    found = [f"remote.{name}={_text(value)}" for name, value in values.items() if value is not None]
    found += [f"remote.{name}={strict_json.dumps(value)}" for name in LISTS if (value := getattr(given, f"remote_{name}")) is not None]
    for pair in given.remote_tags or ():
        key, equals, value = pair.partition("=")
        if not equals or not key:
            from definitions.errors import UserError

            raise UserError(f"--remote_tags {pair}", "this is not KEY=VALUE", "write e.g. --remote_tags team=vision")
        found.append(f"remote.tags.{key}={strict_json.dumps([value])}")
    return found


def _names(name: str) -> list[str]:
    return ["--remote_image", "--image"] if name == "image" else [f"--remote_{name}"]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
