"""Makes a set where it is not there yet, goes on with one that was interrupted, and mends one that is damaged; one process at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarking.datasets import manifest as manifests
from benchmarking.datasets.generating import Generator, content_key
from benchmarking.datasets.making_pool import make_parts
from benchmarking.datasets.manifest import Damage, FileEntry, Manifest
from benchmarking.datasets.pace import Pace
from definitions import strict_json
from definitions.datasets import Caltech256Dataset, GeneratedDataset
from definitions.errors import UserError
from definitions.files import write_atomically
from definitions.quantities import size_text

Say = Callable[[str], None]

_SHORT_S = 1.0
"""What is made within this time is made here; for more, processes on all cores are worth their start."""
_PARTS = "parts"
_WHERE = "--cache_dir or $OUTRIDER_CACHE"


def made(
    name: str, spec: GeneratedDataset, folder: Path, say: Say, *, cache: Path, verify: bool = False
) -> tuple[Manifest, tuple[str, ...]]:
    """Make sure that a set is there, whole, and return its manifest, and what was mended.

    Args:
        name: in the definition, for what is said.
        spec: its definition.
        folder: of the set, shared between processes.
        say: called with how far it is.
        cache: folder that downloads are kept below.
        verify: whether all checksums are compared, not those of touched files alone.

    Raises:
        UserError: a package is missing, or the disk is too small or cannot be written.
    """
    key = content_key(spec)
    found = _of_this_set(name, key, folder)
    if found is not None and not manifests.check(folder / "data", found, verify=verify):
        return found, ()
    try:
        with _alone(folder, name, say):
            # Another process may have done all of it meanwhile.
            found = _of_this_set(name, key, folder)
            if found is None:
                return _make(name, lambda: _generator(spec, cache, say), key, folder, say), ()
            damage = manifests.check(folder / "data", found, verify=verify)
            if not damage:
                return found, ()
            _mend(name, _generator(spec, cache, say, found.per_file), folder, found, damage)
            return found, (f"data set {name} was damaged, and is mended: {damage}",)
    except OSError as error:
        advice = f"give a folder on a larger disk ({_WHERE})" if error.errno == errno.ENOSPC else "check the folder's permissions"
        raise UserError(f"data set {name!r} cannot be made in {folder.parent}", str(error), advice) from error


def _generator(spec: GeneratedDataset, cache: Path, say: Say, per_file: int | None = None) -> Generator:
    if not isinstance(spec, Caltech256Dataset):
        return Generator(spec, per_file)
    from benchmarking.datasets.caltech import download

    return Generator(spec, per_file, download(spec, cache, say))


def _of_this_set(name: str, key: str, folder: Path) -> Manifest | None:
    """Return the manifest of a set, None where it is not made; raises `UserError` where something else is in its folder."""
    found = manifests.read(folder)
    if (found is not None and found.key == key) or folder.name == key or not folder.exists() or not any(folder.iterdir()):
        return found
    held = "another data set" if found is not None else "files that are none of a data set"
    raise UserError(f"data set {name!r} in {folder}", f"the folder holds {held}", "give another folder or name, or delete this one")


@contextlib.contextmanager
def _alone(folder: Path, name: str, say: Say) -> Iterator[None]:
    """Hold the lock of a set, and say for whom we wait."""
    import fcntl

    locks = folder.parent / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / folder.name).open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(f"data set {name}: another process makes it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(name: str, generator_of: Callable[[], Generator], key: str, folder: Path, say: Say) -> Manifest:
    making = folder.with_name(f".making-{key}")
    if folder.exists():
        # Without its manifest nothing of it can be trusted; what is not a set of ours was refused before.
        shutil.rmtree(folder)
    (making / "data").mkdir(parents=True, exist_ok=True)
    (making / _PARTS).mkdir(exist_ok=True)
    generator = generator_of()
    done = dict(_finished(making, generator.parts.count))
    if done:
        say(f"data set {name}: goes on, {len(done)} of {generator.parts.count} parts are there")

    def finished(number: int, entries: list[FileEntry]) -> None:
        rows = [[entry.name, entry.size_bytes, f"{entry.checksum:08x}"] for entry in entries]
        write_atomically(making / _PARTS / f"{number}.json", strict_json.dumps(rows))
        done[number] = tuple(entries)

    _make_rest(name, generator, making / "data", done, finished, say)
    parts = tuple(done[number] for number in range(generator.parts.count))
    last = tuple(generator.write_index(making / "data", parts))
    parts = (*parts, last) if last else parts
    found = Manifest(key, parts, generator.parts.per_file, generator.samples, generator.classes)
    manifests.write(making, found)
    shutil.rmtree(making / _PARTS)
    making.rename(folder)
    return found


def _make_rest(
    name: str,
    generator: Generator,
    data: Path,
    done: dict[int, tuple[FileEntry, ...]],
    finished: Callable[[int, list[FileEntry]], None],
    say: Say,
) -> None:
    """Make the parts that are not done: the first ones here, and the others on all cores where that is worth it."""
    count = generator.parts.count
    missing = [number for number in range(count) if number not in done]
    begun, here = time.monotonic(), 0
    while missing and time.monotonic() - begun < _SHORT_S:
        number = missing.pop(0)
        finished(number, generator.write_part(number, data))
        here += 1
        if here == 1:
            _check_disk(name, data, done, count)
    cores = len(os.sched_getaffinity(0))
    left_s = (time.monotonic() - begun) / max(1, here) * len(missing)
    if cores > 1 and len(missing) > 1 and left_s > _SHORT_S:
        make_parts(generator, data, missing, cores, _telling(name, done, count, finished, say))
        return
    tell = _telling(name, done, count, finished, say)
    for number in missing:
        tell(number, generator.write_part(number, data))


def _telling(
    name: str, done: dict[int, tuple[FileEntry, ...]], count: int, finished: Callable[[int, list[FileEntry]], None], say: Say
) -> Callable[[int, list[FileEntry]], None]:
    """Return `finished` with a line about how far it is, now and then."""
    begun, before, pace = time.monotonic(), len(done), Pace()

    def tell(number: int, entries: list[FileEntry]) -> None:
        finished(number, entries)
        if not pace.is_due():
            return
        left_s = (time.monotonic() - begun) / max(1, len(done) - before) * (count - len(done))
        size = size_text(sum(entry.size_bytes for part in done.values() for entry in part))
        say(f"data set {name}: {len(done) / count:.0%} made ({size}), {left_s:.0f} s left")

    return tell


def _check_disk(name: str, data: Path, done: dict[int, tuple[FileEntry, ...]], count: int) -> None:
    """Raise `UserError` where the disk has no room for what the parts so far let expect."""
    so_far = sum(entry.size_bytes for part in done.values() for entry in part)
    needed = so_far / len(done) * (count - len(done))
    free = shutil.disk_usage(data).free
    if needed > free:
        raise UserError(
            f"data set {name!r} needs about {size_text(needed + so_far)}",
            f"{data.parent.parent} has {size_text(free)} left",
            f"ask for fewer samples, or give a folder on a larger disk ({_WHERE})",
        )


def _finished(making: Path, count: int) -> Iterator[tuple[int, tuple[FileEntry, ...]]]:
    """Yield the parts that an earlier run had finished, whose files are all there."""
    for number in range(count):
        try:
            entries = manifests.entries_of(strict_json.loads((making / _PARTS / f"{number}.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        part = Manifest("", (entries,), 1, 0, None)
        damage = manifests.check(making / "data", part)
        if not (damage.missing or damage.changed):
            yield number, entries


def _mend(name: str, generator: Generator, folder: Path, found: Manifest, damage: Damage) -> None:
    """Make the damaged files anew and remove those that are none of the set; raises `UserError` where they come out differently."""
    data = folder / "data"
    for foreign in damage.foreign:
        (data / foreign).unlink()
    wrong = {*damage.missing, *damage.changed}
    for number, part in enumerate(found.parts):
        if wrong.isdisjoint(entry.name for entry in part):
            continue
        is_index = number == generator.parts.count
        wanted = wrong.__contains__
        made = generator.write_index(data, found.parts[:number], wanted) if is_index else generator.write_part(number, data, wanted)
        if tuple(made) != part:
            raise UserError(
                f"data set {name!r} is damaged: {damage}",
                "made anew, its files are not those that its manifest tells of",
                f"delete {folder}, so that all of it is made again",
            )
