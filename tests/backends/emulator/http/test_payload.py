"""Bodies that are held to what was signed of them, by the values of AWS's documentation."""

from __future__ import annotations

import hashlib
import io

import pytest

from backends.emulator.core.credentials import derive
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request
from backends.emulator.http.payload import ChunkSignatures, hashed
from backends.emulator.http.signature import Signature
from backends.emulator.s3.aws_chunked import decoded_blocks

# S3 API reference, "Signature Calculations for the Authorization Header: Transferring Payload in Multiple Chunks".
SCOPE = "20130524/us-east-1/s3/aws4_request"
KEY = derive("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", SCOPE)
SEED = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
SIGNATURE = Signature(4, "AKIAIOSFODNN7EXAMPLE", SEED, SCOPE, ("host",), "20130524T000000Z")
CHUNKS = [
    (b"a" * 65536, "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"),
    (b"a" * 1024, "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"),
    (b"", "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"),
]


def framed(chunks, end=b"\r\n"):
    return b"".join(f"{len(content):x};chunk-signature={value}\r\n".encode() + content + b"\r\n" for content, value in chunks)[:-2] + end


def request(body, trailer=False):
    kind = f"STREAMING-AWS4-HMAC-SHA256-PAYLOAD{'-TRAILER' if trailer else ''}"
    return Request(
        "PUT", "/b/k", {"x-amz-content-sha256": kind}, io.BytesIO(body).read, len(body), ChunkSignatures(SIGNATURE, KEY, trailer)
    )


def test_the_documented_chunks_are_accepted():
    assert b"".join(decoded_blocks(request(framed(CHUNKS)))) == b"a" * 66560


@pytest.mark.parametrize(
    "chunks",
    [
        [(b"b" + CHUNKS[0][0][1:], CHUNKS[0][1]), *CHUNKS[1:]],
        [CHUNKS[1], CHUNKS[0], CHUNKS[2]],
        [CHUNKS[0], CHUNKS[2]],
        [CHUNKS[0], (CHUNKS[1][0], "0" * 64), CHUNKS[2]],
        [CHUNKS[0], (CHUNKS[1][0], ""), CHUNKS[2]],
    ],
)
def test_chunks_that_are_changed_exchanged_or_left_out_are_refused(chunks):
    with pytest.raises(ServiceError) as caught:
        list(decoded_blocks(request(framed(chunks))))
    assert (caught.value.code, caught.value.status) == ("SignatureDoesNotMatch", 403)


# The same page, "Including trailing headers".
TRAILING = Signature(4, "K", "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e", SCOPE, ("host",), "20130524T000000Z")
TRAILED = [
    (b"a" * 65536, "b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2"),
    (b"a" * 1024, "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7"),
    (b"", "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992"),
]
FIELDS = b"x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:%s\r\n\r\n"
TRAILER = b"d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435"


def trailed(fields):
    made = request(framed(TRAILED, fields), trailer=True)
    made.chunks = ChunkSignatures(TRAILING, KEY, trailer=True)
    return made


def test_the_documented_trailer_is_accepted_and_another_refused():
    assert len(b"".join(decoded_blocks(trailed(FIELDS % TRAILER)))) == 66560
    for fields in (FIELDS % TRAILER.replace(b"d", b"e"), FIELDS.replace(b"sOO8", b"sOO9") % TRAILER, b"\r\n"):
        with pytest.raises(ServiceError, match="SignatureDoesNotMatch"):
            list(decoded_blocks(trailed(fields)))


@pytest.mark.parametrize("size", [b"-1", b"0x10", b"+5", b"", b"g", b"1_0"])
def test_a_size_of_a_chunk_is_hexadecimal_and_nothing_else(size):
    with pytest.raises(ServiceError, match="Invalid chunk size"):
        list(decoded_blocks(request(size + b"\r\nx\r\n")))


def test_a_body_that_is_not_what_was_signed_is_refused_at_its_end():
    good = hashlib.sha256(b"content").hexdigest()
    read = hashed(io.BytesIO(b"content").read, good)
    assert (read(3), read(9), read(9)) == (b"con", b"tent", b"")
    read = hashed(io.BytesIO(b"contend").read, good)
    assert read(9) == b"contend"
    with pytest.raises(ServiceError, match="XAmzContentSHA256Mismatch"):
        read(9)
