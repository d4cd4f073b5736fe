"""Puts the sources of a launched study into place where it goes on: in a controller, or on the machine that takes it over."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

from backends.object_store import ObjectStore
from backends.sagemaker.code.packing import ARCHIVE, REPORTER
from benchmarking.archive.environment import RECORDED_SUFFIX
from benchmarking.remote.launch_record import LaunchRecord, SentPackage
from definitions import strict_json
from definitions.errors import UserError
from definitions.files import making_folder, write_atomically
from definitions.show import inline

_SOURCE = re.compile(r"^source_dir: .*$", re.MULTILINE)


def place_sources(record: LaunchRecord, shared: ObjectStore, tag_folder: Path, folder: Path) -> Mapping[str, Path]:
    """Unpack the sources of a run, and have its study.json and definitions say where they are now.

    What is there already is left as it is, so that it can be called again.

    Args:
        record: of the launch.
        shared: the root that all runs have in common.
        tag_folder: with the restored run.
        folder: below which each source gets a folder of its own.

    Returns:
        benchmark -> its source folder.

    Raises:
        UserError: a package is not there any more, or is damaged.
    """
    placed = {name: placed_source(name, sent, shared, folder) for name, sent in record.sources.items()}
    for name, sent in record.data.items():
        _put_where_it_was(Path(name), sent, shared, folder)
    _point_study(tag_folder / "study.json", placed)
    for path in tag_folder.glob("*/*/definition.yaml"):
        there = placed.get(path.parent.parent.name)
        if there is not None:
            _rewrite(path, pointed(path.read_text(encoding="utf-8"), there))
    return placed


def pointed(definition: str, source_dir: Path) -> str:
    """Return the text of a stored definition with another source folder; no hash knows it."""
    return _SOURCE.sub(lambda _: f"source_dir: {inline(str(source_dir))}", definition, count=1)


def placed_source(name: str, sent: SentPackage, shared: ObjectStore, folder: Path) -> Path:
    """Return the folder in which a package is unpacked, which is done where it is not there.

    Args:
        name: of the benchmark.
        sent: what launch.json says of it.
        shared: the root that all runs have in common.
        folder: below which it gets a folder of its own.

    Raises:
        UserError: the package is not there any more, or is damaged.
    """
    target = folder / f"{name}-{sent.hash}"
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / f"{name}-{sent.hash}.tar.gz"
        try:
            shared.download(f"{sent.key}{ARCHIVE}", archive)
            with making_folder(target) as making, tarfile.open(archive) as tar:
                tar.extractall(making, filter="data")
                # It was added for the trials, to whom it is sent again.
                (making / REPORTER.name).unlink(missing_ok=True)
        except (tarfile.TarError, EOFError) as error:
            raise UserError(
                f"{shared.uri}/{sent.key}: the source of {name} cannot be unpacked",
                f"{type(error).__name__}: {error}",
                "launch the study again under another tag",
            ) from error
        finally:
            archive.unlink(missing_ok=True)
    if sent.git.commit:
        noted = strict_json.dumps({"commit": sent.git.commit, "dirty": sent.git.dirty, "diff": sent.git.diff})
        (folder / f"{target.name}{RECORDED_SUFFIX}").write_text(noted + "\n", encoding="utf-8")
    return target


def _put_where_it_was(path: Path, sent: SentPackage, shared: ObjectStore, folder: Path) -> None:
    """Have a path lead to the folder or file that lay there on the launcher's machine, where nothing does: hashes know the path."""
    if path.exists():
        return
    there = placed_source("data", sent, shared, folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(there / path.name if [one.name for one in there.iterdir()] == [path.name] else there)
    except OSError as error:
        raise UserError(
            f"{path}: what lay there on the launcher's machine cannot be put there", str(error), "use a path that can be made here as well"
        ) from error


def _point_study(path: Path, placed: Mapping[str, Path]) -> None:
    study = strict_json.loads(path.read_text(encoding="utf-8"))
    texts = study["definitions"]
    study["definitions"] = {name: pointed(text, placed[name]) if name in placed else text for name, text in texts.items()}
    _rewrite(path, strict_json.dumps(study) + "\n")


def _rewrite(path: Path, text: str) -> None:
    if path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)
