"""The XML answers of S3. Pure but for the store that a listing reads."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import formatdate
from urllib.parse import quote

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request, Response
from backends.emulator.s3.late_list import Selects
from backends.emulator.s3.store import StoredObject, Upload

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def answer(content: str) -> Response:
    """Return a response with an XML body."""
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n{content}'.encode()
    return Response(200, body, {"Content-Type": "application/xml"})


def escape(text: str) -> str:
    """Return a text as the content of an element, control characters by their numbers, as S3 answers them."""
    return _CONTROL.sub(lambda found: f"&#x{ord(found[0]):X};", html.escape(text, quote=False))


def http_date(at: float) -> str:
    """Return a time as HTTP headers have it."""
    return formatdate(at, usegmt=True)


def _iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))


def buckets(found: Sequence[tuple[str, float]]) -> str:
    """Return ListBuckets' answer."""
    items = "".join(f"<Bucket><Name>{name}</Name><CreationDate>{_iso(created)}</CreationDate></Bucket>" for name, created in found)
    return (
        f'<ListAllMyBucketsResult xmlns="{NAMESPACE}"><Owner><ID>emulated</ID></Owner><Buckets>{items}</Buckets></ListAllMyBucketsResult>'
    )


def limit(query: Mapping[str, str], name: str) -> int:
    """Return how many entries an answer may have, 1000 at most; raises `InvalidArgument` for what is no number."""
    text = query.get(name, "1000")
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 31):
        raise ServiceError("InvalidArgument", f"Argument {name} must be an integer between 0 and 2147483647")
    return min(int(text), 1000)


def is_encoded(query: Mapping[str, str]) -> bool:
    """Return whether keys are to be written as in addresses; raises `InvalidArgument` for another encoding."""
    if query.get("encoding-type", "url") != "url":
        raise ServiceError("InvalidArgument", "Invalid Encoding Method specified in Request")
    return "encoding-type" in query


def listing(store: Selects, bucket: str, query: Mapping[str, str], after: str, version: int) -> str:
    """Return a listing's answer: keys after `after`, with everything that shares a prefix up to the delimiter as one entry."""
    prefix, delimiter, most = query.get("prefix", ""), query.get("delimiter", ""), limit(query, "max-keys")
    encoded = is_encoded(query)
    shown, last, truncated = _entries(store, bucket, prefix, delimiter, most, after)

    def text(key: str) -> str:
        return quote(key, safe="/") if encoded else escape(key)

    contents = "".join(
        f"<Contents><Key>{text(found.key)}</Key><LastModified>{_iso(found.modified)}</LastModified><ETag>&quot;{found.etag}&quot;</ETag>"
        f"<Size>{found.size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for found in shown
        if not isinstance(found, str)
    )
    common = "".join(f"<CommonPrefixes><Prefix>{text(found)}</Prefix></CommonPrefixes>" for found in shown if isinstance(found, str))
    head = (
        f"<Name>{bucket}</Name><Prefix>{text(prefix)}</Prefix><MaxKeys>{most}</MaxKeys><IsTruncated>{str(truncated).lower()}</IsTruncated>"
    )
    if delimiter:
        head += f"<Delimiter>{text(delimiter)}</Delimiter>"
    if encoded:
        head += "<EncodingType>url</EncodingType>"
    if version == 2:
        head += f"<KeyCount>{len(shown)}</KeyCount>"
        if truncated:
            head += f"<NextContinuationToken>{quote(last, safe='')}</NextContinuationToken>"
    else:
        head += f"<Marker>{text(after)}</Marker>"
        if truncated:
            head += f"<NextMarker>{text(last)}</NextMarker>"
    return f'<ListBucketResult xmlns="{NAMESPACE}">{head}{contents}{common}</ListBucketResult>'


def _entries(store: Selects, bucket: str, prefix: str, delimiter: str, most: int, after: str) -> tuple[list[StoredObject | str], str, bool]:
    """Return entries (objects, and common prefixes as text), the last one's key, and whether there are more."""
    shown: list[StoredObject | str] = []
    last = after
    while True:
        batch = store.select(bucket, prefix, last, 1000)
        skip_to = ""
        for found in batch:
            group = _group(found.key, prefix, delimiter)
            if group and after == group:
                last = skip_to = group + "\U0010ffff"
                break
            if len(shown) >= most:
                return shown, last, True
            shown.append(group or found)
            last = found.key
            if group:
                # The rest of the group is passed over at once.
                last = skip_to = group + "\U0010ffff"
                break
        if not skip_to and len(batch) < 1000:
            return shown, last, False


def copied(root: str, etag: str, at: float) -> str:
    """Return a copy's answer."""
    return f'<{root} xmlns="{NAMESPACE}"><LastModified>{_iso(at)}</LastModified><ETag>&quot;{etag}&quot;</ETag></{root}>'


def deleted(keys: Sequence[str]) -> str:
    """Return DeleteObjects' answer."""
    items = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
    return f'<DeleteResult xmlns="{NAMESPACE}">{items}</DeleteResult>'


def upload_started(bucket: str, key: str, upload: str) -> str:
    """Return CreateMultipartUpload's answer."""
    return (
        f'<InitiateMultipartUploadResult xmlns="{NAMESPACE}"><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>'
        f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
    )


def upload_completed(bucket: str, key: str, etag: str) -> str:
    """Return CompleteMultipartUpload's answer."""
    return (
        f'<CompleteMultipartUploadResult xmlns="{NAMESPACE}"><Location>/{bucket}/{escape(key)}</Location><Bucket>{bucket}</Bucket>'
        f"<Key>{escape(key)}</Key><ETag>&quot;{etag}&quot;</ETag></CompleteMultipartUploadResult>"
    )


def uploads(found: Sequence[Upload], bucket: str, query: Mapping[str, str]) -> str:
    """Return ListMultipartUploads' answer.

    Args:
        found: all uploads to the bucket, by key and beginning.
        bucket: its name.
        query: of the request: prefix, delimiter, and after which key and upload the answer begins.
    """
    prefix, delimiter, most = query.get("prefix", ""), query.get("delimiter", ""), limit(query, "max-uploads")
    encoded, after, after_upload = is_encoded(query), query.get("key-marker", ""), query.get("upload-id-marker", "")

    def text(key: str) -> str:
        return quote(key, safe="/") if encoded else escape(key)

    ids = [one.id for one in found if one.key == after]
    seen = set(ids[: ids.index(after_upload) + 1]) if after_upload in ids else set(ids)
    groups: list[str] = []
    shown: list[Upload] = []
    last, truncated = ("", ""), False
    for one in found:
        group = _group(one.key, prefix, delimiter)
        if not one.key.startswith(prefix) or one.key < after or one.id in seen or group in groups or (group and after.startswith(group)):
            continue
        if len(shown) + len(groups) >= most:
            truncated = True
            break
        if group:
            groups.append(group)
        else:
            shown.append(one)
        last = (group + "\U0010ffff", "") if group else (one.key, one.id)
    items = "".join(
        f"<Upload><Key>{text(one.key)}</Key><UploadId>{one.id}</UploadId><Initiator><ID>emulated</ID></Initiator><Owner><ID>emulated</ID></Owner>"
        f"<StorageClass>STANDARD</StorageClass><Initiated>{_iso(one.created)}</Initiated></Upload>"
        for one in shown
    )
    common = "".join(f"<CommonPrefixes><Prefix>{text(group)}</Prefix></CommonPrefixes>" for group in groups)
    head = (
        f"<Bucket>{bucket}</Bucket><KeyMarker>{text(after)}</KeyMarker><UploadIdMarker>{after_upload}</UploadIdMarker>"
        f"<Prefix>{text(prefix)}</Prefix><MaxUploads>{most}</MaxUploads><IsTruncated>{str(truncated).lower()}</IsTruncated>"
    )
    head += f"<Delimiter>{text(delimiter)}</Delimiter>" if delimiter else ""
    head += "<EncodingType>url</EncodingType>" if encoded else ""
    head += f"<NextKeyMarker>{text(last[0])}</NextKeyMarker><NextUploadIdMarker>{last[1]}</NextUploadIdMarker>" if truncated else ""
    return f'<ListMultipartUploadsResult xmlns="{NAMESPACE}">{head}{items}{common}</ListMultipartUploadsResult>'


def _group(key: str, prefix: str, delimiter: str) -> str:
    """Return what a key has in common with others, up to the delimiter after the prefix; empty for nothing."""
    rest = key[len(prefix) :]
    return prefix + rest[: rest.index(delimiter) + len(delimiter)] if delimiter and delimiter in rest else ""


def parts(upload: Upload, found: Sequence[tuple[int, int, str]]) -> str:
    """Return ListParts' answer."""
    items = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Part>" for number, size, etag in found
    )
    return (
        f'<ListPartsResult xmlns="{NAMESPACE}"><Bucket>{upload.bucket}</Bucket><Key>{escape(upload.key)}</Key>'
        f"<UploadId>{upload.id}</UploadId><IsTruncated>false</IsTruncated>{items}</ListPartsResult>"
    )


def failure(error: ServiceError, request: Request) -> Response:
    """Return the response to a request that failed; one to HEAD has no body."""
    resource = request.path.partition("?")[0]
    body = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{error.code}</Code><Message>{escape(error.message)}</Message>'
        f"{''.join(f'<{name}>{escape(value)}</{name}>' for name, value in error.details.items())}"
        f"<Resource>{escape(resource)}</Resource><RequestId>emulated</RequestId></Error>"
    )
    return Response(error.status, b"" if request.method == "HEAD" else body.encode(), {"Content-Type": "application/xml"})
