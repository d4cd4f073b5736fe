"""Which of a data set's pages lie in memory, and how to get them out: without privileges, and with a proof. Standard library only.

Beneath the kernel's cache there may be others (a hypervisor's, a disk array's, an object store's), of which nothing here knows.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

MODES = ("as_found", "warm", "cold")
"""What is done about the page cache before each epoch: nothing, read everything once, or evict everything."""

_MOST_PROBES = 4096
_READ_BYTES = 1 << 20


def files_below(roots: Iterable[str | Path]) -> list[Path]:
    """Return all files at or below these paths, sorted."""
    found = []
    for root in map(Path, roots):
        found += [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else [root] if root.is_file() else []
    return sorted(found)


def cached_share(files: Sequence[Path], most_probes: int = _MOST_PROBES, seed: int = 0) -> float | None:
    """Return the share of these files' pages that lie in memory; None where it cannot be told.

    Asked for is by `mincore`, and where the kernel does not answer that by `preadv2` with RWF_NOWAIT.

    Args:
        files: that are looked at.
        most_probes: pages that are asked for; where there are more, so many are drawn.
        seed: of the draw.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return None
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    pages = [(path, (size + page_bytes - 1) // page_bytes) for path, size in _sizes(files)]
    whole = sum(count for _, count in pages)
    if not whole:
        return None
    chosen = sorted(random.Random(seed).sample(range(whole), min(whole, most_probes)))
    resident = probed = 0
    for path, offsets in _by_file(pages, chosen):
        try:
            found = _resident(path, [offset * page_bytes for offset in offsets])
        except OSError:  # gone, not ours to read, or a file system that cannot say
            continue
        resident, probed = resident + found, probed + len(offsets)
    return resident / probed if probed else None


def evict(files: Sequence[Path]) -> int:
    """Ask the kernel to forget these files' pages, dirty ones after they were written; return how many files could not be asked for."""
    failed = 0
    for path in files:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            failed += 1
            continue
        try:
            os.fsync(descriptor)  # a dirty page cannot be forgotten
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        except OSError:
            failed += 1
        finally:
            os.close(descriptor)
    return failed


def warm(files: Sequence[Path]) -> None:
    """Read these files once, so that their pages lie in memory as far as it reaches."""
    for path in files:
        try:
            with path.open("rb", buffering=0) as file:
                while file.read(_READ_BYTES):
                    pass
        except OSError:
            continue


def prepared(mode: str, files: Sequence[Path]) -> dict[str, float | str]:
    """Bring the page cache into the state that is asked for, and return what it came to: `page_cache` and `cached_share`.

    Args:
        mode: one of `MODES`.
        files: the data's, the loopback store's included.

    Raises:
        SystemExit: there is no such mode; or pages are to be cold, and those that are here cannot be evicted.
    """
    if mode not in MODES:
        raise SystemExit(f"page_cache = {mode}: there is no such mode (known: {', '.join(MODES)})")
    if mode == "cold":
        evict(files)
    elif mode == "warm":
        warm(files)
    share = cached_share(files)
    if mode == "cold" and share is not None and share > 0.01:
        raise SystemExit(
            f"page_cache = cold: {share:.0%} of the pages are still in memory after they were evicted; "
            "somebody maps or locks these files, or lies on a file system in memory: use page_cache=as_found"
        )
    return {"page_cache": mode} | ({} if share is None else {"cached_share": share})


def _sizes(files: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    for path in files:
        try:
            yield path, path.stat().st_size
        except OSError:
            continue


def _by_file(pages: Sequence[tuple[Path, int]], chosen: Sequence[int]) -> Iterator[tuple[Path, list[int]]]:
    """Yield each file of which pages were drawn, with their numbers in it.

    Args:
        pages: (path, number of pages) of each file.
        chosen: numbers among all pages, ascending.
    """
    first, at = 0, 0
    for path, count in pages:
        offsets = []
        while at < len(chosen) and chosen[at] < first + count:
            offsets.append(chosen[at] - first)
            at += 1
        first += count
        if offsets:
            yield path, offsets


def _resident(path: Path, offsets: Sequence[int]) -> int:
    """Return how many of a file's pages lie in memory.

    Args:
        path: the file.
        offsets: (n_pages,) of the pages, in bytes, ascending.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if status.st_uid == os.geteuid() or os.geteuid() == 0 or os.access(path, os.W_OK):
            found = _by_mincore(descriptor, status.st_size, offsets)
            if found is not None:
                return found
        return _by_reading(descriptor, offsets)
    finally:
        os.close(descriptor)


def _by_mincore(descriptor: int, size: int, offsets: Sequence[int]) -> int | None:
    """Ask without touching anything; the kernel answers so to who owns a file or may write it, and tells others that all is there."""
    library = ctypes.CDLL(None, use_errno=True)
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    # Private, so that it need not be open for writing; writable, so that ctypes tells its address.
    with mmap.mmap(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        flags = (ctypes.c_ubyte * ((size + page_bytes - 1) // page_bytes))()
        failed = library.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), flags)
        del first  # or the mapping could not be closed
    return None if failed else sum(flags[offset // page_bytes] & 1 for offset in offsets if offset < size)


def _by_reading(descriptor: int, offsets: Sequence[int]) -> int:
    """Ask by reads that do not wait: never too few. The kernel fetches for later what it has not, so that is evicted again."""
    found, missing = 0, []
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)  # no more than the page that is asked for
    buffer = bytearray(1)  # one byte tells of its page
    for offset in offsets:
        try:
            found += os.preadv(descriptor, [buffer], offset, os.RWF_NOWAIT) > 0
        except BlockingIOError:
            missing.append(offset)
    for offset in missing:
        os.preadv(descriptor, [buffer], offset)  # a page on its way cannot be evicted
        os.posix_fadvise(descriptor, offset, 1 << 12, os.POSIX_FADV_DONTNEED)
    return found
