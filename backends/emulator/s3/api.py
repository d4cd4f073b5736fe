"""The S3 protocol over the emulator's buckets: objects, ranges, listings, copies, uploads in parts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from backends.emulator.http.answering import answered
from backends.emulator.http.authentication import Authenticator
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.s3 import xml as s3_xml
from backends.emulator.s3.aws_chunked import decoded_blocks
from backends.emulator.s3.late_list import Selects, ShownObjects
from backends.emulator.s3.operations import operation_of
from backends.emulator.s3.preconditions import read_condition, write_condition
from backends.emulator.s3.store import BLOCK_BYTES, S3Store, StoredObject, Upload
from backends.naming import is_bucket_name

_KEPT = ("content-type", "content-encoding", "content-disposition", "content-language", "cache-control", "expires")
_ACL = f'<AccessControlPolicy xmlns="{s3_xml.NAMESPACE}"><Owner><ID>emulated</ID></Owner><AccessControlList/></AccessControlPolicy>'
_LONGEST_KEY_BYTES = 1024
_MOST_DELETED = 1000
_MOST_PARTS = 10_000
_OF_SOURCE = "x-amz-copy-source-"
_NOT_BY_SCHEMA = "The XML you provided was not well-formed or did not validate against our published schema"


@dataclass
class _Call:
    request: Request
    bucket: str
    key: str
    query: Mapping[str, str] = field(default_factory=dict)
    lag_s: Mapping[str, float] = field(default_factory=dict)


class S3Api:
    """The operations, path-style."""

    def __init__(self, store: S3Store, region: str) -> None:
        self._store, self._region = store, region

    def answer(
        self,
        request: Request,
        authenticator: Authenticator,
        check: Callable[[str, str, str], None] = lambda operation, bucket, key: None,
        lag_s: Callable[[str], Mapping[str, float]] = lambda bucket: {},
    ) -> Response:
        """Return the response to a request, also where it fails.

        Args:
            request: what is asked.
            authenticator: lets it pass or refuses it.
            check: called with operation, bucket and key before anything is done; raises a `ServiceError` to refuse it.
            lag_s: returns for how many seconds listings of a bucket do not show what was written, by pattern of its keys.

        Raises:
            ConnectionError: the client went away.
        """
        return answered(lambda: self._call(request, authenticator, check, lag_s), lambda error: s3_xml.failure(error, request))

    def _call(
        self,
        request: Request,
        authenticator: Authenticator,
        check: Callable[[str, str, str], None],
        lag_s: Callable[[str], Mapping[str, float]],
    ) -> Response:
        authenticator.check(request, "s3")
        call = self._parse(request)
        call.lag_s = lag_s(call.bucket)
        name = operation_of(request.method, call.bucket, call.key, call.query, request.headers)
        check(name, call.bucket, call.key)
        if call.query.get("versionId", "null") != "null":
            raise ServiceError("NoSuchVersion", "The specified version does not exist.", 404)
        found: Response = getattr(self, f"_{name}")(call)
        return found

    def _parse(self, request: Request) -> _Call:
        path, _, query = request.path.partition("?")
        try:
            bucket, _, key = unquote(path, errors="strict").removeprefix("/").partition("/")
        except UnicodeDecodeError:
            raise ServiceError("InvalidURI", "Couldn't parse the specified URI.") from None
        if len(key.encode()) > _LONGEST_KEY_BYTES:
            raise ServiceError("KeyTooLongError", "Your key is too long")
        return _Call(request, bucket, key, dict(parse_qsl(query, keep_blank_values=True)))

    # Buckets

    def _ListBuckets(self, call: _Call) -> Response:  # noqa: N802 (named as the operation)
        found = [one for one in self._store.buckets() if one[0].startswith(call.query.get("prefix", ""))]
        return s3_xml.answer(s3_xml.buckets(found))

    def _CreateBucket(self, call: _Call) -> Response:  # noqa: N802
        call.request.body()
        if not is_bucket_name(call.bucket):
            raise ServiceError("InvalidBucketName", "The specified bucket is not valid.")
        self._store.create_bucket(call.bucket)
        return Response(200, headers={"Location": f"/{call.bucket}"})

    def _HeadBucket(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        return Response(200, headers={"x-amz-bucket-region": self._region})

    def _DeleteBucket(self, call: _Call) -> Response:  # noqa: N802
        self._store.delete_bucket(call.bucket)
        return Response(204)

    def _GetBucketLocation(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        where = "" if self._region == "us-east-1" else self._region  # the first region has no name here
        return s3_xml.answer(f'<LocationConstraint xmlns="{s3_xml.NAMESPACE}">{where}</LocationConstraint>')

    def _GetBucketVersioning(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        return s3_xml.answer(f'<VersioningConfiguration xmlns="{s3_xml.NAMESPACE}"/>')

    def _GetBucketAcl(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        return s3_xml.answer(_ACL)

    def _GetObjectAcl(self, call: _Call) -> Response:  # noqa: N802
        self._store.get(call.bucket, call.key)
        return s3_xml.answer(_ACL)

    def _GetObjectTagging(self, call: _Call) -> Response:  # noqa: N802
        self._store.get(call.bucket, call.key)
        return s3_xml.answer(f'<Tagging xmlns="{s3_xml.NAMESPACE}"><TagSet/></Tagging>')

    def _ListObjectsV2(self, call: _Call) -> Response:  # noqa: N802
        query = call.query
        if query["list-type"] != "2":
            raise ServiceError("InvalidArgument", "Invalid List Type specified in Request")
        after = unquote(query.get("continuation-token", "")) or query.get("start-after", "")
        return s3_xml.answer(s3_xml.listing(self._shown(call), call.bucket, query, after, version=2))

    def _ListObjects(self, call: _Call) -> Response:  # noqa: N802
        return s3_xml.answer(s3_xml.listing(self._shown(call), call.bucket, call.query, call.query.get("marker", ""), version=1))

    def _shown(self, call: _Call) -> Selects:
        return ShownObjects(self._store, call.lag_s) if call.lag_s else self._store

    # Objects

    def _GetObject(self, call: _Call) -> Response:  # noqa: N802
        _check_part(call)
        found, content = self._store.open(call.bucket, call.key)
        try:
            response = self._object(call, found)
        except ServiceError:
            content.close()
            raise
        if response.length is None:
            content.close()
        else:
            response.file = content
        return response

    def _HeadObject(self, call: _Call) -> Response:  # noqa: N802
        _check_part(call)
        return self._object(call, self._store.get(call.bucket, call.key))

    def _object(self, call: _Call, found: StoredObject) -> Response:
        """Return status, headers and extent of the answer to a request for an object; no extent where it is not to be sent."""
        headers = self._headers(found, call.query)
        precondition = read_condition(call.request.headers, found.etag, found.modified)
        if precondition is not None:
            return Response(precondition, headers={"ETag": f'"{found.etag}"'})
        part = _range(call.request.headers.get("range", ""), found.size)
        if part is None:
            return Response(200, headers=headers, length=found.size)
        start, end = part
        headers["Content-Range"] = f"bytes {start}-{end}/{found.size}"
        return Response(206, headers=headers, start=start, length=end - start + 1)

    def _PutObject(self, call: _Call) -> Response:  # noqa: N802
        headers = call.request.headers
        condition = write_condition(headers)
        if condition:
            try:
                condition = condition.begun(self._store.etag(call.bucket, call.key))
            except ServiceError:
                call.request.body()
                raise
        found = self._store.put(call.bucket, call.key, decoded_blocks(call.request), _kept(headers), condition)
        return Response(200, headers={"ETag": f'"{found.etag}"'})

    def _CopyObject(self, call: _Call) -> Response:  # noqa: N802
        source = self._source(call)
        replaced = call.request.headers.get("x-amz-metadata-directive") == "REPLACE"
        headers = _kept(call.request.headers) if replaced else source.headers
        found = self._store.put(call.bucket, call.key, source.path, headers, write_condition(call.request.headers))
        return s3_xml.answer(s3_xml.copied("CopyObjectResult", found.etag, found.modified))

    def _DeleteObject(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        self._store.delete(call.bucket, call.key, write_condition(call.request.headers))
        return Response(204)

    def _DeleteObjects(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        root = _xml(b"".join(decoded_blocks(call.request)))
        wanted = root.findall("{*}Object")
        if not 1 <= len(wanted) <= _MOST_DELETED:
            raise ServiceError("MalformedXML", _NOT_BY_SCHEMA)
        for word in ("VersionId", "ETag", "LastModifiedTime", "Size"):
            if any((one.findtext(f"{{*}}{word}") or "null") != "null" for one in wanted):
                raise ServiceError("NotImplemented", f"The emulator does not imitate {word} of what is deleted together with others.", 501)
        keys = [one.findtext("{*}Key") or "" for one in wanted]
        for key in keys:
            self._store.delete(call.bucket, key)
        quiet = (root.findtext("{*}Quiet") or "").lower() == "true"
        return s3_xml.answer(s3_xml.deleted([] if quiet else keys))

    # Uploads in parts

    def _CreateMultipartUpload(self, call: _Call) -> Response:  # noqa: N802
        call.request.body()
        upload = self._store.start_upload(call.bucket, call.key, _kept(call.request.headers))
        return s3_xml.answer(s3_xml.upload_started(call.bucket, call.key, upload))

    def _UploadPart(self, call: _Call) -> Response:  # noqa: N802
        etag = self._store.put_part(_upload(call), _part_number(call), decoded_blocks(call.request))
        return Response(200, headers={"ETag": f'"{etag}"'})

    def _UploadPartCopy(self, call: _Call) -> Response:  # noqa: N802
        source = self._source(call)
        part = _range(call.request.headers.get("x-amz-copy-source-range", ""), source.size) or (0, source.size - 1)
        etag = self._store.put_part(_upload(call), _part_number(call), slice_of(source.path, part[0], part[1] - part[0] + 1))
        return s3_xml.answer(s3_xml.copied("CopyPartResult", etag, source.modified))

    def _CompleteMultipartUpload(self, call: _Call) -> Response:  # noqa: N802
        root = _xml(b"".join(decoded_blocks(call.request)))
        found = [(part.findtext("{*}PartNumber") or "", (part.findtext("{*}ETag") or "").strip('"')) for part in root.iterfind("{*}Part")]
        if not all(number.isascii() and number.isdigit() for number, _ in found):
            raise ServiceError("MalformedXML", _NOT_BY_SCHEMA)
        parts = [(int(number), etag) for number, etag in found]
        made = self._store.complete_upload(_upload(call), parts, write_condition(call.request.headers))
        return s3_xml.answer(s3_xml.upload_completed(call.bucket, call.key, made.etag))

    def _AbortMultipartUpload(self, call: _Call) -> Response:  # noqa: N802
        self._store.abort_upload(_upload(call))
        return Response(204)

    def _ListParts(self, call: _Call) -> Response:  # noqa: N802
        upload = _upload(call)
        return s3_xml.answer(s3_xml.parts(upload, self._store.parts(upload)))

    def _ListMultipartUploads(self, call: _Call) -> Response:  # noqa: N802
        return s3_xml.answer(s3_xml.uploads(self._store.uploads(call.bucket), call.bucket, call.query))

    def _source(self, call: _Call) -> StoredObject:
        # A key may hold a question mark, encoded; what follows one that is not names a version.
        place, _, version = call.request.headers["x-amz-copy-source"].partition("?")
        if version not in ("", "versionId=null"):
            raise ServiceError("NoSuchVersion", "The specified version does not exist.", 404)
        path = unquote(place).removeprefix("/")
        bucket, _, key = path.partition("/")
        found = self._store.get(bucket, key)
        asked = {name.removeprefix(_OF_SOURCE): text for name, text in call.request.headers.items() if name.startswith(_OF_SOURCE)}
        if read_condition(asked, found.etag, found.modified) is not None:
            raise ServiceError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412)
        return found

    def _headers(self, found: StoredObject, query: Mapping[str, str]) -> dict[str, str]:
        headers = {"content-type": "binary/octet-stream", **found.headers}
        headers.update({name[9:].lower(): value for name, value in query.items() if name.startswith("response-")})
        return {**headers, "ETag": f'"{found.etag}"', "Last-Modified": s3_xml.http_date(found.modified), "Accept-Ranges": "bytes"}


def _upload(call: _Call) -> Upload:
    return Upload(call.query["uploadId"], call.bucket, call.key)


def _part_number(call: _Call) -> int:
    text = call.query.get("partNumber", "")
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST_PARTS):
        raise ServiceError("InvalidArgument", f"Part number must be an integer between 1 and {_MOST_PARTS}, inclusive")
    return int(text)


def _check_part(call: _Call) -> None:
    # Objects are kept as if they had come in one part.
    if call.query.get("partNumber", "1") != "1":
        raise ServiceError("InvalidPartNumber", "The requested partnumber is not satisfiable", 416)


def slice_of(path: Path, start: int, length: int) -> Iterator[bytes]:
    """Yield part of a file, in blocks."""
    with path.open("rb") as file:
        file.seek(start)
        while length > 0 and (block := file.read(min(length, BLOCK_BYTES))):
            length -= len(block)
            yield block


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    found = {name: value for name, value in headers.items() if name in _KEPT or name.startswith("x-amz-meta-")}
    encoding = found.get("content-encoding", "")
    if "aws-chunked" in encoding:
        rest = ",".join(part for part in (part.strip() for part in encoding.split(",")) if part != "aws-chunked")
        found.pop("content-encoding")
        if rest:
            found["content-encoding"] = rest
    return {quote(name, safe="-_."): value for name, value in found.items()}


def _range(header: str, size: int) -> tuple[int, int] | None:
    """Return first and last byte of a Range header; None for the whole object."""
    unit, _, spans = header.partition("=")
    first, dash, last = spans.strip().partition("-")
    if unit.strip() != "bytes" or not dash or "," in spans or not (first or last):
        return None
    if not (first or "0").isdigit() or not (last or "0").isdigit():
        return None
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if start >= size or (first == "" and last == "0"):
        raise ServiceError("InvalidRange", "The requested range is not satisfiable", 416)
    return (start, end) if end >= start else None


def _xml(body: bytes) -> ET.Element:
    if b"<!DOCTYPE" in body.replace(b"\0", b""):  # in whichever encoding: what it declares would be put into the text, as often as it says
        raise ServiceError("MalformedXML", "The XML you provided was not well-formed.")
    try:
        return ET.fromstring(body)
    except ET.ParseError:
        raise ServiceError("MalformedXML", "The XML you provided was not well-formed.") from None
