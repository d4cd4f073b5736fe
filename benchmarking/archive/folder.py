"""The folder of an experiment: written down before the first start, and checked at every later one."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.common.file_lock import NoLocksError
from backends.registry import backend_class
from benchmarking.archive.code_version import check_code
from benchmarking.archive.data_version import data_version
from benchmarking.archive.environment import describe_environment
from benchmarking.archive.file_system import named_places
from benchmarking.archive.folder_lock import FolderInUseError, locked
from benchmarking.archive.identity import SCHEMA_VERSION, ExperimentSpec
from benchmarking.archive.stored import BUDGET, read_identity
from benchmarking.controller.journal_versions import is_being_made
from benchmarking.controller.sqlite_journal import has_records
from definitions import strict_json
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.files import write_atomically
from definitions.show import render

_MADE_BEFORE_A_START = ("definition.yaml", "environment.json", "experiment.json")


def prepare_folder(spec: ExperimentSpec, environ: Mapping[str, str], *, accept_changes: bool = False, cache: Path | None = None) -> None:
    """Write down what the experiment is, or make sure that the folder holds this very experiment.

    Args:
        spec: what it is.
        environ: the controller's environment.
        accept_changes: go on although the code is another than was measured.
        cache: folder for generated data, whose file system is noted with that of the checkpoints; None to note neither.

    Raises:
        UserError: the folder holds another experiment, or one of other code; or it cannot be written.
    """
    path = spec.folder / "experiment.json"
    journal = spec.folder / "journal.sqlite"
    has_begun = has_records(journal)
    if (not has_begun or is_being_made(journal)) and (spec.folder / "trials.csv").is_file():
        raise UserError(
            f"tag {spec.tag!r}: {spec.folder} has results, but nothing in its journal",
            "it would begin anew and write over them",
            "take journal.sqlite from a copy of the folder, or move the folder away",
        )
    if not path.is_file():
        if has_begun:
            raise UserError(
                f"tag {spec.tag!r}: {spec.folder} has a journal, but no experiment.json",
                "so nothing says whether it is of this experiment",
                "use another --experiment_tag, or take experiment.json from a copy of the folder",
            )
        _write(spec, environ, cache)
        return
    check_bills(spec, environ)
    known = read_identity(spec.folder)
    if known["hash"] != spec.hash and not has_begun:
        _write(spec, environ, cache)
    elif known["hash"] != spec.hash:
        raise UserError(
            f"tag {spec.tag!r}: {spec.title} is there already, with another definition (hash {known['hash']}, now {spec.hash})",
            f"its results are in {spec.folder}",
            "use another --experiment_tag; or --resume with the definition it was started with",
        )
    check_code(spec, accepted=accept_changes)
    _note(spec, BUDGET)


def note_end(spec: ExperimentSpec) -> None:
    """Write down under which budget the experiment ended: under the same one there is nothing left to do."""
    _note(spec, "ended_under")


def _note(spec: ExperimentSpec, name: str) -> None:
    """Write the budget that counts now down under a name, where another one stands there."""
    known = {**read_identity(spec.folder)}
    if known.get(name) != _budget(spec):
        write_atomically(spec.folder / "experiment.json", strict_json.dumps({**known, name: _budget(spec)}) + "\n")


def _budget(spec: ExperimentSpec) -> dict[str, Any]:
    return spec.definition.budget.model_dump(mode="json", exclude_none=True)


def discard_unstarted(folder: Path, results_dir: Path) -> None:
    """Remove what was made for an experiment that never began, with the folders that are empty then; one that began or runs stays.

    Args:
        folder: of the experiment.
        results_dir: folder of all results, which goes too where nothing is left in it.
    """
    if not folder.is_dir() or has_records(folder / "journal.sqlite"):
        return
    with contextlib.suppress(FolderInUseError, NoLocksError), locked(folder) as lock:
        # Looked at again: another controller may have begun and ended meanwhile.
        if has_records(folder / "journal.sqlite"):
            return
        for path in folder.iterdir():
            if path.name in _MADE_BEFORE_A_START or path.name.startswith("journal.sqlite"):
                path.unlink()
            elif path.is_dir():
                _remove_if_empty(path)
        lock.unlink()
    while _remove_if_empty(folder) and folder != results_dir:
        folder = folder.parent


def _remove_if_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _write(spec: ExperimentSpec, environ: Mapping[str, str], cache: Path | None) -> None:
    write_atomically(spec.folder / "definition.yaml", render(spec.resolved))
    environment = describe_environment(Path(spec.definition.source_dir), environ, data_version(spec))
    if cache is not None:
        environment = {**environment, "places": named_places(cache, spec.folder / "checkpoints")}
    write_atomically(spec.folder / "environment.json", strict_json.dumps(environment) + "\n")
    expected = backend_class(spec.backend).expected_capabilities(environ)
    bills = {"real_money": expected.real_money, "price_label": expected.price_label}
    identity = {
        "schema_version": SCHEMA_VERSION,
        **_identity(spec),
        "nonce": secrets.token_hex(4),
        "region": _region(spec, environ),
        BUDGET: _budget(spec),
        **bills,
    }
    write_atomically(spec.folder / "experiment.json", strict_json.dumps(identity) + "\n")


def _region(spec: ExperimentSpec, environ: Mapping[str, str]) -> str:
    described = backend_description(spec.backend)
    return described.region(spec.definition.block(spec.backend, described.block), environ)


def check_bills(spec: ExperimentSpec, environ: Mapping[str, str]) -> None:
    """Raise `UserError` where an experiment that ran on an emulator would go on on a real account, or the other way round.

    One whose file is damaged is refused when its turn comes, which does not end the others.
    """
    real = None
    with contextlib.suppress(UserError):
        real = read_identity(spec.folder).get("real_money")
    if (
        real is not None
        and real != backend_class(spec.backend).expected_capabilities(environ).real_money
        and has_records(spec.folder / "journal.sqlite")
    ):
        ran, now = ("an account", "an emulator") if real else ("an emulator", "a real account")
        raise UserError(
            f"tag {spec.tag!r}: {spec.title} ran on {ran}, and would go on on {now}",
            "their jobs, times and bills do not go together",
            "use another --experiment_tag" if real else "give --emulate, or the AWS_ENDPOINT_URL of the emulator; or use another tag",
        )


def read_nonce(folder: Path) -> str:
    """Return what makes the names of a prepared experiment's jobs its own."""
    return str(read_identity(folder).get("nonce", ""))


def _identity(spec: ExperimentSpec) -> dict[str, Any]:
    return {
        "hash": spec.hash,
        "benchmark": spec.definition.name,
        "method": spec.method,
        "method_arguments": dict(spec.method_arguments),
        "backend": spec.backend,
        "seed": spec.seed,
        "number": spec.number,
        "hears_levels": spec.hears_levels,
        "repeats": spec.repeats,
        **({"warm_start": list(spec.definition.warm_start)} if spec.definition.warm_start else {}),
    }
