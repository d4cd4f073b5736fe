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
from backends.emulator.s3.store import S3Store, StoredObject

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


def listing(store: S3Store, bucket: str, query: Mapping[str, str], after: str, version: int) -> str:
    """Return a listing's answer: keys after `after`, with everything that shares a prefix up to the delimiter as one entry."""
    prefix, delimiter, most = query.get("prefix", ""), query.get("delimiter", ""), min(int(query.get("max-keys", "1000")), 1000)
    encoded = query.get("encoding-type") == "url"
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


def _entries(store: S3Store, bucket: str, prefix: str, delimiter: str, most: int, after: str) -> tuple[list[StoredObject | str], str, bool]:
    """Return entries (objects, and common prefixes as text), the last one's key, and whether there are more."""
    shown: list[StoredObject | str] = []
    last = after
    while True:
        batch = store.select(bucket, prefix, last, 1000)
        skip_to = ""
        for found in batch:
            rest = found.key[len(prefix) :]
            group = prefix + rest[: rest.index(delimiter) + len(delimiter)] if delimiter and delimiter in rest else ""
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


def parts(bucket: str, key: str, upload: str, found: Sequence[tuple[int, int, str]]) -> str:
    """Return ListParts' answer."""
    items = "".join(
        f"<Part><PartNumber>{number}</PartNumber><ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Part>" for number, size, etag in found
    )
    return (
        f'<ListPartsResult xmlns="{NAMESPACE}"><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><UploadId>{upload}</UploadId>'
        f"<IsTruncated>false</IsTruncated>{items}</ListPartsResult>"
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
