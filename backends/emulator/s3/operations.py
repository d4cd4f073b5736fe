"""Which operation of S3 a request asks for, by its method and what its address names; what is not imitated is no other operation. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backends.emulator.http.errors import ServiceError

_LISTING = frozenset({"prefix", "delimiter", "max-keys", "encoding-type"})
PARAMETERS: Mapping[str, frozenset[str]] = {
    "ListBuckets": frozenset({"max-buckets", "prefix", "continuation-token", "bucket-region"}),
    "CreateBucket": frozenset(),
    "HeadBucket": frozenset(),
    "DeleteBucket": frozenset(),
    "GetBucketLocation": frozenset({"location"}),
    "GetBucketVersioning": frozenset({"versioning"}),
    "GetBucketAcl": frozenset({"acl"}),
    "ListObjectsV2": _LISTING | {"list-type", "continuation-token", "start-after", "fetch-owner"},
    "ListObjects": _LISTING | {"marker"},
    "ListMultipartUploads": _LISTING - {"max-keys"} | {"uploads", "key-marker", "upload-id-marker", "max-uploads"},
    "DeleteObjects": frozenset({"delete"}),
    "GetObject": frozenset({"partNumber", "versionId"}),
    "HeadObject": frozenset({"partNumber", "versionId"}),
    "PutObject": frozenset(),
    "CopyObject": frozenset(),
    "DeleteObject": frozenset({"versionId"}),
    "GetObjectAcl": frozenset({"acl", "versionId"}),
    "GetObjectTagging": frozenset({"tagging", "versionId"}),
    "CreateMultipartUpload": frozenset({"uploads"}),
    "UploadPart": frozenset({"uploadId", "partNumber"}),
    "UploadPartCopy": frozenset({"uploadId", "partNumber"}),
    "CompleteMultipartUpload": frozenset({"uploadId"}),
    "AbortMultipartUpload": frozenset({"uploadId"}),
    "ListParts": frozenset({"uploadId", "max-parts", "part-number-marker", "encoding-type"}),
}
"""The operations that are imitated, with what their addresses may hold."""
_ANYWHERE = frozenset({"x-id", "AWSAccessKeyId", "Signature", "Expires", "content-type", "content-md5"})
"""What any address may hold: the name of the operation, and how it is signed."""
_BUCKET = {
    ("GET", "location"): "GetBucketLocation",
    ("GET", "versioning"): "GetBucketVersioning",
    ("GET", "acl"): "GetBucketAcl",
    ("GET", "uploads"): "ListMultipartUploads",
    ("POST", "delete"): "DeleteObjects",
    ("PUT", ""): "CreateBucket",
    ("HEAD", ""): "HeadBucket",
    ("DELETE", ""): "DeleteBucket",
    ("GET", "list-type"): "ListObjectsV2",
    ("GET", ""): "ListObjects",
}
_OBJECT = {
    ("GET", "acl"): "GetObjectAcl",
    ("GET", "tagging"): "GetObjectTagging",
    ("POST", "uploads"): "CreateMultipartUpload",
    ("PUT", "uploadId"): "UploadPart",
    ("POST", "uploadId"): "CompleteMultipartUpload",
    ("DELETE", "uploadId"): "AbortMultipartUpload",
    ("GET", "uploadId"): "ListParts",
    ("PUT", ""): "PutObject",
    ("GET", ""): "GetObject",
    ("HEAD", ""): "HeadObject",
    ("DELETE", ""): "DeleteObject",
}


_REFUSED_HEADERS = (
    "x-amz-server-side-encryption-customer-",
    "x-amz-copy-source-server-side-encryption-customer-",
    "x-amz-object-lock-",
    "x-amz-tagging",
    "x-amz-write-offset-bytes",
    "x-amz-website-redirect-location",
)
"""Beginnings of headers that ask for what would not be done; what says only how an object is kept makes no difference here."""


def operation_of(method: str, bucket: str, key: str, query: Mapping[str, str], headers: Iterable[str] = ()) -> str:
    """Return the operation that a request asks for.

    Args:
        method: of HTTP.
        bucket: empty for none.
        key: of an object, empty for none.
        query: of the address.
        headers: names, in lower case.

    Raises:
        ServiceError: it is none of those that are imitated, or the address holds what this one does not know.
    """
    if not bucket:
        found = "ListBuckets" if method == "GET" and not key else ""
    else:
        known = _OBJECT if key else _BUCKET
        found = next((name for (verb, word), name in known.items() if verb == method and (not word or word in query)), "")
    if "x-amz-copy-source" in headers:
        found = {"PutObject": "CopyObject", "UploadPart": "UploadPartCopy"}.get(found, found)
    for name in headers:
        if name.startswith(_REFUSED_HEADERS) and name != "x-amz-tagging-directive":
            raise ServiceError("NotImplemented", f"The emulator does not imitate what the header {name} asks for.", 501)
    unknown = sorted(name for name in query if name not in PARAMETERS.get(found, frozenset()) and not _signs(name))
    if not found or unknown:
        what = f"{'?' if unknown else ''}{'&'.join(unknown)}"
        raise ServiceError("NotImplemented", f"The emulator does not imitate {method} of {_thing(bucket, key)} {what}".rstrip() + ".", 501)
    return found


def _signs(name: str) -> bool:
    return name in _ANYWHERE or name.lower().startswith("x-amz-") or name.startswith("response-")


def _thing(bucket: str, key: str) -> str:
    return "an object" if key else "a bucket" if bucket else "all buckets"
