"""TFRecord files and `tf.train.Example`: written as TensorFlow writes them, and every kind of damage is named with its place."""

import io
import struct

import pytest

from benchmarking.workloads.ingestion.crc32c import crc32c
from benchmarking.workloads.ingestion.tfrecord import DamagedRecordError, example, framed, masked, parsed, records


class Trickling(io.BytesIO):
    def read(self, size=-1):
        return super().read(min(size, 3))


def read(content, **options):
    return list(records(io.BytesIO(content), "a.tfrecord", **options))


def test_a_record_is_framed_as_the_format_says():
    record = framed(b"abc")
    assert len(record) == 8 + 4 + 3 + 4
    assert record[:8] == struct.pack("<Q", 3)
    assert record[12:15] == b"abc"
    assert record[15:] == struct.pack("<I", masked(crc32c(b"abc")))


def test_a_checksum_is_rotated_by_15_bits_and_shifted():
    # hash/crc32c of LevelDB, whose masking it is: ((crc >> 15) | (crc << 17)) + 0xa282ead8
    assert masked(0) == 0xA282EAD8
    assert masked(0x8000) == 0xA282EAD9
    assert masked(1) == 0xA282EAD8 + (1 << 17)


def test_records_come_back_whole_from_a_file_and_from_a_pipe():
    payloads = [b"", b"x" * 5000, b"last"]
    content = b"".join(map(framed, payloads))
    assert read(content) == payloads
    assert list(records(Trickling(content), "pipe")) == payloads


@pytest.mark.parametrize(
    ("cut", "offset", "said"),
    [
        (5, 0, "ends after 5 bytes of its length"),
        (11, 0, "ends after 11 bytes of its length"),
        (14, 0, "ends within it: 2 of 7 bytes"),
        (18, 0, "ends within it: 6 of 7 bytes"),
        (21, 19, "ends after 2 bytes of its length"),
    ],
)
def test_a_file_that_is_cut_within_a_record_is_named_with_the_place(cut, offset, said):
    with pytest.raises(DamagedRecordError, match=f"^a.tfrecord: record at byte {offset}: .*{said}") as caught:
        read((framed(b"abc") * 2)[:cut])
    assert (caught.value.name, caught.value.offset) == ("a.tfrecord", offset)


def test_intact_records_before_the_damage_are_given():
    found = []
    with pytest.raises(DamagedRecordError):
        found.extend(records(io.BytesIO(framed(b"abc") + framed(b"def")[:-1]), "a"))
    assert found == [b"abc"]


def test_a_wrong_checksum_is_told_of_content_and_of_length():
    content = bytearray(framed(b"abc") + framed(b"defg"))
    content[19 + 13] ^= 1
    with pytest.raises(DamagedRecordError, match="byte 19: the checksum of its content is wrong"):
        read(bytes(content))
    assert read(bytes(content), verify=False) == [b"abc", b"ddfg"]
    with pytest.raises(DamagedRecordError, match="byte 0: the checksum of its length is wrong: damaged, or no TFRecord"):
        read(b"this is a plain text, and no records")


def test_a_length_without_sense_asks_for_no_memory():
    head = struct.pack("<Q", 2**60)
    with pytest.raises(DamagedRecordError, match="a length of 1152921504606846976 bytes"):
        read(head + struct.pack("<I", masked(crc32c(head))))


def test_an_example_has_the_bytes_that_protocol_buffers_give():
    # Example{features{feature{key "label" value{int64_list{value: 300}}}}}: tags and lengths worked out by hand.
    assert example({"label": 300}) == b"\n\x11\n\x0f\n\x05label\x12\x06\x1a\x04\n\x02\xac\x02"


def test_features_come_back_with_their_kinds():
    given = {"image": b"\xff\xd8", "label": 7, "below": [-1, 2**62], "shares": [0.5, -2.0], "names": [b"a", b""], "none": []}
    assert parsed(example(given)) == {
        "image": [b"\xff\xd8"],
        "label": [7],
        "below": [-1, 2**62],
        "shares": [0.5, -2.0],
        "names": [b"a", b""],
        "none": [],
    }


def test_numbers_that_are_not_packed_are_read_too():
    # int64_list with two values of their own fields, as older writers leave them.
    feature = b"\x1a\x04\x08\x05\x08\x06"
    entry = b"\n\x01k\x12" + bytes([len(feature)]) + feature
    features = b"\n" + bytes([len(entry)]) + entry
    assert parsed(b"\n" + bytes([len(features)]) + features) == {"k": [5, 6]}


@pytest.mark.parametrize("content", [b"\n\xff\x01a", b"\x0b", b"\xff" * 20, b"plain text"])
def test_what_is_no_example_is_told_with_its_file(content):
    with pytest.raises(DamagedRecordError, match=r"a.tfrecord.*no tf.train.Example"):
        parsed(content, "a.tfrecord")
