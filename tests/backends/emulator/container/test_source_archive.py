"""Sources come as archives that anybody may have made."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from backends.emulator.container.source_archive import unpack


@pytest.fixture
def ml(tmp_path):
    (tmp_path / "ml" / "code").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return tmp_path / "ml"


def member(name, kind=tarfile.REGTYPE, content=b"", link="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(content)
    return info, content


def archive(folder, *members, mode="w:gz"):
    path = folder / "source.tar.gz"
    with tarfile.open(path, mode) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_files_folders_and_links_within_are_unpacked(tmp_path, ml, mode):
    path = archive(
        tmp_path,
        member("./train.py", content=b"print()", mode=0o755),
        member("lib", tarfile.DIRTYPE, mode=0o777),
        member("lib/a.py", content=b"a", mode=0o4666),
        member("link.py", tarfile.SYMTYPE, link="lib/a.py"),
        member("hard.py", tarfile.LNKTYPE, link="lib/a.py"),
        mode=mode,
    )
    unpack(path, ml)
    assert files(ml / "code") == {"train.py": "print()", "lib/a.py": "a", "link.py": "a", "hard.py": "a"}
    assert (ml / "code" / "train.py").stat().st_mode & 0o777 == 0o755
    assert (ml / "code" / "lib" / "a.py").stat().st_mode & 0o7777 == 0o644


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([member("../x", content=b"x")], "leads out"),
        ([member("a/../../x", content=b"x")], "leads out"),
        ([member("/etc/x", content=b"x")], "leads out"),
        ([member("out", tarfile.SYMTYPE, link="../../outside"), member("out/x", content=b"x")], "link that leads out"),
        ([member("out", tarfile.SYMTYPE, link="/opt/ml/model")], "link that leads out"),
        ([member("a", tarfile.SYMTYPE, link="."), member("a/b", tarfile.SYMTYPE, link=".."), member("b/x", content=b"x")], "leads out"),
        ([member("x", tarfile.LNKTYPE, link="../../outside/x")], "no file, folder or link"),
        ([member("x", tarfile.LNKTYPE, link="/etc/passwd")], "no file, folder or link"),
        ([member("null", tarfile.CHRTYPE)], "no file, folder or link"),
        ([member("disk", tarfile.BLKTYPE)], "no file, folder or link"),
        ([member("pipe", tarfile.FIFOTYPE)], "no file, folder or link"),
    ],
)
def test_what_would_leave_the_source_or_is_no_file_is_refused(tmp_path, ml, members, words):
    with pytest.raises(tarfile.TarError, match=words):
        unpack(archive(tmp_path, *members), ml)
    assert files(tmp_path / "outside") == {}
    assert not (ml / "x").exists()


def test_an_archive_that_comes_to_too_much_is_refused_before_it_is_written(tmp_path, ml):
    path = archive(tmp_path, member("zeros", content=bytes(3_000_000)))
    assert path.stat().st_size < 10_000
    with pytest.raises(tarfile.TarError, match="comes to more than"):
        unpack(path, ml, most_bytes=2_000_000)
    assert files(ml / "code") == {}
    with pytest.raises(tarfile.TarError, match="comes to more than 2 files"):
        unpack(archive(tmp_path, *[member(str(number)) for number in range(3)]), ml, most_members=2)


def test_a_header_that_says_it_is_gigabytes_long_is_not_read_into_memory(tmp_path, ml):
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 4 << 30
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20)))
    with pytest.raises(tarfile.TarError, match="longer than it may be"):
        unpack(path, ml)


CUT = gzip.compress(b"no archive" * 100, mtime=0)[:40]


@pytest.mark.parametrize("content", [b"", b"no archive at all" * 100, b"\x1f\x8bbroken", CUT], ids=["empty", "text", "broken", "cut"])
def test_what_is_no_archive_is_said(tmp_path, ml, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises((tarfile.TarError, OSError)):
        unpack(path, ml)
