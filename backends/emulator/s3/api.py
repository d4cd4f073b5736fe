"""The S3 protocol over the emulator's buckets: objects, ranges, listings, copies, uploads in parts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote

from backends.emulator.http.answering import answered
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.s3 import xml as s3_xml
from backends.emulator.s3.aws_chunked import decoded_blocks
from backends.emulator.s3.store import BLOCK_BYTES, S3Store, StoredObject

_KEPT = ("content-type", "content-encoding", "content-disposition", "content-language", "cache-control", "expires")
_SUBRESOURCES = {
    "tagging": '<Tagging xmlns="{ns}"><TagSet/></Tagging>',
    "location": '<LocationConstraint xmlns="{ns}"/>',
    "versioning": '<VersioningConfiguration xmlns="{ns}"/>',
    "acl": '<AccessControlPolicy xmlns="{ns}"><Owner><ID>emulated</ID></Owner><AccessControlList/></AccessControlPolicy>',
}


@dataclass
class _Call:
    request: Request
    bucket: str
    key: str
    query: Mapping[str, str] = field(default_factory=dict)


class S3Api:
    """The operations, path-style. Signatures are not checked."""

    def __init__(self, store: S3Store, region: str) -> None:
        self._store, self._region = store, region

    def answer(self, request: Request, check: Callable[[str, str, str], None] = lambda operation, bucket, key: None) -> Response:
        """Return the response to a request, also where it fails.

        Args:
            request: what is asked.
            check: called with operation, bucket and key before anything is done; raises a `ServiceError` to refuse it.

        Raises:
            ConnectionError: the client went away.
        """
        return answered(lambda: self._call(request, check), lambda error: s3_xml.failure(error, request))

    def _call(self, request: Request, check: Callable[[str, str, str], None]) -> Response:
        call = self._parse(request)
        name = self._name(call)
        check(name, call.bucket, call.key)
        handler = getattr(self, f"_{name}", None)
        if handler is None:
            raise ServiceError("NotImplemented", f"The emulator does not imitate {request.method} {request.path}.", 501)
        found: Response = handler(call)
        return found

    def _parse(self, request: Request) -> _Call:
        path, _, query = request.path.partition("?")
        bucket, _, key = unquote(path).lstrip("/").partition("/")
        return _Call(request, bucket, key, dict(parse_qsl(query, keep_blank_values=True)))

    def _name(self, call: _Call) -> str:
        method, query = call.request.method, call.query
        sub = next((name for name in _SUBRESOURCES if name in query), None)
        if sub is not None:
            return "GetSubresource" if method == "GET" else "PutSubresource"
        if not call.bucket:
            return "ListBuckets"
        if not call.key:
            if method == "POST" and "delete" in query:
                return "DeleteObjects"
            listing = "ListObjectsV2" if query.get("list-type") == "2" else "ListObjects"
            return {"PUT": "CreateBucket", "HEAD": "HeadBucket", "DELETE": "DeleteBucket", "GET": listing}.get(method, "")
        if "uploadId" in query:
            copied = "UploadPartCopy" if call.request.headers.get("x-amz-copy-source") else "UploadPart"
            names = {"PUT": copied, "POST": "CompleteMultipartUpload", "DELETE": "AbortMultipartUpload", "GET": "ListParts"}
            return names.get(method, "")
        if "uploads" in query:
            return "CreateMultipartUpload"
        put = "CopyObject" if call.request.headers.get("x-amz-copy-source") else "PutObject"
        return {"PUT": put, "GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}.get(method, "")

    # Buckets

    def _ListBuckets(self, call: _Call) -> Response:  # noqa: N802 (named as the operation)
        del call
        return s3_xml.answer(s3_xml.buckets(self._store.buckets()))

    def _CreateBucket(self, call: _Call) -> Response:  # noqa: N802
        call.request.body()
        if len(call.bucket) < 3 or len(call.bucket) > 63 or call.bucket != call.bucket.lower():
            raise ServiceError("InvalidBucketName", "The specified bucket is not valid.")
        self._store.create_bucket(call.bucket)
        return Response(200, headers={"Location": f"/{call.bucket}"})

    def _HeadBucket(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        return Response(200, headers={"x-amz-bucket-region": self._region})

    def _DeleteBucket(self, call: _Call) -> Response:  # noqa: N802
        self._store.delete_bucket(call.bucket)
        return Response(204)

    def _GetSubresource(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        if call.key:
            self._store.get(call.bucket, call.key)
        name = next(name for name in _SUBRESOURCES if name in call.query)
        return s3_xml.answer(_SUBRESOURCES[name].format(ns=s3_xml.NAMESPACE))

    def _PutSubresource(self, call: _Call) -> Response:  # noqa: N802
        raise ServiceError("NotImplemented", "The emulator keeps neither tags nor access lists nor versions of objects.", 501)

    def _ListObjectsV2(self, call: _Call) -> Response:  # noqa: N802
        query = call.query
        after = unquote(query.get("continuation-token", "")) or query.get("start-after", "")
        return s3_xml.answer(s3_xml.listing(self._store, call.bucket, query, after, version=2))

    def _ListObjects(self, call: _Call) -> Response:  # noqa: N802
        return s3_xml.answer(s3_xml.listing(self._store, call.bucket, call.query, call.query.get("marker", ""), version=1))

    # Objects

    def _GetObject(self, call: _Call) -> Response:  # noqa: N802
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
        return self._object(call, self._store.get(call.bucket, call.key))

    def _object(self, call: _Call, found: StoredObject) -> Response:
        """Return status, headers and extent of the answer to a request for an object; no extent where it is not to be sent."""
        headers = self._headers(found, call.query)
        precondition = _precondition(call.request.headers, found)
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
        if headers.get("if-none-match") == "*":
            try:
                self._store.get(call.bucket, call.key)
            except ServiceError as error:
                if error.code != "NoSuchKey":
                    raise
            else:
                call.request.body()
                raise ServiceError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412)
        found = self._store.put(call.bucket, call.key, decoded_blocks(call.request), _kept(headers))
        return Response(200, headers={"ETag": f'"{found.etag}"'})

    def _CopyObject(self, call: _Call) -> Response:  # noqa: N802
        source = self._source(call)
        replaced = call.request.headers.get("x-amz-metadata-directive") == "REPLACE"
        headers = _kept(call.request.headers) if replaced else source.headers
        found = self._store.put(call.bucket, call.key, source.path, headers)
        return s3_xml.answer(s3_xml.copied("CopyObjectResult", found.etag, found.modified))

    def _DeleteObject(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        self._store.delete(call.bucket, call.key)
        return Response(204)

    def _DeleteObjects(self, call: _Call) -> Response:  # noqa: N802
        self._store.require_bucket(call.bucket)
        root = _xml(b"".join(decoded_blocks(call.request)))
        keys = [key.text or "" for key in root.iterfind("{*}Object/{*}Key")]
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
        etag = self._store.put_part(call.query["uploadId"], int(call.query["partNumber"]), decoded_blocks(call.request))
        return Response(200, headers={"ETag": f'"{etag}"'})

    def _UploadPartCopy(self, call: _Call) -> Response:  # noqa: N802
        source = self._source(call)
        part = _range(call.request.headers.get("x-amz-copy-source-range", ""), source.size) or (0, source.size - 1)
        etag = self._store.put_part(
            call.query["uploadId"], int(call.query["partNumber"]), slice_of(source.path, part[0], part[1] - part[0] + 1)
        )
        return s3_xml.answer(s3_xml.copied("CopyPartResult", etag, source.modified))

    def _CompleteMultipartUpload(self, call: _Call) -> Response:  # noqa: N802
        root = _xml(b"".join(decoded_blocks(call.request)))
        parts = [
            (int(part.findtext("{*}PartNumber") or 0), (part.findtext("{*}ETag") or "").strip('"')) for part in root.iterfind("{*}Part")
        ]
        found = self._store.complete_upload(call.query["uploadId"], parts)
        return s3_xml.answer(s3_xml.upload_completed(call.bucket, call.key, found.etag))

    def _AbortMultipartUpload(self, call: _Call) -> Response:  # noqa: N802
        self._store.abort_upload(call.query["uploadId"])
        return Response(204)

    def _ListParts(self, call: _Call) -> Response:  # noqa: N802
        upload = call.query["uploadId"]
        return s3_xml.answer(s3_xml.parts(call.bucket, call.key, upload, self._store.parts(upload)))

    def _source(self, call: _Call) -> StoredObject:
        path = unquote(call.request.headers["x-amz-copy-source"]).partition("?")[0].lstrip("/")
        bucket, _, key = path.partition("/")
        return self._store.get(bucket, key)

    def _headers(self, found: StoredObject, query: Mapping[str, str]) -> dict[str, str]:
        headers = {"content-type": "binary/octet-stream", **found.headers}
        headers.update({name[9:].lower(): value for name, value in query.items() if name.startswith("response-")})
        return {**headers, "ETag": f'"{found.etag}"', "Last-Modified": s3_xml.http_date(found.modified), "Accept-Ranges": "bytes"}


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


def _precondition(headers: Mapping[str, str], found: StoredObject) -> int | None:
    wanted, unwanted = headers.get("if-match"), headers.get("if-none-match")
    if wanted and wanted != "*" and found.etag not in [tag.strip(' "') for tag in wanted.split(",")]:
        raise ServiceError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412)
    if unwanted and (unwanted == "*" or found.etag in [tag.strip(' "') for tag in unwanted.split(",")]):
        return 304
    return None


def _xml(body: bytes) -> ET.Element:
    try:
        return ET.fromstring(body)
    except ET.ParseError:
        raise ServiceError("MalformedXML", "The XML you provided was not well-formed.") from None
