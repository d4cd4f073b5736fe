"""Scalars of event files that real writers made."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from backends.metrics.files.events import STEP, EventsReader, scalars_of
from backends.metrics.files.records import RecordTail, masked_crc32c

WRITTEN = Path(__file__).parent / "written"
TORCH = next((WRITTEN / "torch").glob("*tfevents*"))


def rows(reader: EventsReader) -> list[dict[str, Any]]:
    found, is_more = reader.read()
    while is_more:
        more, is_more = reader.read()
        found += more
    return found


def test_the_checksum_is_that_of_the_standard() -> None:
    # RFC 3720, B.4: 32 bytes of zeros have the CRC-32C 8a9136aa; masked it is rotated by 15 bits, plus a constant.
    assert masked_crc32c(bytes(32)) == ((0x8A9136AA >> 15 | 0x8A9136AA << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_torchs_writer() -> None:
    found = rows(EventsReader(str(TORCH)))
    assert [row[STEP] for row in found] == [0, 1, 2, 3, 4]
    assert [row["val/acc"] for row in found] == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert found[2]["loss"] == pytest.approx(1 / 3, rel=1e-7)
    assert set(found[4]) == {STEP, "loss", "val/acc"}


def test_tensorboardx_and_nan() -> None:
    found = [row["loss"] for row in rows(EventsReader(str(WRITTEN / "tensorboardx")))]
    assert found[:3] == [0.0, 0.1, 0.2]
    assert math.isnan(found[3])


def test_numbers_as_tensors_and_folders_within() -> None:
    found = rows(EventsReader(str(WRITTEN / "tensor_form")))
    assert found[1] == {STEP: 1, "train/epoch_loss": 0.5, "validation/epoch_loss": 1.0}


def test_any_cut_of_a_file_as_it_grows_gives_each_scalar_once(tmp_path: Path) -> None:
    content = TORCH.read_bytes()
    whole = rows(EventsReader(str(TORCH)))
    path = tmp_path / "events.out.tfevents.1"
    reader = EventsReader(str(tmp_path))
    found: dict[int, dict[str, Any]] = {}
    for end in range(0, len(content) + 1, 7):
        with path.open("ab") as file:
            file.write(content[end : end + 7])
        for row in rows(reader):
            merged = found.setdefault(row[STEP], {})
            assert not merged.keys() & row.keys() - {STEP}
            merged |= row
    assert [*found.values()] == whole
    assert reader.finish(is_whole=True) == []
    assert reader.unreadable == 0


def test_a_second_writer_with_the_same_steps_doubles_nothing(tmp_path: Path) -> None:
    for number in range(2):
        shutil.copy(TORCH, tmp_path / f"events.out.tfevents.{number}")
    assert len(rows(EventsReader(str(tmp_path)))) == 5


def test_a_file_that_is_replaced_and_begins_anew_doubles_nothing(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(TORCH.read_bytes()[:500])
    reader = EventsReader(str(tmp_path))
    before = rows(reader)
    shutil.copy(TORCH, tmp_path / "new")
    (tmp_path / "new").replace(path)
    assert [row[STEP] for row in [*before, *rows(reader)] if "val/acc" in row] == [0, 1, 2, 3, 4]


def test_what_was_there_before_is_not_the_jobs_and_the_same_steps_in_its_own_file_are(tmp_path: Path) -> None:
    shutil.copy(TORCH, tmp_path / "events.out.tfevents.1")
    reader = EventsReader(str(tmp_path))
    reader.begin()
    assert rows(reader) == []
    shutil.copy(TORCH, tmp_path / "events.out.tfevents.2")
    assert len(rows(reader)) == 5


def record_ends(content: bytes) -> list[int]:
    ends, at = [], 0
    while at < len(content):
        at += 16 + int.from_bytes(content[at : at + 8], "little")
        ends.append(at)
    return ends


def test_a_damaged_record_is_none_and_the_next_one_is_read(tmp_path: Path) -> None:
    content = bytearray(TORCH.read_bytes())
    # Within the number of the first scalar.
    at = record_ends(bytes(content))[0] + 12
    place = content.index(b"loss", at) + len(b"loss") + 3
    content[place] ^= 1
    (tmp_path / "events.out.tfevents.1").write_bytes(content)
    reader = EventsReader(str(tmp_path))
    found = rows(reader)
    assert "loss" not in found[0]
    assert found[0]["val/acc"] == 0.5
    assert found[1]["loss"] == 0.5
    assert reader.unreadable == 1


def test_after_a_damaged_length_nothing_is_guessed(tmp_path: Path) -> None:
    content = bytearray(TORCH.read_bytes())
    content[record_ends(bytes(content))[2]] ^= 1
    (tmp_path / "events.out.tfevents.1").write_bytes(content)
    reader = EventsReader(str(tmp_path))
    assert rows(reader) == [{STEP: 0, "loss": 1.0, "val/acc": 0.5}]
    assert reader.unreadable == 1


def test_large_records_are_passed_over(tmp_path: Path) -> None:
    large = bytes(3 << 20)
    head = len(large).to_bytes(8, "little")
    content = head + masked_crc32c(head).to_bytes(4, "little") + large + bytes(4)
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(content + TORCH.read_bytes())
    tail = RecordTail(str(path))
    found, is_more = tail.take()
    while is_more:
        records, is_more = tail.take()
        found += records
    assert len(found) == len(record_ends(TORCH.read_bytes()))
    assert tail.close() is False


def test_a_record_that_is_cut_off_is_counted_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(TORCH.read_bytes()[:-5])
    reader = EventsReader(str(tmp_path))
    rows(reader)
    reader.finish(is_whole=True)
    assert reader.unreadable == 1


def test_what_is_no_event_is_none() -> None:
    with pytest.raises((ValueError, IndexError)):
        scalars_of(b"\xff\xff\xff")
