"""A fake `mount-s3`: no Mountpoint and no mount, but the same arguments, words and end; objects are copied into the folder beforehand.

It says nothing of Mountpoint's speed, nor of what a real mount can go wrong with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# It is started for each channel that is opened, so it takes of botocore only what signs a request: a client would take most of its time.
_PROGRAM = """#!{python}
import argparse, json, os, shutil, signal, sys
from pathlib import Path
from urllib.parse import quote, urlencode
from urllib.request import urlopen
from xml.etree import ElementTree
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

parser = argparse.ArgumentParser()
parser.add_argument("bucket")
parser.add_argument("folder")
for name in ("--prefix", "--endpoint-url", "--region", "--cache"):
    parser.add_argument(name, default="")
for name in ("--read-only", "--foreground", "--force-path-style"):
    parser.add_argument(name, action="store_true")
given = parser.parse_args()
Path({record!r}).write_text(json.dumps(sys.argv[1:]))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
signer = S3SigV4QueryAuth(
    Credentials(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]), "s3", os.environ["AWS_REGION"]
)

def get(key, **words):
    address = given.endpoint_url + "/" + given.bucket + quote("/" + key if key else "") + ("?" + urlencode(words) if words else "")
    request = AWSRequest("GET", address)
    signer.add_auth(request)
    return urlopen(request.url)

try:
    found, more = [], dict()
    while more is not None:
        page = ElementTree.parse(get("", **{{"list-type": "2", "prefix": given.prefix, **more}})).getroot()
        space = page.tag.partition("}}")[0] + "}}"
        found += [one.findtext(space + "Key") for one in page.iter(space + "Contents")]
        token = page.findtext(space + "NextContinuationToken")
        more = {{"continuation-token": token}} if token else None
except Exception as error:
    sys.exit(f"Error: Failed to create S3 client: {{error}}")
for key in found:
    path = Path(given.folder) / key.removeprefix(given.prefix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(get(key).read())
print(f"{{given.bucket}} is mounted at {{given.folder}}", flush=True)
try:
    signal.pause()
finally:
    for path in Path(given.folder).iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
"""


def fake_mount(folder: Path) -> dict[str, str]:
    """Put the fake into a folder, and return a PATH on which it comes first; what it was given stands in `mount.json` there."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "mount-s3"
    program.write_text(_PROGRAM.format(python=sys.executable, record=str(folder / "mount.json")))
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
