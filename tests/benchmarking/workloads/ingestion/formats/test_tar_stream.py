import io
import itertools
import tarfile

import pytest

from benchmarking.workloads.ingestion.formats.tar_stream import DamagedTarError, members
from tests.benchmarking.workloads.ingestion.contract import tar_of

LONG = "folder/" + "n" * 150 + ".jpg"
CONTENT = {"a.jpg": b"x" * 700, "b/c.cls": b"7", "empty": b"", LONG: b"long", "ünïcode.jpg": b"u"}


class Dribble(io.BytesIO):
    """Gives a few bytes at a time, as a pipe does."""

    def read(self, size=-1):
        return super().read(min(size, 97) if size >= 0 else size)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("stream", [io.BytesIO, Dribble])
def test_what_tarfile_writes_is_read(tmp_path, form, stream):
    given = {name: content for name, content in CONTENT.items() if form != tarfile.USTAR_FORMAT or name != LONG}
    path = tar_of(tmp_path / "a.tar", given, format=form)
    assert dict(members(stream(path.read_bytes()))) == given


def test_archives_may_follow_each_other_and_folders_and_links_are_no_members(tmp_path):
    path = tar_of(tmp_path / "a.tar", CONTENT)
    with tarfile.open(path, "a") as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE):
            info = tarfile.TarInfo(f"of type {kind}")
            info.type = kind
            archive.addfile(info)
    assert [name for name, _ in members(io.BytesIO(path.read_bytes() * 3))] == [*CONTENT] * 3


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        (600, "within member a.jpg: 88 of 700 bytes"),
        (1536, "at byte 1536, without the two empty blocks"),
        (1700, "within the header at byte 1536"),
    ],
)
def test_a_cut_archive_is_said(tmp_path, cut, said):
    content = tar_of(tmp_path / "a.tar", CONTENT).read_bytes()[:cut]
    with pytest.raises(DamagedTarError, match=said):
        list(members(io.BytesIO(content)))


def test_what_is_no_archive_is_said():
    with pytest.raises(DamagedTarError, match=r"header at byte 0 .*damaged, or no TAR archive"):
        list(members(io.BytesIO(b"<html>" + b" " * 2000)))


def test_an_empty_file_is_said():
    with pytest.raises(DamagedTarError, match="it is empty"):
        list(members(io.BytesIO(b"")))


def test_a_flipped_bit_in_a_header_is_seen(tmp_path):
    content = bytearray(tar_of(tmp_path / "a.tar", CONTENT).read_bytes())
    content[1536 + 5] ^= 4
    with pytest.raises(DamagedTarError, match="header at byte 1536 has a wrong checksum"):
        list(members(io.BytesIO(bytes(content))))


class Endless(io.RawIOBase):
    """A shard larger than any memory: the same member again and again. Notes the most that was asked for at once."""

    def __init__(self, member):
        self.member, self.at, self.most = member, 0, 0

    def read(self, size=-1):
        assert size >= 0, "all of it was asked for"
        self.most = max(self.most, size)
        at = self.at % len(self.member)
        part = self.member[at : at + size]
        self.at += len(part)
        return part


def test_a_shard_larger_than_memory_is_read_a_member_at_a_time(tmp_path):
    whole = tar_of(tmp_path / "a.tar", {"a.jpg": bytes(range(256)) * 40}).read_bytes()
    endless = Endless(whole[: 512 + 10240])
    assert [content == bytes(range(256)) * 40 for _, content in itertools.islice(members(endless), 1000)] == [True] * 1000
    assert endless.most == 10240
